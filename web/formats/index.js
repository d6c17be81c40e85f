// The formats by name: their labels and drawings.

import { bracket } from "./bracket.js";
import { drawRounds, knockout } from "./knockout.js";
import { roundRobin } from "./round-robin.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/**
 * @typedef {object} Format
 * @property {string} label What people call it.
 * @property {boolean} losersLeave Whether only those go on who won, or had a bye.
 * @property {(plan: Tournament["plan"], paired: number) => number} rounds
 *   How many rounds there will be, as far as that is known after so many.
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
