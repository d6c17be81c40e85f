// A person's connection as a player, and everything it has received: matches, invitations, receipts.
//
// It belongs to the tab and not to a view, so a person who looks at another view stays connected.
// The tab remembers that it plays, and reconnects after a reload, whatever view is loaded first.

import { get, path, session, sessions } from "../lib/api.js";
import { OwnMatches } from "../lib/matches.js";
import { Receipt } from "../lib/receipt.js";
import { sentence } from "../lib/show.js";
import { Wire } from "../lib/wire.js";
import { counted } from "../lib/words.js";
import { showBar } from "./bar.js";
import { signal } from "./signals.js";

/** @typedef {import("../lib/matches.js").Seat} Seat */
/** @typedef {import("../lib/types.js").Session} Session */
/** @typedef {(text: string, kind?: "good" | "bad") => void} Say */

/** The account that this tab plays for, in the storage of the tab. */
const TAB = "agon.playing";
/** The account that has an unfinished game, in the storage of the browser. */
const UNFINISHED = "agon.unfinished";

/** @type {PlaySession | null} */
let current = null;

/**
 * The connection of this tab; opens it if the user is logged in and there is none.
 * @param {{ say: Say }} app
 * @returns {PlaySession | null}
 */
export function connect({ say }) {
  const now = session();
  if (!now) return null;
  if (current?.who.token !== now.token) {
    current?.close();
    current = new PlaySession(now, say);
  }
  return current;
}

/**
 * Connects after the page was loaded: a tab that played goes on, and a new tab continues a game
 * unless the person plays it elsewhere.
 * @param {{ say: Say }} app
 */
export async function resume(app) {
  const account = session()?.account;
  if (sessionStorage.getItem(TAB) === account) return void connect(app);
  if (localStorage.getItem(UNFINISHED) !== account) return;
  const lobby = await get("/api/v1/lobby").catch(() => null);
  const elsewhere = (/** @type {{ player: string }} */ { player }) => player === account;
  if (lobby && !lobby.players.some(elsewhere) && !current) connect(app);
}

sessions.addEventListener("session", () => {
  const now = session();
  if (!current || now?.token === current.who.token) return;
  const { say } = current;
  current.close();
  current = null;
  // A guest who claims the account goes on playing with a new token.
  if (now) connect({ say });
});

/**
 * The action of an operator, by the notification of the server.
 * @type {Record<string, string>}
 */
const RULED = {
  paused: "paused",
  resumed: "resumed",
  "tournament-awarded": "ended",
  "result-overridden": "set the result of a match of",
  "replay-ordered": "ordered a match to be played again in",
  "ruling-undone": "undid a ruling in",
  "game-void": "voided a game of",
  "game-counts-again": "let a voided game count again in",
  withdrawn: "removed you from",
  entered: "entered you into",
};

/** @param {string} about @param {any} data */
function ruled(about, { tournament, by, why }) {
  const did = RULED[about] ?? "made a ruling in";
  return `${by} ${did} ${tournament}. Reason: ${sentence(why)}`;
}

/**
 * Dispatches `change` after every message, and `began`, `asked`, `late` and `over` with their match.
 */
export class PlaySession extends EventTarget {
  /** @param {Session} who @param {Say} say */
  constructor(who, say) {
    super();
    this.who = who;
    this.say = say;
    this.own = new OwnMatches(who.account);
    /** @type {"connecting" | "here" | "away" | "ended"} */
    this.state = "connecting";
    /** Why the connection ended. */
    this.why = "";
    /** @type {Map<string, any>} */
    this.invitations = new Map();
    /**
     * The receipts by tournament, and the result of their comparison with the logs.
     * @type {Map<string, { receipt: Receipt, words: string, bad: boolean }>}
     */
    this.receipts = new Map();
    /** When the person answered last. */
    this.answeredAt = 0;
    this.hideBar = showBar(this);
    this.open();
  }

