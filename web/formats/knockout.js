// Knock-out: rounds of games for several players. Formats without their own drawing use this one.

import { h } from "../lib/dom.js";
import { bye, match } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const knockout = {
  label: "knock-out",
  losersLeave: true,
  // With shared first places only the minimum is known.
  rounds: ({ players, policy }, paired) =>
    Math.max(
      paired,
      Math.ceil(
        Math.log(Math.max(2, players.length)) / Math.log(Math.max(2, policy.format.max ?? 2)),
      ),
    ),
  draw: drawRounds,
};

/**
 * Round by round.
 * @param {Tournament} tournament
 */
export function drawRounds(tournament) {
  const count = Math.max(1, ...(tournament.pairings ?? []).map(({ round }) => round));
  const columns = Array.from({ length: count }, (_, index) => {
    const own = (tournament.pairings ?? []).filter(({ round }) => round === index + 1);
    const byes = tournament.results?.rounds[index]?.byes ?? [];
    return h(
      "li",
      { class: "round" },
      h("h3", {}, `Round ${index + 1}`),
      h(
        "ol",
        {},
        own.map((pairing) => h("li", { "data-key": pairing.match }, match(tournament, pairing))),
        byes.map((one) => h("li", {}, bye(one))),
      ),
    );
  });
  return h(
    "div",
    { class: "wide fit", tabindex: 0, role: "group", "aria-label": "Rounds" },
    h("ol", { class: "bracket loose" }, columns),
  );
}
