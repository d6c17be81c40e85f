// The formats by name: their labels and drawings.

import { bracket } from "./bracket.js";
import { drawRounds, knockout } from "./knockout.js";
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
const FORMATS = { bracket, knockout, "round-robin": roundRobin };

/**
 * The format of a tournament. Unknown formats are drawn round by round.
 * @param {Tournament["plan"]} plan
 * @returns {Format}
 */
export function formatOf({ policy }) {
  const { kind } = policy.format;
  return (
    FORMATS[kind] ?? {
      label: kind,
      losersLeave: false,
      rounds: (_, paired) => paired,
      draw: drawRounds,
    }
  );
}