  /** Opens the connection, also after another window took over. */
  open() {
    this.wire?.end("");
    sessionStorage.setItem(TAB, this.who.account);
    this.wire = new Wire(this.who.token, {
      message: (message) => this.take(message),
      state: (state, why) => {
        if (state === "away" && this.state === "here")
          for (const { receipt } of this.receipts.values()) receipt.note({ type: "lost" });
        [this.state, this.why] = [state, why];
        // After every login the server reports the pauses that still last.
        if (state === "here") this.own.paused.clear();
        if (state === "ended") sessionStorage.removeItem(TAB);
        if (why === "taken-over")
          for (const { receipt } of this.receipts.values()) receipt.note({ type: "taken-over" });
        this.changed();
      },
    });
  }

  close() {
    this.wire?.end("");
    sessionStorage.removeItem(TAB);
    localStorage.removeItem(UNFINISHED);
    this.hideBar();
    signal(null);
  }

  changed() {
    signal(this);
    if (this.state === "here") this.remember();
    this.dispatchEvent(new Event("change"));
  }

  /** Remembers whether there is an unfinished game, for a tab that is opened later. */
  remember() {
    const unfinished = [...this.own.matches.values()].some((seat) => !seat.over && !seat.end);
    if (unfinished) localStorage.setItem(UNFINISHED, this.who.account);
    else localStorage.removeItem(UNFINISHED);
  }

  /** True if this tab may answer. */
  get active() {
    return this.state !== "ended";
  }

  /** The matches that wait for an answer of the person. A paused match waits for its operator. */
  get turns() {
    const all = this.active ? [...this.own.matches.values()] : [];
    return all.filter((seat) => seat.request && !this.own.pause(seat));
  }

  /** @param {string} type @param {Seat} seat */
  emit(type, seat) {
    this.dispatchEvent(new CustomEvent(type, { detail: seat }));
  }

  /** @param {any} message */
  take(message) {
    if (message.type === "request") this.asked(message);
    else if (message.type === "notice") this.notice(message);
    else if (message.type === "error") this.error(message);
    this.changed();
  }

  /** @param {any} request */
  asked(request) {
    // In a pause the server sends no requests.
    this.own.paused.delete(request.match.tournament);
    const known = this.own.at(request.match.tournament, request.match.id);
    const repeated = known.request?.id === request.id;
    const late = repeated && known.due < Date.now() + 500;
    const began = known.about === null;
    this.emit("asked", this.own.asked(request));
    if (began) this.emit("began", known);
    // The server repeats a request after its deadline, so find out what the delay cost.
    if (late) this.emit("late", known);
  }

  /**
   * Sends the answer to the open request of a match.
   * @param {Seat} seat @param {any} answer
   */
  answer(seat, answer) {
    if (!seat.request || !this.active) return;
    const { id } = seat.request;
    this.answeredAt = Date.now();
    this.own.answered(seat, answer);
    this.receipt(seat.tournament).receipt.note({ type: "answer", id, answer });
    this.wire?.answer(id, answer);
    this.changed();
  }

  /** @param {any} error */
  error(error) {
    const of = error.id?.split(":")[0];
    if (of && this.receipts.has(of))
      this.receipt(of).receipt.note({ type: "refused", id: error.id, code: error.code });
    const late = error.code === "late";
    this.say(late ? "Your answer came too late." : sentence(error.detail), "bad");
    if (late) for (const seat of this.own.matches.values()) this.emit("late", seat);
  }

