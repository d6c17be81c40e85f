// Verifies a finished match in the browser: the secret matches its commitment, dice, cards and
// boards follow from it, every answer was legal and in time, points, ranks and winners follow, and
// every line belongs to the hash chain.
//
// It uses the lines of the log and trusts nothing else. `LEFT_OUT` says what only `agon verify`
// checks; the chain covers those events too, but their meaning is accepted as it is.

import * as fish from "../referees/fish.js";
import * as trains from "../referees/trains.js";
import * as yahtzee from "../referees/yahtzee.js";
import { broken, headsOf, predatesChain } from "./chain.js";
import { equal } from "./equal.js";
import { commitment, fromHex, gameSecret, gameSeed, matchSecret, toHex } from "./fair.js";
import { wrongGame, wrongMatch, wrongTournament } from "./outcome.js";

/** A sentence about the limits of this page's check. */
export const LEFT_OUT =
  "The page does not check what a fault costs, forfeits, pairings within a round, sequential " +
  "tests, or rulings of operators; `agon verify` checks these too.";

/**
 * @typedef {{ v: number, stream: string, seq: number, at: number, more: number, type: string,
 *   data: any, text: string }} Line with its text, exactly as it is in the log
 * @typedef {{ seq: number, type: string, what: string }} Note
 * @typedef {{ event: string, seat?: number, answer?: any, drawn?: any, view: any }} Step
 * @typedef {{ checked: Note[], read: Note[], failed: Note | null, revealed: boolean,
 *   chained: boolean, head: string, whole: string }} Findings
 *   `revealed` is whether the tournament's own secret was there to be checked as well, `chained`
 *   whether the log has a hash chain; `head` is that of the match, `whole` that of the tournament
 * @typedef {yahtzee.Referee | fish.Referee | trains.Referee} Referee
 * @typedef {{ referee: Referee, number: number, luck: number, answers: number[], at: number, seats: string[],
 *   removed: Set<number>, bank: number[] }} Running
 */

const GAMES =
  /** @type {Record<string, new (config: any, seats: number, seed: Uint8Array) => Referee>} */ ({
    yahtzee: yahtzee.Referee,
    fish: fish.Referee,
    trains: trains.Referee,
  });

/** An event that does not follow. */
class Forged extends Error {}

/** @param {boolean} good @param {string} what */
function must(good, what) {
  if (!good) throw new Forged(what);
}

/** @param {unknown} value */
const text = (value) => (value === null || value === undefined ? "nothing" : JSON.stringify(value));

/**
 * The secrets that a match's log reveals, by the number of the game that has the luck of each. A
 * group of duplicate games has one secret, that of its first game.
 * @param {Line[]} lines @returns {Map<number, string>}
 */
function revealedSecrets(lines) {
  const secrets = /** @type {Map<number, string>} */ (new Map());
  let luck = 0;
  for (const { type, data } of lines) {
    if (type === "game-started") luck = data.duplicate_of ?? data.game;
    const reveals = ["game-ended", "match-restarted", "match-ended"].includes(type);
    if (reveals && typeof data.secret === "string") secrets.set(luck, data.secret);
  }
  return secrets;
}

/** One check of one match. */
class Check {
  /**
   * @param {Line[]} lines
   * @param {Line[]} tournament
   * @param {{ number: number, steps: Step[] } | null} shown
   */
  constructor(lines, tournament, shown) {
    this.lines = lines;
    this.tournament = tournament;
    this.shown = shown;
    this.heads = headsOf(lines);
    this.faults = /** @type {any[]} */ ([]);
    /** Every result of the match, and the heads after them. */
    this.ends = /** @type {any[]} */ ([]);
    this.endHeads = /** @type {string[]} */ ([]);
    this.plan = lines[0]?.data?.plan ?? {};
    this.config = this.plan.config;
    this.results = /** @type {any[]} */ ([]);
    this.running = /** @type {Running | null} */ (null);
    /** The game whose luck the latest game has: its own number, or the first of its group. */
    this.latestLuck = 0;
    this.chained = false;
    this.secret = /** @type {Uint8Array | null} */ (null);
    this.revealed = revealedSecrets(lines);
    const end = tournament.find((line) => line.data?.secret);
    if (end) {
      const secret = fromHex(end.data.secret);
      const promised = tournament[0]?.data?.commitment;
      must(
        commitment(secret) === promised,
        "the tournament's secret does not match its commitment",
      );
      this.secret = matchSecret(secret, this.plan.id);
    }
  }

