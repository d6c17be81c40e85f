// Replays a whole game of Trains from its log, to verify it.

import { Luck } from "../lib/fair.js";
import { COLORS, connections, destinations, key, order, scores } from "../rules/trains.js";

/**
 * @typedef {import("../rules/trains.js").Color} Color
 * @typedef {import("../rules/trains.js").Connection} Connection
 * @typedef {import("../rules/trains.js").Hand} Hand
 * @typedef {import("../rules/trains.js").Pair} Pair
 * @typedef {import("../rules/trains.js").View} View
 */

const RAILS = 45;
const RAILS_LAST = 2;
const DECK = 250;
const OFFER = 5;

/** A game that is replayed from its answers. */
export class Referee {
  /** @param {any} config @param {number} seats @param {Uint8Array} seed */
  constructor(config, seats, seed) {
    this.connections = connections(config.map);
    this.pairs = destinations(config.map);
    this.confirm = Boolean(config.confirm);
    const luck = new Luck(seed, "deck");
    const card = (/** @type {number} */ i) =>
      COLORS[Number((luck.word(Math.floor(i / 32)) >> BigInt(2 * (i % 32))) & 3n)];
    this.deck = /** @type {Color[]} */ (
      config.deck ? [...config.deck] : Array.from({ length: DECK }, (_, i) => card(i))
    );
    this.offers = config.deck ? null : new Luck(seed, "dests");
    this.players = Array.from({ length: seats }, () => ({
      out: false,
      rails: 0,
      acquired: /** @type {Connection[]} */ ([]),
      hand: /** @type {Hand} */ ({ blue: 0, green: 0, red: 0, white: 0 }),
      destinations: /** @type {Pair[] | null} */ (null),
    }));
    this.stage = "setup";
    this.turn = 0;
    this.offer = /** @type {Pair[]} */ ([]);
    this.lastTurns = /** @type {number[] | null} */ (null);
    this.idle = 0;
    /**
     * The random draws of the latest step.
     * @type {any}
     */
    this.drawn = null;
    this.setUpFrom(0);
  }

  remaining() {
    return this.players.flatMap((player, seat) => (player.out ? [] : [seat]));
  }

  /** @param {number} first */
  setUpFrom(first) {
    const seat = this.remaining().find((other) => other >= first);
    if (seat === undefined) {
      [this.turn] = this.remaining();
      this.stage = this.remaining().length ? "play" : "over";
      return;
    }
    this.turn = seat;
    this.players[seat].rails = RAILS;
    this.draw(seat, 4);
    if (this.confirm) this.stage = "setup";
    else this.offerDestinations();
  }

  offerDestinations() {
    const gone = new Set(this.players.flatMap((player) => player.destinations ?? []).map(String));
    const pool = this.pairs.filter((pair) => !gone.has(String(pair)));
    this.offer = this.offers === null ? pool.slice(0, OFFER) : [];
    for (let draw = 0; this.offers && draw < OFFER; draw++) {
      const number = this.offers.below(OFFER * this.turn + draw, BigInt(pool.length));
      this.offer.push(...pool.splice(Number(number), 1));
    }
    this.offer.sort((x, y) => order(x[0], y[0]) || order(x[1], y[1]));
    this.stage = "pick";
    this.drawn = { ...this.drawn, seat: this.turn, offered: this.offer };
  }

  /** @param {number} seat @param {number} count */
  draw(seat, count) {
    const cards = this.deck.splice(0, count);
    cards.forEach((color) => (this.players[seat].hand[color] += 1));
    this.drawn = { seat, cards };
  }

  /**
   * Applies an answer, or throws what is wrong with it.
   * @param {number} seat @param {any} answer
   */
  take(seat, answer) {
    this.drawn = null;
    if (this.over() || seat !== this.turn) throw new Error("it was not this seat's turn");
    if (answer === "ok" && this.stage === "setup") return this.offerDestinations();
    if (answer === "ok" && this.stage === "more") {
      this.stage = "play";
      return this.endTurn();
    }
    if (this.stage === "pick" && answer.return) return this.pick(seat, answer.return);
    if (this.stage === "play" && answer === "more-cards") return this.more(seat);
    if (this.stage !== "play" || !answer.acquire) {
      throw new Error("the question asked for another kind of answer");
    }
    this.acquire(seat, answer.acquire);
  }

  /** @param {number} seat @param {Pair[]} returned */
  pick(seat, returned) {
    const back = new Set(returned.map(String));
    const kept = this.offer.filter((pair) => !back.has(String(pair)));
    if (returned.length !== 3 || kept.length !== 2) throw new Error("three of the offered were due");
    this.players[seat].destinations = kept;
    this.setUpFrom(seat + 1);
  }

  /** @param {number} seat */
  more(seat) {
    if (this.deck.length < 2) {
      this.idle += 1;
      return this.endTurn();
    }
    this.draw(seat, 2);
    this.idle = 0;
    if (this.confirm) this.stage = "more";
    else this.endTurn();
  }

  /** @param {number} seat @param {Connection} wanted */
  acquire(seat, wanted) {
    const [, , color, length] = wanted;
    const player = this.players[seat];
    const known = this.connections.some((connection) => key(connection) === key(wanted));
    const held = this.players.some((other) => other.acquired.some((c) => key(c) === key(wanted)));
    if (!known) throw new Error(`the map has no connection ${wanted}`);
    if (held) throw new Error(`a player already holds ${wanted}`);
    if (player.hand[color] < length || player.rails < length) {
      throw new Error(`the player has too few cards or rails for ${wanted}`);
    }
    player.hand[color] -= length;
    player.rails -= length;
    player.acquired.push(wanted);
    this.idle = 0;
    this.endTurn();
  }

  endTurn() {
    if (this.lastTurns) this.lastTurns = this.lastTurns.filter((seat) => seat !== this.turn);
    else if (this.players[this.turn].rails <= RAILS_LAST) {
      this.lastTurns = this.remaining().filter((seat) => seat !== this.turn);
    }
    this.nextTurn();
  }

  nextTurn() {
    const staying = this.remaining();
    if (this.idle >= staying.length || this.lastTurns?.length === 0) this.stage = "over";
    else this.turn = staying.find((seat) => seat > this.turn) ?? staying[0];
  }

  /** @param {number} seat */
  remove(seat) {
    this.drawn = null;
    const player = this.players[seat];
    if (this.over() || player.out) return;
    Object.assign(player, {
      out: true,
      rails: 0,
      acquired: [],
      hand: { blue: 0, green: 0, red: 0, white: 0 },
    });
    this.idle = 0;
    if (this.lastTurns) this.lastTurns = this.lastTurns.filter((other) => other !== seat);
    if (!this.remaining().length) this.stage = "over";
    else if (seat === this.turn && (this.stage === "setup" || this.stage === "pick")) {
      this.setUpFrom(seat + 1);
    } else if (seat === this.turn) {
      this.stage = "play";
      this.nextTurn();
    }
  }

  over() {
    return this.stage === "over";
  }

  scores() {
    return scores(this.players);
  }

  /**
   * Gives the part of this state that a full view shows, for a comparison.
   * @param {View} view
   */
  shown(view) {
    const player = (/** @type {any} */ { rails, acquired, hand }) => ({ rails, acquired, hand });
    return {
      view: { players: view.players.map(player), turn: view.turn ?? null, deck: view.deck },
      here: {
        players: this.players.map(player),
        turn: this.over() ? null : this.turn,
        deck: this.deck.length,
      },
    };
  }
}
