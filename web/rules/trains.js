// The rules of Trains, as far as a page needs them: connections of the map, what a hand pays for,
// and points.

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

/**
 * In the order of code points, as names are sorted.
 * @param {string} a @param {string} b
 */
export const order = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

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
 * The connections that a player with a visible hand may acquire.
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
 * The cities and their connections.
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
 * Tells whether connections join two cities.
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
 * Points of all players; removed players have none.
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
