// Which live match a projector shows: the most exciting one. docs/operate.md states the rule.

/** @typedef {import("../lib/types.js").LiveScore} LiveScore */

/**
 * A live match that could be shown.
 * @typedef {object} Candidate
 * @property {string} tournament
 * @property {LiveScore} live
 * @property {number} rounds how many rounds the tournament has, as far as that is known
 */

/** A match is left for another one only if the other is more exciting by at least this much. */
export const MARGIN = 0.75;

/**
 * How exciting a match is, from 0 to 7:
 * - up to 2 for the round: the final has 2, earlier rounds less;
 * - up to 2 for the score of the match: 2 if the next game can decide it for both leaders;
 * - up to 3 for the game: a close score counts 1 at the start and 3 at the end.
 * @param {Candidate} candidate
 */
export function excitement({ live, rounds }) {
  const { round, won, best_of: bestOf, game } = live;
  const stage = Math.min(1, round / Math.max(1, rounds));
  const needed = Math.ceil(bestOf / 2);
  const [first = 0, second = 0] = [...won].sort((one, other) => other - one);
  const tension = bestOf === 1 ? 0.5 : (first + second) / Math.max(1, 2 * (needed - 1));
  return 2 * stage + 2 * Math.min(1, tension) + (game ? closeness(game.points) * late(game) : 0);
}

/**
 * How close the two leaders of a game are, from 0 to 1.
 * @param {number[]} points
 */
export function closeness(points) {
  const [first = 0, second = 0] = [...points].sort((one, other) => other - one);
  return first <= 0 ? 1 : Math.max(0, 1 - (first - second) / first);
}

/** @param {{ percent: number }} game */
const late = ({ percent }) => 1 + percent / 50;

/** @param {Candidate} candidate */
export const nameOf = ({ tournament, live }) => `${tournament}/${live.match}`;

/**
 * The match to show next: the shown one, unless another is clearly more exciting.
 * @param {Candidate[]} candidates @param {string} shown the name of the shown match, or nothing
 * @returns {Candidate | null}
 */
export function chosen(candidates, shown) {
  const ranked = [...candidates].sort(
    (one, other) => excitement(other) - excitement(one) || (nameOf(one) < nameOf(other) ? -1 : 1),
  );
  const best = ranked[0] ?? null;
  const current = ranked.find((one) => nameOf(one) === shown);
  if (!best || !current) return best;
  return excitement(best) >= excitement(current) + MARGIN ? best : current;
}