  /**
   * Says what was checked of a line; `null` if it was only read.
   * @param {Line} line @param {number} at @returns {string | null}
   */
  line(line, at) {
    must(line.seq === at + 1, `its number is ${line.seq} and should be ${at + 1}`);
    if (line.data?.faulted) this.faults.push(line.data.faulted);
    if (at === 0) must(line.type === "match-created", "a match must begin with match-created");
    switch (line.type) {
      case "game-started":
        return this.start(line.data);
      case "answer-accepted":
        return this.answer(line.data);
      case "seat-removed":
        return this.remove(line.data);
      case "game-ended":
        return this.end(line.data);
      case "match-restarted":
        this.config = line.data.config ?? this.config;
        this.checkSecret(line.data.secret);
        return null;
      case "match-reopened":
        this.faults = [];
        return null;
      case "match-ended":
        this.checkSecret(line.data.secret);
        this.ends.push(line.data.result);
        this.endHeads.push(this.heads[at + 1]);
        return this.over(line.data.result);
      default:
        return null;
    }
  }

  /** @param {any} started */
  start(started) {
    const luck = started.duplicate_of ?? started.game;
    this.latestLuck = luck;
    must(this.revealed.has(luck), "the secret was never revealed");
    const secret = fromHex(this.revealed.get(luck));
    if (this.secret) {
      const due = commitment(gameSecret(this.secret, luck));
      must(
        started.commitment === due,
        "the commitment does not follow from the tournament's secret",
      );
    } else {
      must(
        started.commitment === commitment(secret),
        "the commitment does not match the revealed secret",
      );
    }
    const due = this.secret ? gameSecret(this.secret, luck) : secret;
    const seed = gameSeed(due, this.plan.tournament, this.plan.id, luck, started.nonces);
    this.config = started.config ?? this.config;
    const Game = GAMES[this.plan.game];
    must(Game !== undefined, `this page does not know the game ${this.plan.game}`);
    const referee = new Game(this.config, started.seats.length, seed);
    const { seats } = started;
    const strangers = seats.filter(
      (/** @type {string} */ name) => !this.plan.players.includes(name),
    );
    must(!strangers.length, `${strangers[0]} is not in this match`);
    this.running = {
      referee,
      number: started.game,
      luck,
      answers: seats.map(() => 0),
      at: -1,
      seats,
      removed: new Set(),
      bank: seats.map(() => this.plan.rules.time.bank_ms ?? 0),
    };
    return this.luck(
      started.drawn,
      { event: "game-started", drawn: started.drawn },
      "commitment and luck",
    );
  }

  /** @param {any} accepted */
  answer({ request, seat, answer, drawn, took_ms }) {
    const running = this.game();
    const { answer_ms } = this.plan.rules.time;
    const limit = answer_ms + running.bank[seat];
    if (this.chained) must(took_ms <= limit, `the answer took ${took_ms} ms, but the limit was ${limit} ms`);
    running.bank[seat] -= Math.min(running.bank[seat], Math.max(0, took_ms - answer_ms));
    const due = `${this.plan.id}.${running.number}.${seat}.${running.answers[seat]}`;
    must(request === due, `it answers request ${request}, but request ${due} was open`);
    running.answers[seat] += 1;
    running.referee.take(seat, answer);
    const what = running.referee.drawn ? "allowed, and luck" : "allowed";
    return this.luck(drawn, { event: "answer-accepted", seat, answer, drawn }, what);
  }

  /** @param {any} removed */
  remove({ seat, drawn }) {
    this.game().removed.add(seat);
    this.game().referee.remove(seat);
    return this.luck(drawn, { event: "seat-removed", seat, drawn }, "removed");
  }

  game() {
    must(this.running !== null, "no game was running");
    return /** @type {Running} */ (this.running);
  }

  /**
   * Compares the random draws with the log and with the display.
   * @param {any} drawn @param {Omit<Step, "view">} due @param {string} what
   */
  luck(drawn, due, what) {
    const running = this.game();
    const { referee } = running;
    must(equal(drawn, referee.drawn), `luck gives ${text(referee.drawn)}, but the log says ${text(drawn)}`);
    running.at += 1;
    if (this.shown?.number === running.number) {
      const { view, ...step } = this.shown.steps[running.at] ?? { view: null };
      const same = ["event", "seat", "answer", "drawn"].every((name) =>
        equal(/** @type {any} */ (step)[name], /** @type {any} */ (due)[name]),
      );
      must(same && view !== null, "the replay shows something else at this step");
      const { view: seen, here } = referee.shown(view);
      if (!referee.over()) must(equal(seen, here), "the position on this page does not follow from the log");
    }
    return referee.drawn ? `${what}: ${text(referee.drawn)}` : what;
  }

