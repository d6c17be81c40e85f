// The best recent game of Fish on this server, for the start page.

import { get, path } from "../lib/api.js";
import { unfold } from "../lib/changes.js";

/** @typedef {import("./game.js").Game} Game */

/** A game with fewer steps is over before a visitor understands it. */
const STEPS_MIN = 16;

/** House players whose games are worth a look. */
const STRONG = /^house:(?:level-[45]|champion|search)$/;

/**
 * Finds the game: of those between strong players the one whose loser has the most fish, so both
 * played well and the end was close.
 * @returns {Promise<Game | null>} `null` if there is none
 */
export async function recentGame() {
  const { matches } = await get("/api/v1/matches");
  const games = matches
    .filter((/** @type {any} */ { game }) => game === "fish")
    .flatMap((/** @type {any} */ match) =>
      match.result.games
        .filter((/** @type {any} */ { end, seats }) =>
          end === "played" && seats.length === 2 &&
          seats.every((/** @type {string} */ name) => STRONG.test(name)),
        )
        .map((/** @type {any} */ { game: number, scores }) => ({
          at: path`${match.tournament}/matches/${match.id}/games/${number}`,
          link: path`#/replay/${match.tournament}/${match.id}/${number}`,
          worth: Math.min(...scores),
        })),
    )
    .sort((/** @type {any} */ one, /** @type {any} */ other) => other.worth - one.worth);
  if (!games.length) return null;
  const { at, link } = games[0];
  const replay = await get(`/api/v1/tournaments/${at}/replay?changes=true`);
  if (replay.steps.length < STEPS_MIN) return null;
  const positions = unfold(replay.steps).map((/** @type {any} */ { view, answer }) => ({
    board: view.board,
    players: view.players,
    last: answer?.place ?? answer?.move?.[1] ?? null,
  }));
  return { names: replay.seats, positions, link };
}
