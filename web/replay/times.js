// How long the players of a finished game took for each move.

/** @typedef {import("../lib/replayer.js").Replay} Replay */
/** @typedef {{ at: number, seat: number, ms: number }} MoveTime a step, its player, and the time */

/**
 * The time of every answer: from the step that led to its request to the answer. In Yahtzee both
 * players answer at once, so their time begins with their own last answer or with the turn.
 * @param {Replay} replay @returns {MoveTime[]}
 */
export function moveTimes({ game, steps }) {
  /** @type {Map<number, number>} */
  const own = new Map();
  let turnBegan = 0;
  return steps.flatMap((step, at) => {
    const { seat } = step;
    if (step.event !== "answer-accepted" || seat === undefined) return [];
    const since = game === "yahtzee" ? Math.max(turnBegan, own.get(seat) ?? 0) : at - 1;
    own.set(seat, at);
    if (game === "yahtzee" && step.view.turn !== steps[at - 1].view.turn) turnBegan = at;
    return [{ at, seat, ms: Math.max(0, step.at - steps[since].at) }];
  });
}

/**
 * The median; 0 of nothing.
 * @param {number[]} values
 */
export function median(values) {
  const sorted = [...values].sort((one, other) => one - other);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return 0;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * A time for people: 12 ms, 3.4 s, 2 min.
 * @param {number} ms
 */
export function took(ms) {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
