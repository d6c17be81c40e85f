// All boards, by the game they are for. Replays need them at once; other views use load.js.

import { created } from "./board.js";
import "./fish.js";
import "./trains.js";
import "./yahtzee.js";

/** @typedef {import("./board.js").Board} Board */

/**
 * The board of a game; `null` if there is none.
 * @param {string} game @returns {Board | null}
 */
export function boardOf(game) {
  return created(game);
}
