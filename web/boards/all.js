// All boards, by the game they are for.

import "./fish.js";
import "./trains.js";
import "./yahtzee.js";

/** @typedef {import("./board.js").Board} Board */

/**
 * The board of a game; `null` if there is none.
 * @param {string} game @returns {Board | null}
 */
export function boardOf(game) {
  const name = `agon-${game}`;
  if (!customElements.get(name)) return null;
  const board = /** @type {Board} */ (document.createElement(name));
  board.classList.add("board", game);
  board.setAttribute("data-key", `board-${game}`);
  return board;
}
