// How far a tournament is, and how long it may still take.

/** @typedef {import("./types.js").Tournament} Tournament */

/**
 * Rounds there will be, as far as that can be known.
 * @param {Tournament} tournament
 */
export function roundsOf({ plan, pairings = [] }) {
  const { format } = plan.policy;
  const count = plan.players.length;
  const paired = Math.max(0, ...pairings.map(({ round }) => round));
  if (format.kind === "bracket") return Math.log2(slotsOf(plan));
  if (format.kind === "round-robin") return count % 2 ? count : count - 1;
  // Of a knock-out with shared first places only the least is known.
  return Math.max(
    paired,
    Math.ceil(Math.log(Math.max(2, count)) / Math.log(Math.max(2, format.max ?? 2))),
  );
}

/**
 * The slots of a bracket.
 * @param {Tournament["plan"]} plan
 */
export function slotsOf(plan) {
  const least = 2 ** Math.ceil(Math.log2(Math.max(2, plan.players.length)));
  return plan.policy.format.slots ?? least;
}

/**
 * The part that is done, from 0 to 1: rounds that are over, and the matches of the one that runs.
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
 * Milliseconds it may still take, if it goes on as it went so far; null if nobody knows.
 * @param {Tournament} tournament @param {number} now
 */
export function remaining(tournament, now) {
  const done = partDone(tournament);
  if (tournament.standing !== "running" || tournament.paused || !tournament.began_at || done === 0)
    return null;
  return (Math.max(0, now - tournament.began_at) * (1 - done)) / done;
}
