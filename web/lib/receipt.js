// A person's receipt: what this browser sent and received in a tournament, so that nobody can change
// the log later without notice. docs/protocol/receipt.md defines the format.
//
// All windows of a browser share it. A person who also plays on another device has a receipt there,
// and this one says nothing about the answers that were sent from it.

import { equal } from "./equal.js";
import { linesOf } from "./lines.js";

/** The largest receipt; a person's answers are far fewer. */
const BYTES_MAX = 500_000;

/** @typedef {Record<string, any> & { type: string }} Entry */

export class Receipt {
  /** @param {string} account @param {string} tournament */
  constructor(account, tournament) {
    this.account = account;
    this.tournament = tournament;
    this.key = `agon.receipt.${account}.${tournament}`;
    this.text = stored(this.key);
  }

  /** @param {Entry} entry */
  note(entry) {
    const line = `${JSON.stringify({ ...entry, at: Date.now() })}\n`;
    // Another window may have written meanwhile.
    this.text = stored(this.key) || this.text;
    if (this.text.length + line.length > BYTES_MAX) return;
    this.text += line;
    try {
      localStorage.setItem(this.key, this.text);
    } catch {
      // A browser without storage keeps it until the page is closed.
    }
  }

  /** @returns {Entry[]} */
  entries() {
    return this.text
      .split("\n")
      .filter((line) => line)
      .map((line) => JSON.parse(line));
  }

  /**
   * The first contradiction in the logs, or how many answers agree with them and how many came from
   * another device.
   * @param {string} cup the tournament's log
   * @param {(match: string) => Promise<string>} matchLog
   * @returns {Promise<{ wrong: string | null, answers: number, elsewhere: number, head: string }>}
   */
  async compare(cup, matchLog) {
    // Load these only when needed: playing does not need them.
    const { headsOf } = await import("./chain.js");
    const { commitment, fromHex } = await import("./fair.js");
    const lines = linesOf(cup);
    const head = headsOf(lines).at(-1) ?? "";
    const wrong = (/** @type {string | null} */ wrong, answers = 0, elsewhere = 0) => ({
      wrong,
      answers,
      elsewhere,
      head,
    });
    const entries = this.entries();
    const of = (/** @type {string} */ type) => entries.filter((entry) => entry.type === type);
    const { commitment: promised, plan } = lines[0].data;
    if (of("tournament").some((notice) => notice.commitment !== promised))
      return wrong("the server sent you another commitment");
    for (const notice of of("tournament-ended")) {
      if (notice.head && notice.head !== head) return wrong("the server sent you another head");
      if (commitment(fromHex(notice.secret)) !== promised)
        return wrong("the revealed secret does not match the commitment");
      if (!equal(notice.winners, lines.at(-1)?.data.winners)) return wrong("the server sent you other winners");
    }
    if (!plan.players.includes(this.account)) return wrong("you are not among its players");
    const nonces = of("hello").map((hello) => hello.nonce);
    const matches = lines
      .filter((line) => line.type === "round-paired")
      .flatMap((line) => line.data.matches)
      .filter((one) => one.players.includes(this.account));
    let [answers, elsewhere] = [0, 0];
    for (const { id } of matches) {
      const log = linesOf(await matchLog(id));
      const found = compareMatch(log, headsOf(log), this.account, id, nonces, of);
      if (typeof found === "string") return wrong(`match ${id}: ${found}`);
      answers += found.answers;
      elsewhere += found.elsewhere;
    }
    return wrong(null, answers, elsewhere);
  }
}

/**
 * Tells whether another device of the person may have played: this browser found the tournament running,
 * or another one took over.
 * @param {(type: string) => Entry[]} of
 */
const isPartial = (of) => Boolean(of("tournament")[0]?.resumed) || of("taken-over").length > 0;

/**
 * The first contradiction in one match, or how many answers agree and how many came from
 * another device.
 * @param {import("./verify.js").Line[]} log @param {string[]} heads those of the log
 * @param {string} account @param {string} id @param {string[]} nonces
 * @param {(type: string) => Entry[]} of
 */
function compareMatch(log, heads, account, id, nonces, of) {
  const sent = of("answer");
  /** @type {string[]} */
  let seats = [];
  let elsewhere = 0;
  const partial = isPartial(of);
  const accepted = new Set();
  for (const { type, data } of log) {
    if (type === "game-started") seats = data.seats;
    const arrived = type === "player-arrived" && data.player === account;
    if (arrived && !nonces.includes(data.nonce) && !partial)
      return "you sent another nonce";
    if (type !== "answer-accepted" || seats[data.seat] !== account) continue;
    const own = sent.filter((entry) => entry.id.endsWith(`:${data.request}`));
    // The server itself confirms questions without a choice.
    if (!own.length && data.answer === "ok") continue;
    if (!own.length && !partial) return `you never answered request ${data.request}`;
    if (!own.length) {
      elsewhere += 1;
      continue;
    }
    if (!own.some((entry) => equal(sorted(entry.answer), sorted(data.answer))))
      return `you sent another answer to request ${data.request}`;
    accepted.add(data.request);
  }
  const lost = of("lost").length > 0 || nonces.length > 1 || partial;
  for (const { data } of log.filter((line) => line.data.faulted?.player === account)) {
    const { request, fault } = data.faulted;
    const answered = sent.some((entry) => entry.id.endsWith(`:${request}`));
    const refused = of("refused").some((entry) => entry.id.endsWith(`:${request}`));
    if (fault.kind === "timeout" && answered && !accepted.has(request) && !refused && !lost)
      return `you answered request ${request}, but the log charges you with a timeout`;
  }
  for (const notice of of("match-over").filter((entry) => entry.match === id)) {
    const ends = log.flatMap(({ type }, at) => (type === "match-ended" ? [heads[at + 1]] : []));
    if (notice.head && !ends.includes(notice.head)) return "the server sent you another head";
  }
  return { answers: accepted.size, elsewhere };
}

/**
 * An answer with its plain lists sorted, because games may write them in another order.
 * @param {any} answer @returns {any}
 */
function sorted(answer) {
  if (Array.isArray(answer))
    return answer.every((one) => typeof one !== "object") ? [...answer].sort() : answer.map(sorted);
  if (!answer || typeof answer !== "object") return answer;
  return Object.fromEntries(Object.entries(answer).map(([name, one]) => [name, sorted(one)]));
}

/** @param {string} key */
function stored(key) {
  try {
    return localStorage.getItem(key) ?? "";
  } catch {
    return "";
  }
}
