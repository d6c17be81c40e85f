// The moves of a game, derived from its public view: sentences for a list of moves, and whose turn
// it is. They reveal nothing that a public view does not show.

import { same } from "../rules/fish.js";
import { counted } from "./words.js";

/** @typedef {{ seat: number, what: string }} Move */

/**
 * The seats that have an open request, as far as that is public.
 * @param {string} game @param {any} view @returns {number[]}
 */
export function waitedFor(game, view) {
  if (game === "yahtzee") return view.unfinished;
  return view.turn === null || view.turn === undefined ? [] : [view.turn];
}

/**
 * How far a game has progressed: a number that never decreases.
 * @param {string} game @param {any} view @returns {number}
 */
export function progress(game, view) {
  if (game === "yahtzee") return view.history.length;
  if (game === "trains") return view.history.length;
  const holes = view.board.flat().filter((/** @type {number} */ fish) => fish === 0).length;
  return (
    holes * 10 +
    view.players.reduce(
      (/** @type {number} */ sum, /** @type {any} */ player) => sum + player.places.length,
      0,
    )
  );
}

/**
 * The moves that a view lists itself.
 * @param {string} game @param {any} view @returns {Move[]}
 */
export function movesIn(game, view) {
  if (game === "yahtzee") return view.history.flatMap(turn);
  if (game === "trains") return view.history.map(deed);
  return [];
}

/** @param {import("../rules/yahtzee.js").Play[]} plays @param {number} number */
function turn(plays, number) {
  return plays.map((play, seat) => {
    const { box, points, bonus } = play.scored ?? { box: "nothing", points: 0, bonus: 0 };
    const dice = play.rolls.at(-1)?.join(" ");
    const gain = bonus ? `${points} and ${bonus}` : points;
    const what = `turn ${number + 1}: ${dice} in ${box.replaceAll("-", " ")}, ${gain}`;
    return { seat, what };
  });
}

/** @param {{ seat: number, did: any }} action */
function deed({ seat, did }) {
  if (did === "picked") return { seat, what: "picks destinations" };
  if (did === "removed") return { seat, what: "is out of the game" };
  if (did.drew !== undefined)
    return { seat, what: did.drew ? `draws ${counted(did.drew, "card")}` : "asks for cards, but the deck is used up" };
  const [from, to, color, length] = did.acquired;
  return { seat, what: `takes ${from} – ${to} (${color}, ${length})` };
}

/**
 * The moves between two positions on the ice.
 * @param {import("../rules/fish.js").View} before
 * @param {import("../rules/fish.js").View} after
 * @returns {Move[]}
 */
export function slid(before, after) {
  return after.players.flatMap((player, seat) => {
    const old = before.players[seat];
    if (player.removed && !old.removed) return [{ seat, what: "is out of the game" }];
    const placed = player.places
      .slice(old.places.length)
      .map((at) => ({ seat, what: `places a penguin at ${at}` }));
    const moved = old.places.flatMap((from, number) => {
      const to = player.places[number];
      if (!to || same(from, to)) return [];
      return [
        { seat, what: `slides from ${from} to ${to}: ${before.board[from[0]][from[1]]} fish` },
      ];
    });
    return [...placed, ...moved];
  });
}

/**
 * All moves on the ice, from all positions.
 * @param {{ view?: any }[]} positions @returns {Move[]}
 */
export const slidAll = (positions) =>
  positions.flatMap(({ view }, at) => (at ? slid(positions[at - 1].view, view) : []));
