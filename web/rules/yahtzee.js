// The rules of Yahtzee, as far as a page needs them: which boxes are open, and the value of dice in
// them.

/**
 * @typedef {'tournament' | 'forced-joker' | 'free-joker'} Rule
 * @typedef {Record<string, number | null>} Boxes
 * @typedef {{boxes: Boxes, upper: number, upper_bonus: number, yahtzee_bonuses: number,
 *   total: number}} Card
 * @typedef {{rolls: number[][], kept: boolean[][],
 *   scored: null | {box: string, points: number, bonus: number}}} Play
 * @typedef {{seat: number | null, dice: string, rule: Rule, turn: number, cards: Card[],
 *   history: Play[][], now: (Play | null)[], unfinished: number[], removed: number[]}} View
 */

export const UPPER = ["aces", "twos", "threes", "fours", "fives", "sixes"];
export const LOWER = [
  "three-of-a-kind",
  "four-of-a-kind",
  "full-house",
  "small-straight",
  "large-straight",
  "yahtzee",
  "chance",
];
export const BOXES = [...UPPER, ...LOWER];

/**
 * The value that all five dice show, or 0.
 * @param {number[]} dice
 */
const alike = (dice) => (dice.every((die) => die === dice[0]) ? dice[0] : 0);

/**
 * The value of dice in a box if they are no joker.
 * @param {number[]} dice @param {string} box
 */
export function points(dice, box) {
  const counts = [1, 2, 3, 4, 5, 6].map((value) => dice.filter((die) => die === value).length);
  const sum = dice.reduce((total, die) => total + die, 0);
  const most = Math.max(...counts);
  const run = Math.max(
    ...counts
      .map((count) => (count ? "x" : " "))
      .join("")
      .split(" ")
      .map((part) => part.length),
  );
  const upper = UPPER.indexOf(box);
  if (upper >= 0) return counts[upper] * (upper + 1);
  switch (box) {
    case "three-of-a-kind":
      return most >= 3 ? sum : 0;
    case "four-of-a-kind":
      return most >= 4 ? sum : 0;
    case "full-house":
      return most === 3 && counts.includes(2) ? 25 : 0;
    case "small-straight":
      return run >= 4 ? 30 : 0;
    case "large-straight":
      return run >= 5 ? 40 : 0;
    case "yahtzee":
      return most === 5 ? 50 : 0;
    default:
      return sum;
  }
}

/**
 * The boxes that dice may go into.
 * @param {Boxes} boxes @param {number[]} dice @param {Rule} rule
 */
export function open(boxes, dice, rule) {
  const empty = BOXES.filter((box) => boxes[box] === null);
  if (rule !== "forced-joker" || !alike(dice) || boxes.yahtzee === null) return empty;
  const own = UPPER[alike(dice) - 1];
  if (empty.includes(own)) return [own];
  const lower = empty.filter((box) => LOWER.includes(box));
  return lower.length ? lower : empty;
}

/**
 * The value of dice in an empty box: points, and a bonus of 100 or none.
 * @param {Boxes} boxes @param {number[]} dice @param {string} box @param {Rule} rule
 */
export function worth(boxes, dice, box, rule) {
  const plain = points(dice, box);
  if (!alike(dice)) return { points: plain, bonus: 0 };
  const bonus = boxes.yahtzee === 50;
  const counts = bonus || (rule !== "tournament" && boxes.yahtzee !== null);
  const joker = counts && boxes[UPPER[alike(dice) - 1]] !== null;
  const full = { "full-house": 25, "small-straight": 30, "large-straight": 40 };
  const jokers = joker ? /** @type {Record<string, number>} */ (full)[box] : undefined;
  return { points: jokers ?? plain, bonus: bonus ? 100 : 0 };
}

/**
 * A card's grand total.
 * @param {Boxes} boxes @param {number} bonuses of 100 each
 */
export function total(boxes, bonuses) {
  const of = (/** @type {string[]} */ names) =>
    names.reduce((sum, box) => sum + (boxes[box] ?? 0), 0);
  return of(BOXES) + (of(UPPER) >= 63 ? 35 : 0) + 100 * bonuses;
}
