// The points of all players with and without luck, each with its 95 % interval.

import { csvButton } from "../lib/csv.js";
import { h } from "../lib/dom.js";
import { complaint, player } from "../lib/show.js";
import { signed } from "../lib/words.js";

/** @typedef {import("../lib/types.js").AdjustedStandings} AdjustedStandings */
/** @typedef {import("../lib/types.js").Estimate} Estimate */

/**
 * The state of the card: the analysis, that the page awaits it, or why there is none.
 * @typedef {{ analysis?: AdjustedStandings, isAwaited?: boolean, problem?: unknown }} Luck
 */

const HEAD = ["Player", "Games", "Points per game", "Without luck", "Luck", "Cost"];

/** @param {Estimate} estimate @param {number} [digits] */
function mean({ mean, interval }, digits = 1) {
  const reach = interval && ((interval[1] - interval[0]) / 2).toFixed(digits);
  return mean.toFixed(digits) + (reach ? `\u00a0±\u00a0${reach}` : "");
}

/**
 * The server computes the points without luck for seconds in a large tournament, so the page asks for
 * them only if somebody wants them.
 * @param {string} id the tournament
 * @param {Luck} luck
 * @param {() => void} compute
 */
export function luck(id, { analysis, isAwaited, problem }, compute) {
  const players = analysis?.players ?? [];
  return h(
    "section",
    { class: "card", id: "luck", "aria-label": "Points without luck" },
    h(
      "div",
      { class: "row spread" },
      h("h2", {}, "Points without luck"),
      players.length ? csvButton(`${id}-luck`, () => table(players)) : null,
    ),
    problem ? complaint(problem) : null,
    analysis
      ? [
          players.length
            ? drawn(analysis)
            : h("p", { class: "soft" }, "No game of this tournament has luck that can be measured."),
          analysis.costs.length ? costs(analysis) : null,
        ]
      : isAwaited
        ? h("p", { class: "soft" }, "The server analyses the games …")
        : h("button", { type: "button", onclick: compute }, "Compute"),
  );
}

/** @param {AdjustedStandings} analysis */
function drawn({ players, model }) {
  const rows = players.map((one) =>
    h(
      "tr",
      {},
      h("td", {}, player(one.player)),
      [one.games, mean(one.raw), mean(one.adjusted), signed(one.luck), one.cost.toFixed(1)].map(
        (value) => h("td", { class: "number" }, value),
      ),
    ),
  );
  return [
    h(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": "Table of points without luck" },
      h(
        "table",
        {},
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            HEAD.map((word, index) =>
              h("th", { scope: "col", class: index > 0 ? "number" : "" }, word),
            ),
          ),
        ),
        h("tbody", {}, rows),
      ),
    ),
    h(
      "p",
      { class: "soft small" },
      "Means per game with 95 % intervals. Luck has mean zero for everybody, so the points without it ",
      "estimate the same strength with less noise. Cost is what better decisions would have gained. ",
      `Values come from this model: ${model}.`,
    ),
  ];
}

/**
 * The cost of decisions, also for games whose luck is not measured.
 * @param {AdjustedStandings} analysis
 */
function costs({ costs, model }) {
  const head = ["Player", "Games", "Decisions", "Not the best", "Cost per decision", "Cost per game"];
  const cells = (/** @type {AdjustedStandings["costs"][number]} */ one) => [
    one.games,
    one.decisions,
    one.mistakes,
    mean(one.per_decision, 3),
    mean(one.per_game),
  ];
  return [
    h("h3", {}, "Cost of decisions"),
    h(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": "Table of costs" },
      h(
        "table",
        { class: "costs" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((word, index) =>
              h("th", { scope: "col", class: index > 0 ? "number" : "" }, word),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          costs.map((one) =>
            h(
              "tr",
              {},
              h("td", {}, player(one.player)),
              cells(one).map((value) => h("td", { class: "number" }, value)),
            ),
          ),
        ),
      ),
    ),
    h("p", { class: "soft small" }, `Means with 95 % intervals. Values: ${model}.`),
  ];
}

/**
 * The table for a file.
 * @param {AdjustedStandings["players"]} players
 */
function table(players) {
  const bounds = (/** @type {Estimate} */ { mean, interval }) => [mean, ...(interval ?? ["", ""])];
  const of = (/** @type {string} */ what) => [what, `${what} low`, `${what} high`];
  return {
    head: ["player", "games", ...of("points per game"), ...of("without luck"), "luck", "cost"],
    rows: players.map((one) => [
      one.player,
      one.games,
      ...bounds(one.raw),
      ...bounds(one.adjusted),
      one.luck,
      one.cost,
    ]),
  };
}
