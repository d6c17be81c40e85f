// @ts-check
/**
 * The rules of Trains, as far as a page needs them: what the map offers and a hand pays for,
 * points, and a whole game folded from its log, to check it.
 */

import { Luck } from "../lib/fair.js";

/**
 * @typedef {'blue' | 'green' | 'red' | 'white'} Color
 * @typedef {[string, string, Color, number]} Connection cities in order, colour, segments
 * @typedef {[string, string]} Pair
 * @typedef {{width: number, height: number, cities: [string, [number, number]][],
 *   connections: Record<string, Record<string, Record<string, number>>>}} Map
 * @typedef {Record<Color, number>} Hand
 * @typedef {{out?: boolean, rails: number, cards: number, acquired: Connection[], hand?: Hand,
 *   destinations?: Pair[]}} Player
 * @typedef {{map: Map, you?: number, players: Player[], turn?: number, last_turns?: number[],
 *   deck: number, history: {seat: number, did: any}[]}} View
 */

export const COLORS = /** @type {Color[]} */ (["blue", "green", "red", "white"]);
const RAILS = 45;
const RAILS_LAST = 2;
const DECK = 250;
const OFFER = 5;

/**
 * In the order of code points, as names are sorted.
 * @param {string} a @param {string} b
 */
const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/**
 * A connection as text, to compare.
 * @param {Connection} connection
 */
export const key = (connection) => connection.join("|");

/**
 * Every connection of a map, by cities, then length, then colour.
 * @param {Map} map
 */
export function connections(map) {
  const all = /** @type {Connection[]} */ ([]);
  for (const [from, targets] of Object.entries(map.connections)) {
    for (const [to, colors] of Object.entries(targets)) {
      const [a, b] = [from, to].sort(order);
      for (const [color, length] of Object.entries(colors)) {
        all.push([a, b, /** @type {Color} */ (color), length]);
      }
    }
  }
  return all.sort(
    (x, y) => order(x[0], y[0]) || order(x[1], y[1]) || x[3] - y[3] || order(x[2], y[2]),
  );
}

/**
 * What a player with open cards may acquire.
 * @param {View} view @param {number} seat
 */
export function acquirable(view, seat) {
  const { hand, rails } = view.players[seat];
  if (!hand) return [];
  const held = new Set(view.players.flatMap((player) => player.acquired.map(key)));
  return connections(view.map).filter(
    (connection) =>
      !held.has(key(connection)) && hand[connection[2]] >= connection[3] && rails >= connection[3],
  );
}

/**
 * Cities and how they are joined.
 * @param {Connection[]} own
 */
function network(own) {
  const next = /** @type {globalThis.Map<string, globalThis.Map<string, number>>} */ (
    new globalThis.Map()
  );
  const join = (/** @type {string} */ a, /** @type {string} */ b, /** @type {number} */ length) => {
    const around = next.get(a) ?? new globalThis.Map();
    around.set(b, Math.max(length, around.get(b) ?? 0));
    next.set(a, around);
  };
  for (const [a, b, , length] of own) {
    join(a, b, length);
    join(b, a, length);
  }
  return next;
}

/**
 * The cities that can be reached from one.
 * @param {Connection[]} own @param {string} from
 */
function reached(own, from) {
  const [net, seen, todo] = [network(own), new Set([from]), [from]];
  for (let city = todo.pop(); city !== undefined; city = todo.pop()) {
    for (const other of net.get(city)?.keys() ?? []) {
      if (!seen.has(other)) {
        seen.add(other);
        todo.push(other);
      }
    }
  }
  return seen;
}

/**
 * Whether connections join two cities.
 * @param {Connection[]} own @param {Pair} pair
 */
export const joins = (own, [from, to]) => reached(own, from).has(to);

/**
 * The segments of the longest simple path.
 * @param {Connection[]} own
 */
export function longest(own) {
  const net = network(own);
  const from = (/** @type {string} */ city, /** @type {Set<string>} */ seen) => {
    let most = 0;
    for (const [other, length] of net.get(city) ?? []) {
      if (seen.has(other)) continue;
      seen.add(other);
      most = Math.max(most, length + from(other, seen));
      seen.delete(other);
    }
    return most;
  };
  return Math.max(0, ...Array.from(net.keys(), (city) => from(city, new Set([city]))));
}

/**
 * Points of all players; who was removed has none.
 * @param {{out?: boolean, acquired: Connection[], destinations?: Pair[] | null}[]} players
 */
export function scores(players) {
  const paths = players.map((player) => (player.out ? 0 : longest(player.acquired)));
  const most = Math.max(...paths);
  return players.map((player, seat) => {
    if (player.out) return 0;
    const segments = player.acquired.reduce((sum, connection) => sum + connection[3], 0);
    const pairs = player.destinations ?? [];
    const joined = pairs.map((pair) => (joins(player.acquired, pair) ? 10 : -10));
    const bonus = most > 0 && paths[seat] === most ? 20 : 0;
    return segments + joined.reduce((sum, points) => sum + points, 0) + bonus;
  });
}

/**
 * Every pair of cities that some path joins, in order.
 * @param {Map} map
 */
export function destinations(map) {
  const all = connections(map);
  const cities = map.cities.map(([name]) => name).sort(order);
  return cities.flatMap((first, at) => {
    const near = reached(all, first);
    return cities
      .slice(at + 1)
      .filter((second) => near.has(second))
      .map((second) => /** @type {Pair} */ ([first, second]));
  });
}

/** A game that is played again from its answers. */
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
     * What luck gave in the latest step.
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
   * Takes an answer, or throws what is wrong with it.
   * @param {number} seat @param {any} answer
   */
  take(seat, answer) {
    this.drawn = null;
    if (this.over() || seat !== this.turn) throw new Error("nothing was asked of this seat");
    if (answer === "ok" && this.stage === "setup") return this.offerDestinations();
    if (answer === "ok" && this.stage === "more") {
      this.stage = "play";
      return this.endTurn();
    }
    if (this.stage === "pick" && answer.return) return this.pick(seat, answer.return);
    if (this.stage === "play" && answer === "more-cards") return this.more(seat);
    if (this.stage !== "play" || !answer.acquire) {
      throw new Error("another kind of answer was asked for");
    }
    this.acquire(seat, answer.acquire);
  }

  /** @param {number} seat @param {Pair[]} returned */
  pick(seat, returned) {
    const back = new Set(returned.map(String));
    const kept = this.offer.filter((pair) => !back.has(String(pair)));
    if (returned.length !== 3 || kept.length !== 2) throw new Error("not three that were offered");
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
    if (!known) throw new Error(`the map has no ${wanted}`);
    if (held) throw new Error(`somebody holds ${wanted}`);
    if (player.hand[color] < length || player.rails < length) {
      throw new Error(`too few cards or rails for ${wanted}`);
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
   * What a full view shows of this, for a comparison.
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