  /** @param {any} ended */
  end({ result, secret }) {
    const { referee, number, luck, seats, removed } = this.game();
    must(result.game === number, `game ${number} was running`);
    // The secret of a group of duplicate games is due after the group's last game.
    const isLast = !this.plan.rules.duplicate || number + 1 === luck + seats.length;
    must(isLast === (secret !== undefined), "the secret is revealed at the wrong time");
    this.checkSecret(secret);
    if (result.end === "played") {
      must(referee.over(), "the game was not over");
      must(
        equal(result.scores, referee.scores()),
        `the points are ${text(referee.scores())}, but the log says ${text(result.scores)}`,
      );
    }
    const wrong = wrongGame(result, seats, removed);
    must(wrong === null, wrong ?? "");
    this.results.push(result);
    this.running = null;
    return result.end === "played"
      ? `secret, ranks, winners, and points: ${result.scores.join(" : ")}`
      : "secret, ranks and winners";
  }

  /**
   * Compares a revealed secret with the tournament's secret.
   * @param {string | undefined} secret
   */
  checkSecret(secret) {
    if (this.secret && secret !== undefined)
      must(
        secret === toHex(gameSecret(this.secret, this.latestLuck)),
        "its secret does not follow from the tournament's secret",
      );
  }

  /** @param {any} result */
  over(result) {
    // A game that an operator voided keeps its points, but does not count.
    const summary = (/** @type {any} */ game) =>
      game.voided ? { game: game.game, scores: game.scores } : game;
    const voided = result.games.map((/** @type {any} */ game) => Boolean(game.voided));
    const due = this.results.map((game, at) => summary(voided[at] ? { ...game, voided: true } : game));
    must(equal(result.games.map(summary), due), "its list of games differs from the games in this log");
    must(equal(result.faults, this.faults), "its list of faults differs from the faults in this log");
    const wrong = result.how === "overridden" ? null : wrongMatch(result, this.plan);
    must(wrong === null, wrong ?? "");
    return "games, faults and winners";
  }

  /** Compares the match with its tournament's log; returns the tournament's head, if it is over. */
  compare() {
    if (!this.tournament.length) return "";
    const heads = headsOf(this.tournament);
    const wrong = broken(this.tournament, heads);
    must(wrong === null, `in the tournament's log, event ${wrong?.line.seq}: ${wrong?.what}`);
    const last = this.tournament[this.tournament.length - 1].type;
    must(
      ["tournament-ended", "tournament-aborted"].includes(last),
      "the end of the tournament's log is missing",
    );
    const differs = wrongTournament(this.tournament, this.plan, this.ends, this.endHeads);
    must(differs === null, differs ?? "");
    return heads[heads.length - 1];
  }
}

/**
 * Checks a match.
 * @param {Line[]} lines the match's log
 * @param {Line[]} tournament the tournament's, or nothing if it is not over
 * @param {{ number: number, steps: Step[] } | null} shown the game that is shown, step by step
 * @returns {Findings}
 */
export function verify(lines, tournament = [], shown = null) {
  const findings = /** @type {Findings} */ ({
    checked: [],
    read: [],
    failed: null,
    revealed: false,
    chained: false,
    head: "",
    whole: "",
  });
  let line = lines[0] ?? { seq: 1, type: "match-created" };
  try {
    const check = new Check(lines, tournament, shown);
    findings.revealed = check.secret !== null;
    check.chained = findings.chained = !predatesChain(lines);
    lines.forEach((next, at) => {
      line = next;
      const what = check.line(line, at);
      const { seq, type } = line;
      if (what) findings.checked.push({ seq, type, what });
      else findings.read.push({ seq, type, what: "read" });
    });
    must(lines.at(-1)?.type === "match-ended", "the end is missing");
    const wrong = broken(lines, check.heads);
    line = wrong?.line ?? line;
    must(wrong === null, wrong?.what ?? "");
    findings.head = check.heads[check.heads.length - 1];
    findings.whole = check.compare();
  } catch (error) {
    const { seq, type } = line;
    const what = error instanceof Error ? error.message : String(error);
    findings.failed = { seq, type, what };
  }
  return findings;
}
