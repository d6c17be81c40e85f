// A match of many games: the win rate with its 95 % interval, the histogram of the differences, and
// a link to every game.

import { path } from "../lib/api.js";
import { h, svg } from "../lib/dom.js";
import { counted, signed } from "../lib/words.js";

/** @typedef {import("../lib/types.js").GameResult} GameResult */

const [WIDTH, HEIGHT, ABOVE, BELOW] = [420, 190, 20, 24];
/** About how many bars a histogram has. */
const BARS = 15;

/**
 * The 95 % interval of a share, after Wilson: it is sound for few games and for shares near 0 and 1.
 * @param {number} share @param {number} count @returns {[number, number]}
 */
export function wilson(share, count) {
  const z = 1.96;
  const middle = (share + z ** 2 / (2 * count)) / (1 + z ** 2 / count);
  const reach =
    (z / (1 + z ** 2 / count)) *
    Math.sqrt((share * (1 - share)) / count + z ** 2 / (4 * count ** 2));
  return [Math.max(0, middle - reach), Math.min(1, middle + reach)];
}

/**
 * The games that count: void games do not.
 * @param {GameResult[]} games
 */
const counting = (games) => games.filter(({ end }) => end !== "void");

/**
 * The share of the games that a player won; a shared game counts as half of one.
 * @param {GameResult[]} games @param {string} name
 */
function shareOf(games, name) {
  const won = games.reduce(
    (sum, { winners }) => sum + (winners.includes(name) ? 1 / winners.length : 0),
    0,
  );
  return won / games.length;
}

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)} %`;

/**
 * The sum of a long match.
 * @param {string} tournament @param {string} match @param {string[]} players
 * @param {GameResult[]} games @param {boolean} linked whether replays can be opened
 */
export function series(tournament, match, players, games, linked) {
  const counted_ = counting(games);
  const link = (/** @type {GameResult} */ game) => {
    const words = `Game ${game.game}: ${game.end === "void" ? "void" : game.scores.join(" : ")}`;
    const first = game.winners.length === 1 ? players.indexOf(game.winners[0]) + 1 : 0;
    const look = `game-chip seat-${first}`;
    return linked
      ? h(
          "a",
          { class: look, href: path`#/replay/${tournament}/${match}/${game.game}`, title: words, "aria-label": words },
          game.game,
        )
      : h("span", { class: look, title: words }, game.game);
  };
  return h(
    "div",
    { class: "series stack" },
    h(
      "div",
      { class: "halves" },
      counted_.length
        ? h("ul", { class: "rates" }, players.map((name) => rate(counted_, name)))
        : null,
      players.length === 2 ? histogram(players, counted_) : null,
    ),
    h(
      "details",
      {},
      h("summary", {}, `All ${counted(games.length, "game")}`),
      h("div", { class: "game-chips" }, games.map(link)),
    ),
  );
}

/**
 * A player's win rate as a bar, with the interval on it.
 * @param {GameResult[]} games @param {string} name
 */
function rate(games, name) {
  const share = shareOf(games, name);
  const [low, high] = wilson(share, games.length);
  const x = (/** @type {number} */ value) => 100 * value;
  const words = `${name} won ${percent(share)} of ${counted(games.length, "game")}; ` +
    `95 % interval ${percent(low)} to ${percent(high)}.`;
  return h(
    "li",
    { "data-key": name },
    h("strong", { title: name }, h("bdi", {}, name)),
    h("span", { class: "number rate" }, percent(share)),
    svg(
      "svg",
      { viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": words },
      svg("rect", { class: "ground", x: 0, y: 0, width: 100, height: 6 }),
      svg("rect", { class: "share", x: 0, y: 1, width: x(share), height: 4 }),
      svg("rect", { class: "interval", x: x(low), y: 2.4, width: x(high) - x(low), height: 1.2 }),
    ),
    h("span", { class: "soft small range" }, `95 % interval: ${percent(low)} to ${percent(high)}`),
  );
}

/**
 * The differences of points of every game, in equal steps around zero.
 * @param {GameResult[]} games @param {string[]} players
 * @returns {{ from: number, to: number, count: number }[]}
 */
export function binned(games, [one, other]) {
  const played = games.filter(({ end }) => end === "played");
  const of = (/** @type {GameResult} */ { seats, scores }, /** @type {string} */ name) =>
    scores[seats.indexOf(name)] ?? 0;
  const all = played.map((game) => of(game, one) - of(game, other));
  const reach = Math.max(1, ...all.map(Math.abs));
  const half = Math.floor(BARS / 2);
  const step = Math.max(1, Math.ceil((2 * reach + 1) / BARS));
  // The middle bar is around zero; every bar has the same width.
  return Array.from({ length: 2 * half + 1 }, (_, index) => {
    const middle = (index - half) * step;
    const [from, to] = [middle - step / 2, middle + step / 2];
    return { from, to, count: all.filter((value) => value >= from && value < to).length };
  });
}

/** @param {string[]} players @param {GameResult[]} games */
function histogram(players, games) {
  const bins = binned(games, players);
  const most = Math.max(1, ...bins.map(({ count }) => count));
  const wide = WIDTH / bins.length;
  const y = (/** @type {number} */ count) =>
    ABOVE + (1 - count / most) * (HEIGHT - BELOW - ABOVE);
  const range = ({ from, to } = bins[0]) =>
    Math.ceil(from) === Math.ceil(to) - 1
      ? signed(Math.ceil(from), 0)
      : `${signed(Math.ceil(from), 0)} to ${signed(Math.ceil(to) - 1, 0)}`;
  const bar = (/** @type {(typeof bins)[0]} */ bin, /** @type {number} */ index) => {
    const seat = bin.from >= 0 ? "seat-1" : bin.to <= 0 ? "seat-2" : "";
    return svg(
      "g",
      {},
      svg(
        "rect",
        {
          class: `bar ${seat}`,
          x: index * wide + 1,
          width: wide - 2,
          y: y(bin.count),
          height: HEIGHT - BELOW - y(bin.count),
        },
        svg("title", {}, `${range(bin)}: ${counted(bin.count, "game")}`),
      ),
      bin.count
        ? svg("text", { x: (index + 0.5) * wide, y: y(bin.count) - 3, "text-anchor": "middle" }, bin.count)
        : null,
      index % 2
        ? null
        : svg(
            "text",
            { x: (index + 0.5) * wide, y: HEIGHT - BELOW + 15, "text-anchor": "middle" },
            signed((bin.from + bin.to) / 2, 0),
          ),
    );
  };
  const label = `Points of ${players[0]} minus points of ${players[1]}, over ${counted(games.length, "game")}`;
  return h(
    "figure",
    { class: "chart histogram" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      svg("line", { class: "grid", x1: 0, x2: WIDTH, y1: HEIGHT - BELOW, y2: HEIGHT - BELOW }),
      bins.map(bar),
    ),
    h("figcaption", { class: "soft small" }, `${label}.`),
  );
}
