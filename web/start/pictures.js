// Small pictures of the three games, for tiles and rules. They show; they do not react.

import { svg } from "../lib/dom.js";

/** @typedef {[number, number]} Tile row and column */

/** The side of a hexagonal tile, and half its height. */
const SIDE = 20;
const HALF = (SIDE * Math.sqrt(3)) / 2;

/** Where pips are, by what a die shows: places of a grid of three by three. */
const PIPS = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

/** A penguin from the front, 24 units high. */
const BODY =
  "M0-12c4 0 5 3 6 6 3 2 4 7 3 10-1 0-2-2-3-3 0 6-2 10-6 10s-6-4-6-10c-1 1-2 3-3 3-1-3 0-8 3-10" +
  " 1-3 2-6 6-6Z";

/** @param {Tile} tile */
const middle = ([row, column]) => ({
  x: SIDE + SIDE * (3 * column + (row % 2 ? 1.5 : 0)),
  y: HALF + HALF * row,
});

/** @param {number} size */
const corners = (size) =>
  [0, 1, 2, 3, 4, 5]
    .map((corner) => (corner * Math.PI) / 3)
    .map((angle) => `${(Math.cos(angle) * size).toFixed(1)},${(Math.sin(angle) * size).toFixed(1)}`)
    .join(" ");

/**
 * A picture with a description for screen readers.
 * @param {number} width @param {number} height @param {string} words
 * @param {(Node | null)[]} parts
 */
const picture = (width, height, words, parts) =>
  svg(
    "svg",
    { class: "picture", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words },
    parts,
  );

/**
 * Dice in a row. The marked ones are kept.
 * @param {number[]} values @param {boolean[]} [kept]
 */
export function dice(values, kept = []) {
  const one = (/** @type {number} */ value, /** @type {number} */ place) =>
    svg(
      "g",
      { transform: `translate(${4 + 48 * place} 4)`, class: kept[place] ? "die kept" : "die" },
      svg("rect", { width: 40, height: 40, rx: 8, class: "side" }),
      PIPS[value].map((at) =>
        svg("circle", { cx: 9 + 11 * (at % 3), cy: 9 + 11 * Math.floor(at / 3), r: 3.6 }),
      ),
    );
  const words = values
    .map((value, place) => (kept[place] ? `${value} (kept)` : String(value)))
    .join(", ");
  return picture(48 * values.length, 48, `Dice: ${words}`, values.map(one));
}

/**
 * The ice of Fish with its penguins.
 * @param {number[][]} board the fish on each tile; 0 where there is water
 * @param {{ places: Tile[] }[]} players
 * @param {string} words the description
 * @param {{ marked?: Tile[], last?: Tile | null }} [more] tiles to point out
 */
export function ice(board, players, words, more) {
  const marked = more?.marked ?? [];
  const last = more?.last ?? null;
  const columns = Math.max(...board.map((row) => row.length));
  const has = (/** @type {Tile[]} */ tiles, /** @type {Tile} */ [row, column]) =>
    tiles.some((tile) => tile[0] === row && tile[1] === column);
  const tiles = board.flatMap((row, at) =>
    row.map((fish, column) => {
      const here = /** @type {Tile} */ ([at, column]);
      const { x, y } = middle(here);
      const mark = has(marked, here) ? " marked" : "";
      return svg(
        "g",
        { transform: `translate(${x} ${y})`, class: fish ? `ice${mark}` : "water" },
        svg("polygon", { points: corners(SIDE - 1) }),
        fish ? svg("text", { y: 5, "text-anchor": "middle" }, fish) : null,
      );
    }),
  );
  const penguins = players.flatMap(({ places }, seat) =>
    places.map((tile, number) => {
      const { x, y } = middle(tile);
      const now = last && has([last], tile) ? " now" : "";
      return svg(
        "g",
        {
          class: `penguin seat-${seat + 1}${now}`,
          "data-key": `${seat}-${number}`,
          transform: `translate(${x} ${y})`,
        },
        svg("circle", { r: 14 }),
        svg("path", { d: BODY }),
      );
    }),
  );
  const width = SIDE * (3 * columns + 0.5);
  const height = HALF * (board.length + 1);
  return picture(width, height, words, [...tiles, ...penguins]);
}

/** The cities of the small map, and its connections with colour and length. */
const CITIES = /** @type {Record<string, [number, number]>} */ ({
  Boston: [205, 28],
  Chicago: [120, 50],
  Seattle: [22, 22],
  Orlando: [190, 120],
  Dallas: [95, 115],
});
const TRACKS = /** @type {[string, string, string, number][]} */ ([
  ["Seattle", "Chicago", "blue", 4],
  ["Chicago", "Boston", "red", 3],
  ["Chicago", "Dallas", "green", 3],
  ["Dallas", "Orlando", "white", 4],
  ["Boston", "Orlando", "blue", 4],
]);

/**
 * A small map of Trains. The tracks of `owned` belong to the first player.
 * @param {string} words @param {number[]} [owned]
 */
export function railways(words, owned = []) {
  const track = (/** @type {[string, string, string, number]} */ one, /** @type {number} */ at) => {
    const [from, to, color, length] = one;
    const [[x, y], [u, v]] = [CITIES[from], CITIES[to]];
    const whole = Math.hypot(u - x, v - y);
    const rail = (whole - 8 - 3 * (length - 1)) / length;
    return svg("line", {
      x1: x,
      y1: y,
      x2: u,
      y2: v,
      class: `track ${color}${owned.includes(at) ? " owned" : ""}`,
      "stroke-dasharray": `${rail.toFixed(1)} 3`,
      "stroke-dashoffset": -4,
    });
  };
  const city = (/** @type {[string, [number, number]]} */ [name, [x, y]]) =>
    svg(
      "g",
      { class: "city", transform: `translate(${x} ${y})` },
      svg("circle", { r: 5 }),
      svg("text", { y: y > 80 ? 17 : -9, "text-anchor": x < 60 ? "start" : "middle" }, name),
    );
  const cities = Object.entries(CITIES).map(city);
  return picture(240, 142, words, [...TRACKS.map(track), ...cities]);
}
