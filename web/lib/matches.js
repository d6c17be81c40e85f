// The state of a person's matches: the open request of each, and what to show while there is none.

import { movesIn, progress, slid } from "./moves.js";
import { worth } from "../rules/yahtzee.js";

/**
 * @typedef {object} Seat one match that is played
 * @property {string} tournament
 * @property {string} match
 * @property {string} game
 * @property {number} seat
 * @property {any} about what the requests say of the match
 * @property {any} request the one that is open, or null
 * @property {number} due when its time is over, by this machine's clock
 * @property {any} view what was seen last with one's own eyes
 * @property {any} open what everybody sees
 * @property {string[]} seats names by seat, as far as they are known
 * @property {import("./moves.js").Move[]} moves
 * @property {any} end what is shown when it is over, or null
 * @property {string[]} players all players, as far as they are known
 * @property {boolean} over whether the server said that the match is over
 * @property {boolean} won whether the person won it
 * @property {boolean} seen whether the person has seen its end
 * @property {boolean} celebrated whether the page has celebrated its end
 */

export class OwnMatches {
  /** @param {string} account */
  constructor(account) {
    this.account = account;
    /** @type {Map<string, Seat>} */
    this.matches = new Map();
    /**
     * The games of tournaments.
     * @type {Map<string, string>}
     */
    this.games = new Map();
    /**
     * The paused tournaments: by whom, and why.
     * @type {Map<string, import("./types.js").Ruling>}
     */
    this.paused = new Map();
  }

  /**
   * The pause of a match; absent while it runs and after its end.
   * @param {Seat} here
   */
  pause(here) {
    return here.over || here.end ? undefined : this.paused.get(here.tournament);
  }

  /**
   * The state of a match; creates it if necessary.
   * @param {string} tournament @param {string} match @returns {Seat}
   */
  at(tournament, match) {
    const key = `${tournament}/${match}`;
    const known = this.matches.get(key);
    if (known) return known;
    const game = this.games.get(tournament) ?? "";
    const fresh = {
      tournament,
      match,
      game,
      seat: 0,
      about: null,
      request: null,
      due: 0,
      view: null,
      open: null,
      seats: [],
      moves: [],
      end: null,
      players: [],
      over: false,
      won: false,
      seen: false,
      celebrated: false,
    };
    this.matches.set(key, fresh);
    return fresh;
  }

  /**
   * Handles a request.
   * @param {any} request
   */
  asked(request) {
    const here = this.at(request.match.tournament, request.match.id);
    const { seat, view, match } = request;
    const another = here.about && here.about.game !== match.game;
    if (another) Object.assign(here, { moves: [], open: null, seats: [] });
    Object.assign(here, {
      seat,
      view,
      about: match,
      request,
      due: Date.now() + request.deadline_ms,
    });
    if (!here.game) here.game = this.games.get(here.tournament) ?? gameOf(view);
    return here;
  }

  /**
   * Handles an answer: shows its effect before the server confirms it.
   * @param {Seat} here @param {any} answer
   */
  answered(here, answer) {
    const { question } = here.request;
    here.request = null;
    here.view = structuredClone(here.view);
    const own = here.game === "yahtzee" ? here.view.cards[here.seat] : here.view.players[here.seat];
    if (answer.score) scored(here, own, answer.score, question.dice);
    if (answer.acquire) own.hand[answer.acquire[2]] -= answer.acquire[3];
    if (answer.return) {
      const back = answer.return.map(String);
      own.destinations = question.destinations.filter(
        (/** @type {any} */ pair) => !back.includes(String(pair)),
      );
    }
  }

  /**
   * Handles a notification about drawn cards.
   * @param {string} tournament @param {string} match @param {any} data
   */
  inform(tournament, match, data) {
    const here = this.at(tournament, match);
    const hand = here.view?.players?.[here.seat]?.hand;
    if (data?.ask === "more" && hand) for (const color of data.cards) hand[color] += 1;
  }

  /**
   * Handles the public view of a match.
   * @param {Seat} here @param {any} data
   */
  seen(here, data) {
    const running = data.in_progress;
    here.game = data.game;
    if (data.paused) this.paused.set(here.tournament, data.paused);
    else this.paused.delete(here.tournament);
    if (data.standing === "over") {
      here.end = data;
      here.request = null;
      return;
    }
    if (!running) return;
    const before = here.open;
    here.open = running.view;
    here.seats = running.seats;
    if (data.game !== "fish") here.moves = movesIn(data.game, running.view);
    else if (before) here.moves.push(...slid(before, running.view));
  }

  /**
   * Names by seat.
   * @param {Seat} here @returns {string[]}
   */
  names(here) {
    if (here.seats.length) return here.seats;
    const players = /** @type {string[]} */ (here.about?.players ?? here.players);
    // Until the seats are known: the player's own seat is known, and the others follow in order.
    const others = players.filter((name) => name !== this.account);
    others.splice(here.seat, 0, this.account);
    return others;
  }

  /**
   * The state that a board shows.
   * @param {Seat} here @returns {import("../boards/board.js").Shown | null}
   */
  shown(here) {
    const names = this.names(here);
    if (here.end?.latest) {
      const { view, result } = here.end.latest;
      const played = result.end === "played" ? result : null;
      return { view, names: result.seats, over: true, result: played };
    }
    if (here.request)
      return { view: here.view, names, question: here.request.question, seat: here.seat };
    if (!here.view) return here.open ? { view: here.open, names } : null;
    const newer =
      here.open &&
      (here.game === "yahtzee"
        ? progress(here.game, here.open) > progress(here.game, here.view)
        : progress(here.game, here.open) >= progress(here.game, here.view));
    if (!newer) return { view: here.view, names, seat: here.seat };
    if (here.game !== "trains") return { view: here.open, names, seat: here.seat };
    // The player's own cards stay visible.
    const view = structuredClone(here.open);
    const { hand, destinations } = here.view.players[here.seat];
    Object.assign(view.players[here.seat], { hand, destinations });
    return { view, names, seat: here.seat };
  }
}

/** @param {Seat} here @param {any} card @param {string} box @param {number[]} dice */
function scored(here, card, box, dice) {
  const { points, bonus } = worth(card.boxes, dice, box, here.view.rule);
  card.boxes[box] = points;
  card.total += points + bonus;
  const now = here.view.now[here.seat];
  if (now) now.scored = { box, points, bonus };
}

/**
 * The game a view is of.
 * @param {any} view
 */
const gameOf = (view) => (view.cards ? "yahtzee" : view.map ? "trains" : "fish");
