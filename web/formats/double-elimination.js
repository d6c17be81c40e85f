// Double elimination: the winners' bracket, the losers' bracket and the finals, round by round.

import { h } from "../lib/dom.js";
import { bye, match } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const doubleElimination = {
  label: "double elimination",
  losersLeave: false,
  rounds: ({ players }, paired) =>
    Math.max(paired, 2 * Math.ceil(Math.log2(Math.max(2, players.length)))),
  draw,
};

/** With more players than this, matches have one line per player. */
const COMPACT_MIN = 8;

const PARTS = [
  { label: "Winners' bracket", has: (/** @type {string} */ stage) => stage.includes("winners'") },
  { label: "Losers' bracket", has: (/** @type {string} */ stage) => stage.includes("losers'") },
  { label: "Final", has: (/** @type {string} */ stage) => !stage.includes("bracket") },
];

/** @param {Tournament} tournament */
function draw(tournament) {
  return h(
    "div",
    { class: "parts" },
    PARTS.map(({ label, has }) => part(tournament, label, has)),
  );
}

/**
 * One of the brackets. The first words of a reason say which one a match belongs to.
 * @param {Tournament} tournament @param {string} label @param {(stage: string) => boolean} has
 */
function part(tournament, label, has) {
  const belongs = (/** @type {{ reason: string }} */ { reason }) =>
    has(reason.split(":")[0] ?? "");
  const own = (tournament.pairings ?? []).filter(belongs);
  const byes = (tournament.results?.rounds ?? []).flatMap(({ round, byes }) =>
    byes.filter(belongs).map((bye) => ({ ...bye, round })),
  );
  const rounds = [...new Set([...own, ...byes].map(({ round }) => round))].sort((a, b) => a - b);
  const compact = tournament.plan.players.length > COMPACT_MIN;
  const columns = rounds.map((round) =>
    h(
      "li",
      { class: "round" },
      h("h3", {}, `Round ${round}`),
      h(
        "ol",
        {},
        own
          .filter((pairing) => pairing.round === round)
          .map((pairing) =>
            h("li", { "data-key": pairing.match }, match(tournament, pairing, compact)),
          ),
        byes
          .filter((one) => one.round === round)
          .map((one) => h("li", {}, bye(one))),
      ),
    ),
  );
  return h(
    "div",
    { "data-key": label },
    h("h3", {}, label),
    rounds.length === 0 ? h("p", { class: "soft" }, "To be decided.") : null,
    h(
      "div",
      { class: "wide fit", tabindex: 0, role: "group", "aria-label": label },
      h("ol", { class: `bracket loose${compact ? " compact" : ""}` }, columns),
    ),
  );
}
