// @ts-check
/**
 * The rules of Yahtzee, as far as a page needs them: what dice are worth in a box, which boxes are
 * open, and a whole game folded from its log, to check it.
 */

import { Luck } from "../lib/fair.js";

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
const TURNS = 13;

/**
 * The value that all five show, or 0.
 * @param {number[]} dice
 */
const alike = (dice) => (dice.every((die) => die === dice[0]) ? dice[0] : 0);

/**
 * What dice are worth in a box if they are no joker.
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
 * What dice bring in an empty box: points, and a bonus of 100 or none.
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

/**
 * The fifteen dice of each turn, by seat.
 * @param {Uint8Array} seed @param {any} config
 */
export function sequences(seed, config) {
  const drawn = (/** @type {string} */ label) => {
    const luck = new Luck(seed, label);
    return Array.from({ length: TURNS }, (_, turn) => {
      let word = luck.below(turn, 6n ** 15n);
      return Array.from({ length: 15 }, () => {
        const die = 1 + Number(word % 6n);
        word /= 6n;
        return die;
      });
    });
  };
  const labels = config.dice === "independent" ? ["dice.0", "dice.1"] : ["dice", "dice"];
  const fixed = /** @type {number[][]} */ (config.fixed_dice ?? []);
  return labels.map((label) => drawn(label).map((dice, turn) => fixed[turn] ?? dice));
}

/** A game that is played again from its answers. */
export class Referee {
  /** @param {any} config @param {number} _seats @param {Uint8Array} seed */
  constructor(config, _seats, seed) {
    this.rule = /** @type {Rule} */ (config.rule ?? "tournament");
    this.sequences = sequences(seed, config);
    this.turn = 0;
    this.cards = [0, 1].map(() => ({
      boxes: /** @type {Boxes} */ (Object.fromEntries(BOXES.map((box) => [box, null]))),
      bonuses: 0,
    }));
    this.removed = /** @type {number[]} */ ([]);
    this.hands = this.deal();
    /**
     * What luck gave in the latest step.
     * @type {unknown}
     */
    this.drawn = { turn: 1, dice: this.hands.map((hand) => [...hand.dice]) };
  }

  deal() {
    return this.sequences.map((of) => ({
      dice: of[this.turn].slice(0, 5),
      later: of[this.turn].slice(5),
      keeps: 0,
      done: false,
    }));
  }

  /**
   * Takes an answer, or throws what is wrong with it.
   * @param {number} seat @param {any} answer
   */
  take(seat, answer) {
    const hand = this.hands[seat];
    this.drawn = null;
    if (!hand || hand.done || this.over()) throw new Error("nothing was asked of this seat");
    if (answer.keep && hand.keeps < 2) return this.keep(seat, placesOf(answer.keep, hand.dice));
    if (!answer.score || hand.keeps < 2) throw new Error("another kind of answer was asked for");
    const card = this.cards[seat];
    if (!open(card.boxes, hand.dice, this.rule).includes(answer.score)) {
      throw new Error(`the box ${answer.score} is not open`);
    }
    const gained = worth(card.boxes, hand.dice, answer.score, this.rule);
    card.boxes[answer.score] = gained.points;
    card.bonuses += gained.bonus / 100;
    hand.done = true;
    if (!this.hands.every((other) => other.done)) return;
    this.turn += 1;
    if (this.turn === TURNS) return;
    this.hands = this.deal();
    this.drawn = { turn: this.turn + 1, dice: this.hands.map((other) => [...other.dice]) };
  }

  /** @param {number} seat @param {boolean[]} places */
  keep(seat, places) {
    const hand = this.hands[seat];
    const fresh = /** @type {number[]} */ ([]);
    hand.keeps += places.every((kept) => kept) && hand.keeps === 0 ? 2 : 1;
    hand.dice = hand.dice.map((die, at) => {
      if (places[at]) return die;
      const next = /** @type {number} */ (hand.later.shift());
      fresh.push(next);
      return next;
    });
    if (fresh.length) this.drawn = { seat, dice: fresh };
  }

  /** @param {number} seat */
  remove(seat) {
    this.drawn = null;
    if (!this.over()) this.removed.push(seat);
  }

  over() {
    return this.turn === TURNS || this.removed.length > 0;
  }

  scores() {
    return this.cards.map((card) => total(card.boxes, card.bonuses));
  }

  /**
   * What a full view shows of this, for a comparison.
   * @param {View} view
   */
  shown(view) {
    return {
      view: { turn: view.turn, cards: view.cards.map(({ boxes, total }) => ({ boxes, total })) },
      here: {
        turn: this.turn + 1,
        cards: this.cards.map(({ boxes, bonuses }) => ({ boxes, total: total(boxes, bonuses) })),
      },
    };
  }
}

/**
 * The places that are kept, from flags or from values.
 * @param {any[]} keep @param {number[]} dice
 */
function placesOf(keep, dice) {
  if (keep.length === 5 && keep.every((flag) => typeof flag === "boolean")) return keep;
  const places = dice.map(() => false);
  for (const value of keep) {
    const at = dice.findIndex((die, place) => die === value && !places[place]);
    if (at < 0) throw new Error(`there is no ${value} to keep`);
    places[at] = true;
  }
  return places;
}
