// Everybody meets everybody: a table.

import { h } from "../lib/dom.js";
import { player, watched } from "../lib/show.js";
import { reportOf } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const roundRobin = {
  label: "everybody against everybody",
  losersLeave: false,
  rounds: ({ players }) => (players.length % 2 ? players.length : players.length - 1),
  draw,
};

/** @param {Tournament} tournament */
function draw(tournament) {
  const names = tournament.plan.players;
  const cell = (/** @type {string} */ one, /** @type {string} */ other) => {
    if (one === other) return h("td", { class: "self" }, h("span", { class: "hidden" }, "itself"));
    const pairing = tournament.pairings?.find(
      ({ players }) => players.includes(one) && players.includes(other),
    );
    if (!pairing) return h("td", {}, h("span", { class: "soft" }, "–"));
    const report = reportOf(tournament, pairing.match);
    const half = (/** @type {string} */ name) =>
      (report?.result.halves[report.players.indexOf(name)] ?? 0) / 2;
    const won = (pairing.overridden?.winners ?? report?.result.winners ?? []).includes(one);
    const text = report ? `${half(one)} : ${half(other)}` : "live";
    return h(
      "td",
      { class: won ? "won" : "" },
      h("a", { href: watched(tournament.id, pairing.match), title: pairing.reason }, text),
      won ? h("span", { title: "won" }, " ♛") : null,
    );
  };
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Cross-table" },
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
