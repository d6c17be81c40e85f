// The progress of a tournament, and its remaining time.

import { formatOf } from "../formats/index.js";

/** @typedef {import("./types.js").Tournament} Tournament */

/**
 * The number of rounds, as far as it is known.
 * @param {Tournament} tournament
 */
export function roundsOf({ plan, pairings = [] }) {
  const paired = Math.max(0, ...pairings.map(({ round }) => round));
  return formatOf(plan).rounds(plan, paired);
}

/**
 * The completed part, from 0 to 1: finished rounds, and the matches of the current one.
 * @param {Tournament} tournament
 */
export function partDone(tournament) {
  if (tournament.standing === "over") return 1;
  const { pairings = [] } = tournament;
  const paired = Math.max(0, ...pairings.map(({ round }) => round));
  const current = pairings.filter(({ round }) => round === paired);
  const over = current.filter((pairing) => pairing.over).length;
  const part = current.length ? over / current.length : 0;
  return Math.min(1, (Math.max(0, paired - 1) + part) / Math.max(1, roundsOf(tournament)));
}

/**
 * The estimated remaining milliseconds, at the pace so far; `null` if unknown.
 * @param {Tournament} tournament @param {number} now
 */
export function remaining(tournament, now) {
  const done = partDone(tournament);
  if (tournament.standing !== "running" || tournament.paused || !tournament.began_at || done === 0)
    return null;
  return (Math.max(0, now - tournament.began_at) * (1 - done)) / done;
}
