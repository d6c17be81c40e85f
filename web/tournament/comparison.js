// How sure the result of a tournament is: strengths with 95 % intervals, drawn as bars, and the
// confidence in the podium.

import { h, svg } from "../lib/dom.js";
import { player } from "../lib/show.js";
import { signed } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Comparison} Comparison */
/** @typedef {import("../lib/types.js").ComparedPlayer} ComparedPlayer */

/** The most players in the drawing. */
const SHOWN = 24;
/** The most lines in each table. */
const PAIRS_SHOWN = 100;
const [WIDTH, ROW, LEFT] = [360, 24, 130];

/** @param {number} share */
const percent = (share) => `${(share * 100).toFixed(1)}\u00a0%`;

/** @param {Comparison | null} comparison */
export function comparison(comparison) {
  if (!comparison || comparison.pairs.length === 0) return null;
  const { podium, pairs, players } = comparison;
  return h(
    "section",
    { class: "card", "aria-label": "How sure is this?" },
    h("h2", {}, "How sure is this?"),
    podium
      ? h(
          "p",
          {},
          player(podium.players[0]),
          ` is the strongest player with ${percent(podium.winner)} confidence. `,
          podium.players.length > 2 && podium.players.length < players.length
            ? `The first ${podium.players.length} are the strongest ${podium.players.length} with ` +
                `${percent(podium.set)}, and in this order with ${percent(podium.order)}.`
            : null,
        )
      : null,
    pairs.map(({ test }) =>
      test
        ? h(
            "p",
            { class: "small" },
            `Sequential test of ${test.player}: `,
            test.verdict === "h1" ? "stronger" : test.verdict === "h0" ? "not stronger" : "open",
            ` (LLR ${test.llr.toFixed(2)}, bounds ${test.lower.toFixed(2)} and `,
            `${test.upper.toFixed(2)}).`,
          )
        : null,
    ),
    bars(comparison.players.slice(0, SHOWN)),
    details(comparison),
  );
}

/** @param {number | null | undefined} value */
const elo = (value) => (value === null || value === undefined ? "" : signed(Math.round(value), 0));

/** @param {import("../lib/types.js").EloInterval} [interval] */
const range = (interval) => (interval ? `${elo(interval.low) || "–∞"} to ${elo(interval.high) || "+∞"}` : "");

/**
 * The performance of the players, and who is better than whom.
 * @param {Comparison} comparison
 */
function details({ players, pairs }) {
  const ofPlayers = players.map((one) => [
    one.player,
    one.games,
    one.games ? percent(one.points / one.games) : "",
    elo(one.elo?.value),
    range(one.elo),
    elo(one.performance),
  ]);
  const ofPairs = pairs.map((pair) => [
    `${pair.one} – ${pair.other}`,
    `${pair.won}–${pair.drawn}–${pair.lost}`,
    elo(pair.elo.value),
    range(pair.elo),
    percent(pair.superiority),
  ]);
  const head = ["Player", "Games", "Score", "Elo", "95 %", "Performance"];
  return h(
    "details",
    {},
    h("summary", {}, "Performance and pairs"),
    table("Strengths", head, ofPlayers.slice(0, PAIRS_SHOWN)),
    table(
      "Pairs",
      ["Pair", "Won–drawn–lost", "Elo", "95 %", "First is stronger"],
      ofPairs.slice(0, PAIRS_SHOWN),
    ),
  );
}

/** @param {string} label @param {string[]} head @param {(string | number)[][]} rows */
function table(label, head, rows) {
  const side = (/** @type {number} */ index) => (index > 0 ? "number" : "");
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": label },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h("tr", {}, head.map((word, index) => h("th", { scope: "col", class: side(index) }, word))),
      ),
      h(
        "tbody",
        {},
        rows.map((row) =>
          h("tr", {}, row.map((cell, index) => h("td", { class: side(index) }, cell))),
        ),
      ),
    ),
  );
}

/** @param {ComparedPlayer[]} players */
function bars(players) {
  const rated = players.filter(({ elo }) => elo && elo.low !== null && elo.high !== null);
  if (rated.length < 2) return null;
  const lows = rated.map(({ elo }) => Number(elo?.low));
  const highs = rated.map(({ elo }) => Number(elo?.high));
  const [least, most] = [Math.min(...lows), Math.max(...highs)];
  const x = (/** @type {number} */ value) =>
    LEFT + 8 + ((value - least) / Math.max(1, most - least)) * (WIDTH - LEFT - 16);
  const bar = (/** @type {ComparedPlayer} */ { player: name, elo }, /** @type {number} */ index) => {
    const y = index * ROW + ROW / 2;
    const [low, value, high] = [elo?.low, elo?.value, elo?.high].map((one) => Math.round(one ?? 0));
    return svg(
      "g",
      {},
      svg("text", { x: LEFT, y: y + 4, "text-anchor": "end" }, name),
      svg("line", { class: "reach", x1: x(low), x2: x(high), y1: y, y2: y }),
      svg(
        "circle",
        { class: "dot", cx: x(value), cy: y, r: 4 },
        svg("title", {}, `${name}: Elo ${value}, 95 % interval ${low} to ${high}`),
      ),
    );
  };
  const label = `Strengths of ${rated.length} players with their 95 % intervals`;
  return h(
    "figure",
    { class: "chart strengths" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${rated.length * ROW}`, role: "img", "aria-label": label },
      rated.map(bar),
    ),
    h("figcaption", { class: "soft small" }, "Elo relative to the mean of the field."),
  );
}
