// What all boards have in common: they are given what they show, compare it with what they showed
// before, and say which answer was chosen.

/**
 * What a board shows.
 * @typedef {object} Shown
 * @property {any} view of a seat, the public one, or the full one
 * @property {string[]} names the players by seat
 * @property {any} [question] what is asked of the seat that looks; then, and only then, it chooses
 * @property {number} [seat] whose eyes these are
 * @property {{ scores: number[], winners: string[] } | null} [result] once the game is over
 */

/** Whether somebody would rather not see things move. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Lets an element move, if that is wanted.
 * @param {Element | null} element
 * @param {Keyframe[]} frames
 * @param {number} ms
 * @param {number} [wait]
 */
export function move(element, frames, ms, wait = 0) {
  if (!element || still() || document.hidden) return null;
  return element.animate(frames, {
    duration: ms,
    delay: wait,
    easing: "cubic-bezier(.3,.7,.3,1)",
    fill: "backwards",
  });
}

/** What every board is: an element with `shown`, that tells of an `answer`. */
export class Board extends HTMLElement {
  constructor() {
    super();
    /** @type {Shown | null} */
    this.now = null;
  }

  /** @param {Shown} next */
  set shown(next) {
    const before = this.now;
    this.now = next;
    const asked = (/** @type {Shown} */ one) => JSON.stringify([one.question, one.view]);
    // What is shown already stays as it is, with all that moves in it.
    if (before && asked(before) === asked(next) && JSON.stringify(before) === JSON.stringify(next))
      return;
    if (!before || asked(before) !== asked(next)) this.forget();
    this.draw(next, before);
  }

  /** Draws it all again, after something was chosen. */
  again() {
    if (this.now) this.draw(this.now, this.now);
  }

  /** Forgets what was half chosen. */
  forget() {}

  /** @param {Shown} _now @param {Shown | null} _before */
  draw(_now, _before) {}

  /**
   * Says what was chosen.
   * @param {any} value
   */
  answer(value) {
    this.dispatchEvent(new CustomEvent("answer", { detail: value, bubbles: true }));
  }
}
