// The surroundings of a board: whose turn it is, the time left, and the list of moves.

import { h } from "./dom.js";
import { counted, victory } from "./words.js";

/**
 * A time for display: 0:07.
 * @param {number} ms
 */
export function clock(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** The colours of penguins, by seat. */
const COLORS = ["red", "white", "brown", "black"];

/**
 * The symbol of a player, as on the board of the game.
 * @param {string} game @param {number} seat
 */
function sign(game, seat) {
  if (game !== "fish")
    return h("span", { class: `badge seat-${seat + 1}`, "aria-hidden": "true" }, seat + 1);
  return h(
    "span",
    { class: `flag ${COLORS[seat]}`, "aria-hidden": "true" },
    COLORS[seat] === "black" ? "K" : COLORS[seat][0].toUpperCase(),
  );
}

/**
 * The moves, the latest first.
 * @param {string} game @param {import("./moves.js").Move[]} moves @param {string[]} names
 */
export function moveList(game, moves, names) {
  const lines = moves.map(({ seat, what }, at) =>
    h(
      "li",
      { class: "line", "data-key": `move-${at}` },
      sign(game, seat),
      " ",
      h("bdi", {}, names[seat] ?? ""),
      ` ${what}`,
    ),
  );
  return h(
    "section",
    { class: "card", "data-key": "moves" },
    h("h2", {}, "Moves"),
    moves.length
      ? h(
          "ol",
          { class: "moves", tabindex: "0", "aria-label": "Moves, the latest first" },
          lines.reverse(),
        )
      : h("p", { class: "soft" }, "No moves yet."),
  );
}

/**
 * The score of a match.
 * @param {any} match what every request and every event says of it
 * @param {boolean} [over] whether the match is over
 */
export function standing(match, over = false) {
  if (!match) return null;
  const { players, won, best_of: best, game, games } = match;
  if (!best) return null;
  const score = players
    .map((/** @type {string} */ name, /** @type {number} */ at) => `${name} ${won[at] ?? 0}`)
    .join(" : ");
  const isSingle = best === 1 && (over ? games.length === 1 : games.length < 2);
  return h(
    "p",
    { class: "soft", "data-key": "standing" },
    isSingle
      ? `One game ${over ? "decided" : "decides"} the match`
      : over
        ? `Best of ${best}; ${counted(games.length, "game")} played: ${score}`
        : `Best of ${best}, game ${game}; won so far: ${score}`,
  );
}

/**
 * The end of a game, as text.
 * @param {any} result
 */
export function ending(result) {
  const { end, winners = [], scores = [], seats = [] } = result;
  const points = seats
    .map((/** @type {string} */ name, /** @type {number} */ seat) => `${name} ${scores[seat] ?? 0}`)
    .join(", ");
  if (end === "void")
    return result.voided
      ? `The game is void, ruled by ${result.voided.by}: ${result.voided.why}.`
      : "The game is void.";
  return `${victory(winners)}: ${end === "forfeited" ? "the game was forfeited" : points}.`;
}
