// The board of one game, loaded when the first match of that game is shown.

import { created } from "./board.js";

/** @typedef {import("./board.js").Board} Board */

/**
 * The modules of the boards, by game.
 * @type {Record<string, () => Promise<unknown>>}
 */
const MODULES = {
  fish: () => import("./fish.js"),
  trains: () => import("./trains.js"),
  yahtzee: () => import("./yahtzee.js"),
};

/**
 * The board of a game; `null` if there is none.
 * @param {string} game @returns {Promise<Board | null>}
 */
export async function loadBoard(game) {
  if (!Object.hasOwn(MODULES, game)) return null;
  await MODULES[game]();
  return created(game);
}
