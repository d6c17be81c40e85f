// The base of all boards: a board gets the state to show, compares it with the previous state, and
// reports the chosen answer.
//
// A board keeps the keyboard: its keys work wherever the focus is on the page, and the focus stays
// on the board when an answer removes the control that had it.

import { h } from "../lib/dom.js";
import { equal } from "../lib/equal.js";
import { options } from "../play/options.js";

/**
 * The state that a board shows.
 * @typedef {object} Shown
 * @property {any} view of a seat, the public one, or the full one
 * @property {string[]} names the players by seat
 * @property {any} [question] the open question of the viewing seat; only then can it choose
 * @property {number} [seat] the viewing seat
 * @property {boolean} [over] whether the game is over
 * @property {{ scores: number[], winners: string[] } | null} [result] of a game that was played out
 */

/**
 * The clock of a seat.
 * @typedef {{ words: string, short: boolean } | null} Clock
 */

/** How long one of several moves is shown before the next one begins. */
const STEP_MS = 650;
/** The longest backlog of moves that are shown one after another. */
const BACKLOG_MS = 4_000;

/** True if the user prefers reduced motion. */
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

/** The controls of a board. */
const CONTROLS = 'button:not(:disabled), [role="button"]';
/** Elements outside the board that keep all keys, and those that keep the keys they act on. */
const FIELDS = "input, select, textarea, dialog";
const OTHERS = "a, button, summary, [tabindex='0']";
const OTHER_KEYS = ["Enter", " ", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
const ARROWS = /** @type {Record<string, [number, number]>} */ ({
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
});

/** The base of all boards: an element with `shown`, which dispatches the event `answer`. */
export class Board extends HTMLElement {
  constructor() {
    super();
    /** @type {Shown | null} */
    this.now = null;
    /**
     * The chosen answer while it waits for a confirmation, and what it does.
     * @type {{ answer: any, words: string } | null}
     */
    this.pending = null;
    /** @type {Clock[]} */
    this.clocks = [];
    /** The key of the control that had the focus last. */
    this.focused = "";
    /** When the moves that are being shown are over, by `performance.now()`. */
    this.busyUntil = 0;
    this.listener = (/** @type {KeyboardEvent} */ event) => this.keyed(event);
  }

  connectedCallback() {
    this.tabIndex = -1;
    document.addEventListener("keydown", this.listener);
  }

  disconnectedCallback() {
    document.removeEventListener("keydown", this.listener);
  }

  /** @param {Shown} next */
  set shown(next) {
    const before = this.now;
    this.now = next;
    const asked = (/** @type {Shown} */ one) => JSON.stringify([one.question, one.view]);
    // An unchanged state is not drawn again, so that animations continue.
    if (before && asked(before) === asked(next) && JSON.stringify(before) === JSON.stringify(next))
      return;
    if (!before || asked(before) !== asked(next)) {
      this.pending = null;
      this.forget();
    }
    this.drawKeepingFocus(next, before);
  }

  /** Draws everything again, after a choice. */
  again() {
    if (this.now) this.drawKeepingFocus(this.now, this.now);
  }

  /** @param {Shown} now @param {Shown | null} before */
  drawKeepingFocus(now, before) {
    const focus = document.activeElement;
    const had = this.contains(focus);
    if (had && focus !== this) this.focused = focus?.getAttribute("data-key") ?? "";
    this.draw(now, before);
    if (had && (document.activeElement === this || !this.contains(document.activeElement)))
      this.refocus();
  }

  /** Returns the focus to the control that had it, to another one, or to the board itself. */
  refocus() {
    const all = /** @type {HTMLElement[]} */ ([...this.querySelectorAll(CONTROLS)]);
    const same = all.find((one) => this.focused && one.getAttribute("data-key") === this.focused);
    (same ?? this.first() ?? all[0] ?? this).focus({ preventScroll: true });
  }

  /**
   * The control that a person wants first.
   * @returns {HTMLElement | SVGElement | null}
   */
  first() {
    return this.querySelector(CONTROLS);
  }

  /** Clears a partial choice. */
  forget() {}

  /** @param {Shown} _now @param {Shown | null} _before */
  draw(_now, _before) {}

  /**
   * Handles a key of this board; returns whether it had a meaning.
   * @param {string} _key @param {boolean} _free whether no control has the focus
   * @returns {boolean}
   */
  key(_key, _free) {
    return false;
  }

  /** @param {KeyboardEvent} event */
  keyed(event) {
    const { target, key } = event;
    if (!this.now?.question || this.closest("[inert]") || event.defaultPrevented) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const inside = target instanceof Node && this.contains(target);
    const element = target instanceof Element && target !== this ? target : null;
    const other = Boolean(element?.closest(OTHERS));
    if (!inside && (element?.closest(FIELDS) || (other && OTHER_KEYS.includes(key)))) return;
    let done = true;
    if (key === "Escape" && this.pending) this.undo();
    else if (key === "Enter" && this.pending && !other) this.send();
    else if (ARROWS[key]) this.arrow(ARROWS[key]);
    else done = this.key(key, !other);
    if (done) event.preventDefault();
  }

  /**
   * Moves the focus to the nearest control in a direction, or to the first one.
   * @param {[number, number]} way
   */
  arrow(way) {
    const here = document.activeElement;
    if (!here || here === this || !this.contains(here) || !here.matches(CONTROLS))
      return this.first()?.focus();
    const place = (/** @type {Element} */ element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [x, y] = place(here);
    let [best, least] = [/** @type {HTMLElement | null} */ (null), Infinity];
    for (const other of /** @type {NodeListOf<HTMLElement>} */ (this.querySelectorAll(CONTROLS))) {
      const [dx, dy] = [place(other)[0] - x, place(other)[1] - y];
      const ahead = dx * way[0] + dy * way[1];
      const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (ahead > 1 && ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
    }
    best?.focus();
  }

  /**
   * Chooses an answer. It waits for a confirmation, unless the person wants none; choosing it again
   * confirms it.
   * @param {any} answer @param {string} words what it does
   */
  choose(answer, words) {
    if (!options().confirm || this.isPending(answer)) return this.answer(answer);
    this.pending = { answer, words };
    this.again();
  }

  /** @param {any} answer */
  isPending(answer) {
    return this.pending !== null && equal(this.pending.answer, answer);
  }

  /** Sends the chosen answer. */
  send() {
    if (this.pending) this.answer(this.pending.answer);
  }

  /** Takes the chosen answer back. */
  undo() {
    this.pending = null;
    this.again();
  }

  /** The request for a confirmation; `null` if no answer waits for one. */
  confirmation() {
    if (!this.pending) return null;
    return h(
      "div",
      { class: "order row confirmation", "data-key": "confirmation" },
      h("p", { role: "status" }, this.pending.words),
      h(
        "button",
        { type: "button", class: "send", "data-key": "send", onclick: () => this.send() },
        "Confirm",
      ),
      h(
        "button",
        { type: "button", class: "plain undo", "data-key": "undo", onclick: () => this.undo() },
        "Undo",
      ),
      h("span", { class: "soft small keys" }, "Keys: Enter, Escape"),
    );
  }

  /**
   * Reports the chosen answer.
   * @param {any} value
   */
  answer(value) {
    this.pending = null;
    this.dispatchEvent(new CustomEvent("answer", { detail: value, bubbles: true }));
  }

  /**
   * Shows the clocks of the seats.
   * @param {Clock[]} clocks
   */
  tell(clocks) {
    this.clocks = clocks;
    for (const element of this.querySelectorAll("[data-clock]")) {
      const clock = clocks[Number(element.getAttribute("data-clock"))];
      const words = clock?.words ?? "";
      if (element.textContent !== words) element.textContent = words;
      element.classList.toggle("short", clock?.short ?? false);
    }
  }

  /**
   * How long the next move that is shown must wait for those before it.
   * @returns {number}
   */
  queued() {
    const now = performance.now();
    if (still() || document.hidden) return 0;
    const start = Math.min(Math.max(now, this.busyUntil), now + BACKLOG_MS);
    this.busyUntil = start + STEP_MS;
    return start - now;
  }
}

/**
 * A new board of a game whose module is loaded; `null` if there is none.
 * @param {string} game @returns {Board | null}
 */
export function created(game) {
  const name = `agon-${game}`;
  if (!customElements.get(name)) return null;
  const board = /** @type {Board} */ (document.createElement(name));
  board.classList.add("board", game);
  board.setAttribute("data-key", `board-${game}`);
  return board;
}
