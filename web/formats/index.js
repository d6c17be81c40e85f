// The formats by name: their labels and drawings.

import { h } from "../lib/dom.js";
import { bracket } from "./bracket.js";
import { doubleElimination } from "./double-elimination.js";
import { gauntlet } from "./gauntlet.js";
import { groups } from "./groups.js";
import { drawRounds, knockout } from "./knockout.js";
import { arena, swiss, untilSure } from "./progress.js";
import { roundRobin } from "./round-robin.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/**
 * @typedef {object} Format
 * @property {string} label The display name.
 * @property {boolean} losersLeave Whether only winners and players with a bye advance.
 * @property {(plan: Tournament["plan"], paired: number) => number} rounds
 *   The number of rounds, as far as it is known after this many.
 * @property {(tournament: Tournament) => Node} draw
 */

/** @type {Record<string, Format>} */
const FORMATS = {
  bracket,
  knockout,
  "round-robin": roundRobin,
  swiss,
  "double-elimination": doubleElimination,
  groups,
  gauntlet,
  arena,
  "until-sure": untilSure,
};

/** @type {Format} */
const stages = {
  label: "stages",
  losersLeave: false,
  rounds: (_, paired) => paired + 1,
  draw: drawStages,
};
FORMATS.stages = stages;

/**
 * Each stage as its own format draws it.
 * @param {Tournament} tournament
 */
function drawStages(tournament) {
  const all = tournament.plan.policy.format.stages ?? [];
  return h(
    "div",
    { class: "stages" },
    all.map(({ format }, index) => {
      const part = stageOf(tournament, index + 1, format);
      const { label, draw } = formatOf({ ...tournament.plan, policy: { ...tournament.plan.policy, format } });
      return h(
        "div",
        { "data-key": `stage ${index + 1}` },
        h("h3", {}, `Stage ${index + 1}: ${label}`),
        part ? draw(part) : h("p", { class: "soft" }, "Not yet."),
      );
    }),
  );
}

/**
 * The part of a tournament that is one stage; `null` before it begins.
 * @param {Tournament} tournament @param {number} number
 * @param {import("../lib/types.js").FormatOptions} format
 * @returns {Tournament | null}
 */
function stageOf(tournament, number, format) {
  const { plan, results, pairings = [] } = tournament;
  if (!results) return null;
  const rounds = results.rounds.filter(({ stage }) => stage?.number === number);
  const players = rounds[0]?.stage?.players;
  if (!players) return null;
  const own = new Set(rounds.map(({ round }) => round));
  return {
    ...tournament,
    before: (rounds[0]?.round ?? 1) - 1,
    plan: { ...plan, players, policy: { ...plan.policy, format } },
    pairings: pairings.filter(({ round }) => own.has(round)),
    results: {
      ...results,
      rounds,
      standings: results.standings.filter(({ player }) => players.includes(player)),
    },
  };
}

/**
 * The format of a tournament. Unknown formats are drawn round by round.
 * @param {Tournament["plan"]} plan
 * @returns {Format}
 */
export function formatOf({ policy }) {
  const { kind, third_place: thirdPlace } = policy.format;
  const format = FORMATS[kind] ?? {
    label: kind,
    losersLeave: false,
    rounds: (_, paired) => paired,
    draw: drawRounds,
  };
  // The losers of the semi-finals play again for third place.
  return thirdPlace ? { ...format, losersLeave: false } : format;
}