  /** @param {any} notice */
  notice({ about, tournament, match, data }) {
    if (about === "paused") this.own.paused.set(data.tournament, { by: data.by, why: data.why });
    if (about === "resumed") this.own.paused.delete(data.tournament);
    switch (about) {
      case "tournament":
        this.own.games.set(data.tournament, data.game);
        this.receipt(data.tournament).receipt.note({
          type: "tournament",
          tournament: data.tournament,
          commitment: data.commitment,
          ...(data.resumed ? { resumed: true } : {}),
        });
        this.findMatches(data.tournament);
        return;
      case "tournament-ended":
        this.receipt(data.tournament).receipt.note({ ...data, type: "tournament-ended" });
        this.compare(data.tournament);
        return;
      case "told":
        return this.own.inform(tournament, match, data);
      case "match-over":
        return this.matchOver(data);
      case "tournament-over":
        return this.sayElsewhere(
          data.won
            ? `You won the tournament ${data.tournament}.`
            : `The tournament ${data.tournament} is over. Your rank: ${data.rank}.`,
        );
      case "invitation":
      case "ready-asked":
        return this.invited(about, data);
      case "invitation-over":
      case "called-off":
        this.invitations.delete(data.tournament);
        return this.say(
          `The tournament ${data.tournament} is cancelled: ${sentence(data.reason)}`,
          "bad",
        );
      case "stopping":
        return this.say("The server is stopping. Your games continue when it is back.");
      default:
        // The Play view shows a pause with its reason for as long as it lasts.
        if (data?.why && about === "paused") this.sayElsewhere(ruled(about, data));
        else if (data?.why) this.say(ruled(about, data));
    }
  }

  /** @param {any} data */
  matchOver(data) {
    const over = this.own.at(data.tournament, data.match);
    Object.assign(over, { request: null, over: true, won: Boolean(data.won) });
    this.receipt(data.tournament).receipt.note({ ...data, type: "match-over" });
    this.emit("over", over);
    this.sayElsewhere(data.won ? "You won the match." : "The match is over.");
  }

  /**
   * Tells a person on another view what the Play view shows anyway.
   * @param {string} text
   */
  sayElsewhere(text) {
    if (!/^#\/play\b/.test(location.hash)) this.say(text, "good");
  }

  /** @param {string} about @param {any} data */
  invited(about, data) {
    const { tournament } = data;
    this.invitations.set(tournament, { ...data, about });
    // A user with this page visible is present and has accepted, so confirm for them.
    if (about === "ready-asked" && document.visibilityState === "visible")
      this.reply("ready", tournament);
  }

  /** @param {string} word @param {string} tournament */
  reply(word, tournament) {
    this.wire?.send({ type: word, tournament });
    this.invitations.delete(tournament);
    this.changed();
  }

  /**
   * Finds the person's unfinished matches: the server sends no request while others are to move.
   * @param {string} tournament
   */
  async findMatches(tournament) {
    const found = await get(path`/api/v1/tournaments/${tournament}`).catch(() => null);
    for (const { match, players, over } of found?.pairings ?? [])
      if (!over && players.includes(this.who.account))
        this.own.at(tournament, match).players = players;
    this.changed();
  }

  /**
   * The receipt of a tournament.
   * @param {string} tournament
   */
  receipt(tournament) {
    let kept = this.receipts.get(tournament);
    if (!kept) {
      kept = { receipt: new Receipt(this.who.account, tournament), words: "", bad: false };
      this.receipts.set(tournament, kept);
      const { account } = this.who;
      kept.receipt.note({ type: "hello", player: account, nonce: this.wire?.nonce });
    }
    return kept;
  }

  /**
   * Compares the receipt with the logs, once the tournament is over.
   * @param {string} tournament
   */
  async compare(tournament) {
    const kept = this.receipt(tournament);
    const at = path`/api/v1/tournaments/${tournament}`;
    const text = async (/** @type {string} */ address) => {
      const response = await fetch(address, { cache: "no-store" });
      if (!response.ok)
        throw new Error("the server could not send the log; try again later");
      return response.text();
    };
    try {
      const cup = await text(`${at}/log`);
      const { wrong, answers, elsewhere } = await kept.receipt.compare(cup, (match) =>
        text(`${at}/matches/${encodeURIComponent(match)}/log`),
      );
      kept.bad = wrong !== null;
      kept.words = wrong
        ? `The log of ${tournament} contradicts your receipt: ${wrong}.`
        : `The log of ${tournament} agrees with your receipt: ${counted(answers, "answer")}.`;
      if (elsewhere)
        kept.words += ` ${counted(elsewhere, "more answer")} came from another device of yours.`;
    } catch (problem) {
      kept.words = `The log of ${tournament} could not be compared: ${
        problem instanceof Error ? problem.message : problem
      }`;
    }
    this.changed();
  }
}
