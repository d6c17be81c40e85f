// Everybody meets everybody: a table.

import { h } from "../lib/dom.js";
import { player, watched } from "../lib/show.js";
import { reportOf } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const roundRobin = {
  label: "everybody against everybody",
  losersLeave: false,
  rounds: ({ players, policy }) => roundsOnce(players.length) * (policy.format.cycles ?? 1),
  draw: (tournament) => crossTable(tournament, tournament.plan.players, "Cross-table"),
};

/**
 * How many rounds it takes until everybody has met everybody.
 * @param {number} players
 */
export function roundsOnce(players) {
  return players % 2 ? players : players - 1;
}

/**
 * The results of some players against each other.
 * @param {Tournament} tournament @param {string[]} names @param {string} label
 */
export function crossTable(tournament, names, label) {
  const cell = (/** @type {string} */ one, /** @type {string} */ other) => {
    if (one === other) return h("td", { class: "self" }, h("span", { class: "hidden" }, "itself"));
    const met = (tournament.pairings ?? []).filter(
      ({ players }) => players.includes(one) && players.includes(other),
    );
    // In several cycles the latest match is linked, and the games of all of them are added up.
    const pairing = met.at(-1);
    if (!pairing) return h("td", {}, h("span", { class: "soft" }, "–"));
    const reports = met.map(({ match }) => reportOf(tournament, match));
    const half = (/** @type {string} */ name) =>
      reports.reduce(
        (sum, report) => sum + (report?.result.halves[report.players.indexOf(name)] ?? 0) / 2,
        0,
      );
    const report = reports.at(-1);
    const won = (pairing.overridden?.winners ?? report?.result.winners ?? []).includes(one);
    const text = reports.some((one) => one) ? `${half(one)} : ${half(other)}` : "live";
    return h(
      "td",
      { class: won ? "won" : "" },
      h("a", { href: watched(tournament.id, pairing.match), title: pairing.reason }, text),
      won ? h("span", { title: "won" }, " ♛") : null,
    );
  };
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": label },
    h(
      "table",
      { class: "cross" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          names.map((_, index) => h("th", { scope: "col" }, index + 1)),
        ),
      ),
      h(
        "tbody",
        {},
        names.map((one, index) =>
          h(
            "tr",
            { "data-key": one },
            h("th", { scope: "row" }, `${index + 1} `, player(one)),
            names.map((other) => cell(one, other)),
          ),
        ),
      ),
    ),
  );
}
