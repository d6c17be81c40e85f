// A player's faults with the evidence, visible to the player and to operators.

import { h } from "../lib/dom.js";
import { ago } from "../lib/show.js";
import { fault } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Fault} Fault */

/** @param {Fault[] | null} faults null, if this user may not see them */
export function evidence(faults) {
  if (faults === null) return null;
  return h(
    "section",
    { class: "card", "aria-label": "Evidence of faults" },
    h("h2", {}, "Faults, with the evidence"),
    h("p", { class: "soft small" }, "Only the player and operators see this."),
    faults.length === 0 ? h("p", {}, "None.") : faults.map(one),
  );
}

/** @param {Fault} fault_ @param {number} index */
function one({ kind, code, tournament, match, game, evidence }, index) {
  const where = `${tournament}${match ? ` ${match}` : ""}${game ? `, game ${game}` : ""}`;
  return h(
    "details",
    { "data-key": `fault ${index}` },
    h(
      "summary",
      {},
      h("span", { class: "tag bad first" }, fault(kind)),
      " ",
      h("code", {}, code),
      ` in ${where}`,
    ),
    evidence ? shown(evidence) : null,
  );
}

/** @param {NonNullable<Fault["evidence"]>} evidence */
function shown({ at, detail, asked, answer, sent }) {
  return [
    h("p", {}, detail, " · ", ago(at)),
    asked
      ? [
          h("h3", {}, "The question"),
          h("pre", { tabindex: 0 }, JSON.stringify(asked.question, null, 1)),
          h("p", { class: "small soft" }, `time limit ${asked.limit_ms / 1000} s`),
        ]
      : null,
    sent === undefined ? null : [h("h3", {}, "The Erlang term"), h("pre", { tabindex: 0 }, sent)],
    answer === undefined ? null : [h("h3", {}, "The answer"), h("pre", { tabindex: 0 }, answer)],
  ];
}
