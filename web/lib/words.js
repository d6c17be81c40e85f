// Numbers, and words of the interface, in sentences.

/**
 * A number and its noun, in the singular or the plural: 1 rail, 2 rails.
 * @param {number} count @param {string} noun
 */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/**
 * A number with its sign: +3.2, −1.4.
 * @param {number} value @param {number} [digits]
 */
export function signed(value, digits = 1) {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

const LISTS = new Intl.ListFormat("en");

/**
 * Names in a sentence: ann; ann and bob; ann, bob, and cat.
 * @param {string[]} names
 */
export const together = (names) => LISTS.format(names);

/**
 * A sentence about the winners of a game: ann won; ann and bob share the win.
 * @param {string[]} winners
 */
export const victory = (winners) =>
  winners.length > 1 ? `${together(winners)} share the win` : `${winners[0] ?? "Nobody"} won`;

/** @type {Record<string, string>} */
const FAULTS = {
  cheat: "cheated",
  illegal: "illegal answer",
  malformed: "malformed answer",
  timeout: "no answer in time",
  disconnected: "disconnected",
  withdrew: "withdrew",
  "no-show": "did not show up",
};

/** @param {string} kind */
export const fault = (kind) => FAULTS[kind] ?? kind;

/** @type {Record<string, string>} */
const DECISIONS = {
  forfeit: "forfeited",
  "no-show": "a player did not show up",
  lot: "decided by lot",
};

/**
 * How a match was decided, in words; nothing if its games decided it.
 * @param {string | undefined} how
 */
export const decided = (how) => (!how || how === "played" ? null : (DECISIONS[how] ?? how));

/** @type {Record<string, string>} */
const REPLIES = {
  open: "no reply yet",
  silent: "no reply yet",
  missed: "no reply in time",
  reserve: "on the waiting list",
};

/**
 * The reply of an invited player, in words.
 * @param {string | null} word */
export const reply = (word) => REPLIES[word ?? "open"] ?? word;
