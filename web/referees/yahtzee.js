// Replays a whole game of Yahtzee from its log, to verify it.

import { Luck } from "../lib/fair.js";
import { BOXES, open, total, worth } from "../rules/yahtzee.js";

/**
 * @typedef {import("../rules/yahtzee.js").Boxes} Boxes
 * @typedef {import("../rules/yahtzee.js").Rule} Rule
 * @typedef {import("../rules/yahtzee.js").View} View
 */

const TURNS = 13;

/**
 * The fifteen dice of each turn, by seat.
 * @param {Uint8Array} seed @param {any} config
 */
function sequences(seed, config) {
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

/** A game that is replayed from its answers. */
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
     * The random draws of the latest step.
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
   * Applies an answer, or throws what is wrong with it.
   * @param {number} seat @param {any} answer
   */
  take(seat, answer) {
    const hand = this.hands[seat];
    this.drawn = null;
    if (!hand || hand.done || this.over()) throw new Error("it was not this seat's turn");
    if (answer.keep && hand.keeps < 2) return this.keep(seat, placesOf(answer.keep, hand.dice));
    if (!answer.score || hand.keeps < 2) throw new Error("the question asked for another kind of answer");
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
   * Gives the part of this state that a full view shows, for a comparison.
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
    if (at < 0) throw new Error(`the dice have no ${value} to keep`);
    places[at] = true;
  }
  return places;
}
