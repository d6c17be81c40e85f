// The base of all boards: a board gets the state to show, compares it with the previous state, and
// reports the chosen answer.

/**
 * The state that a board shows.
 * @typedef {object} Shown
 * @property {any} view of a seat, the public one, or the full one
 * @property {string[]} names the players by seat
 * @property {any} [question] the open question of the viewing seat; only then can it choose
 * @property {number} [seat] the viewing seat
 * @property {{ scores: number[], winners: string[] } | null} [result] once the game is over
 */

/** Whether the user prefers reduced motion. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/**
 * Animates an element, unless the user prefers reduced motion.
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

/** The base of all boards: an element with `shown`, which dispatches the event `answer`. */
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
    // An unchanged state is not drawn again, so that animations continue.
    if (before && asked(before) === asked(next) && JSON.stringify(before) === JSON.stringify(next))
      return;
    if (!before || asked(before) !== asked(next)) this.forget();
    this.draw(next, before);
  }

  /** Draws everything again, after a choice. */
  again() {
    if (this.now) this.draw(this.now, this.now);
  }

  /** Clears a partial choice. */
  forget() {}

  /** @param {Shown} _now @param {Shown | null} _before */
  draw(_now, _before) {}

  /**
   * Reports the chosen answer.
   * @param {any} value
   */
  answer(value) {
    this.dispatchEvent(new CustomEvent("answer", { detail: value, bubbles: true }));
  }
}
