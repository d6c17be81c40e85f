// Gauntlet: the challengers against everybody else, as a cross-table and round by round.

import { h } from "../lib/dom.js";
import { drawProgress } from "./progress.js";
import { crossTable } from "./round-robin.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const gauntlet = {
  label: "gauntlet",
  losersLeave: false,
  rounds: ({ players, policy }) => {
    const { challengers = 1, cycles = 1 } = policy.format;
    return Math.max(challengers, players.length - challengers) * cycles;
  },
  draw,
};

/** @param {Tournament} tournament */
function draw(tournament) {
  const challengers = challengersOf(tournament);
  const others = tournament.plan.players.filter((name) => !challengers.includes(name));
  return h(
    "div",
    { class: "stack" },
    challengers.length ? crossTable(tournament, challengers, others, "Challengers") : null,
    drawProgress(tournament),
  );
}

/**
 * The challengers: of both players of every match, exactly one is a challenger. Empty before the
 * first round, or if the pairings do not show it.
 * @param {Tournament} tournament
 */
function challengersOf({ plan, pairings = [] }) {
  const count = plan.policy.format.challengers ?? 1;
  const met = (/** @type {string} */ name) =>
    pairings.filter(({ players }) => players.includes(name)).length;
  const few = [...plan.players].sort((one, other) => met(other) - met(one)).slice(0, count);
  const fits = pairings.every(
    ({ players }) => players.filter((name) => few.includes(name)).length === 1,
  );
  return pairings.length && fits ? few : [];
}
