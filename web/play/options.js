// How a person likes to play, stored in this browser: confirmation, hints, and signals.

const KEY = "agon.play";

/**
 * @typedef {object} Options
 * @property {boolean} confirm whether a chosen move waits for a confirmation
 * @property {boolean} hints whether the board shows what a choice would give
 * @property {boolean} sound whether a tone says that it is the person's turn
 * @property {boolean} notify whether the system shows a notification while the tab is hidden
 */

/** @type {Options} */
const DEFAULTS = { confirm: true, hints: true, sound: false, notify: false };

/** Dispatches `change` when an option changes. */
export const changes = new EventTarget();

/**
 * The options of this browser.
 * @returns {Options}
 */
export function options() {
  try {
    return { ...DEFAULTS, ...JSON.parse(localStorage.getItem(KEY) ?? "{}") };
  } catch {
    return DEFAULTS;
  }
}

/** @param {Partial<Options>} some */
export function setOptions(some) {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...options(), ...some }));
  } catch {
    // A browser without storage plays with the defaults.
  }
  changes.dispatchEvent(new Event("change"));
}
