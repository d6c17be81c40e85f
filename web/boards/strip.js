// The players of a game in one line: symbol, name, score and clock.

import { h } from "../lib/dom.js";

/**
 * @typedef {object} Entry one player
 * @property {Node} sign the symbol of the player on the board
 * @property {string} name
 * @property {string} [about] words about the player for screen readers
 * @property {number} score
 * @property {string} unit what the score counts
 * @property {boolean} turn whether the game waits for the player
 * @property {string} [tag] a word about the state of the player
 * @property {boolean} [winner]
 */

/**
 * The symbol of a seat: a number, a colour and an outline, all three different for every seat.
 * @param {number} seat
 */
export const badge = (seat) =>
  h("span", { class: `badge seat-${seat + 1}`, "aria-hidden": "true" }, seat + 1);

/**
 * @param {Entry[]} entries @param {import("./board.js").Clock[]} clocks
 */
export function strip(entries, clocks) {
  const one = (/** @type {Entry} */ entry, /** @type {number} */ seat) => {
    const clock = clocks[seat];
    // On a phone the word before the colon leaves no space for the name.
    const kind = entry.name.startsWith("house:") ? "house:" : "";
    return h(
      "li",
      {
        class: [entry.turn ? "turn" : "", entry.winner ? "won" : ""].join(" ").trim(),
        "data-key": `player-${seat}`,
        "aria-current": entry.turn ? "true" : null,
      },
      entry.sign,
      h(
        "bdi",
        { class: "name", title: entry.name },
        kind ? h("span", { class: "prefix" }, kind) : null,
        entry.name.slice(kind.length),
      ),
      h("span", { class: "hidden" }, entry.about ?? "", entry.turn ? " to move" : ""),
      entry.tag ? h("span", { class: "tag" }, entry.tag) : null,
      h("strong", { class: "number" }, entry.score),
      h("span", { class: "unit soft small" }, entry.unit),
      h(
        "span",
        { class: clock?.short ? "clock short" : "clock", "data-clock": seat, role: "timer" },
        clock?.words ?? "",
      ),
    );
  };
  return h(
    "ol",
    {
      class: entries.length > 3 ? "players strip many" : "players strip",
      "data-key": "players",
      "aria-label": "Players",
    },
    entries.map(one),
  );
}
