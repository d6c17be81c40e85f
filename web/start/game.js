// The game on the start page of a server on which nobody has played Fish yet: the strongest house
// players, 42 to 40 on a board of 8 by 4.
//
// The referee of the page replays it, so only the board and the answers are stored.

import { slidAll } from "../lib/moves.js";
import { Referee } from "../referees/fish.js";

/** The fish on each tile. */
const BOARD = "4531 3345 4544 5354 4445 2222 4124 2152";

/** The answers: a seat and a tile to place a penguin, or a seat and two tiles to move one. */
const ANSWERS =
  "023 121 001 132 042 133 030 120 00122 13272 03040 17241 02343 12102 02203 14150 04060 " +
  "13373 04363 15061 04251 10211 06070 16171 05131 17152 06353 12000 00313 10010 15262";

const NAMES = ["Champion", "Challenger"];

/**
 * A position of the game.
 * @typedef {object} Position
 * @property {number[][]} board the fish on each tile; 0 where there is water
 * @property {{ places: [number, number][], score: number }[]} players
 * @property {[number, number] | null} last where the latest penguin is now
 */

/**
 * A game to watch.
 * @typedef {object} Game
 * @property {string[]} names the two players
 * @property {Position[]} positions from the empty board to the end
 * @property {string} link where its replay is; empty if it has none
 */

/** @returns {Game} */
export const bundledGame = () => ({ names: NAMES, positions: positions(), link: "" });

/**
 * The same game, for the replayer.
 * @returns {import("../lib/replayer.js").Replay}
 */
export function bundledReplay() {
  const colors = ["red", "white"];
  const views = positions().map(({ board, players }) => ({
    board,
    phase: "move",
    turn: null,
    penguins: 6 - NAMES.length,
    players: players.map((player, seat) => ({ ...player, color: colors[seat], removed: false })),
    since: [],
  }));
  const moves = slidAll(views.map((view) => ({ view })));
  const scores = views[views.length - 1].players.map(({ score }) => score);
  return {
    tournament: "",
    match: "",
    game: "fish",
    number: 1,
    seats: NAMES,
    result: { end: "played", winners: [NAMES[0]], scores },
    steps: views.map((view, at) => ({
      at: 0,
      event: at ? "answer-accepted" : "game-started",
      seat: moves[at - 1]?.seat,
      tells: moves[at - 1]?.what,
      view,
    })),
  };
}

/** @returns {Position[]} */
function positions() {
  const board = BOARD.split(" ").map((row) => [...row].map(Number));
  const game = new Referee({ board }, NAMES.length, new Uint8Array());
  const shot = (/** @type {[number, number] | null} */ last) => structuredClone({
    board: game.board,
    players: game.players.map(({ places, score }) => ({ places, score })),
    last,
  });
  const all = [shot(null)];
  for (const answer of ANSWERS.split(" ")) {
    const [seat, ...at] = [...answer].map(Number);
    const [from, to] = /** @type {[number, number][]} */ ([
      [at[0], at[1]],
      [at[2], at[3]],
    ]);
    game.take(seat, at.length > 2 ? { move: [from, to] } : { place: from });
    all.push(shot(at.length > 2 ? to : from));
  }
  return all;
}
