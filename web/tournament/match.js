// A match of a tournament: its players, its score so far or its result, and links to its games.

import { h } from "../lib/dom.js";
import { player, score, watched } from "../lib/show.js";
import { decided } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").Pairing} Pairing */

/** The most games whose scores are listed; longer matches show the games won only. */
export const LISTED_MAX = 9;

/**
 * The result of a match so far.
 * @param {Tournament} tournament @param {string} match
 */
export function reportOf({ results }, match) {
  const all = results?.rounds.flatMap((round) => round.matches) ?? [];
  return all.find((report) => report.id === match);
}

/**
 * A match: its players, its winners, and a link to it. A compact match has one line per player and
 * nothing else.
 * @param {Tournament} tournament @param {Pairing} pairing @param {boolean} [compact]
 */
export function match(tournament, pairing, compact = false) {
  const report = reportOf(tournament, pairing.match);
  const live = pairing.over ? undefined : tournament.live?.get(pairing.match);
  const winners = pairing.overridden?.winners ?? report?.result.winners ?? [];
  const numbers = numbersOf(pairing, report?.result, live);
  const rows = pairing.players.map((name, index) => {
    const won = winners.includes(name);
    const points = live?.game?.points[live.game.seats.indexOf(name)];
    return h(
      "div",
      { class: won ? "seat won" : report ? "seat lost" : "seat" },
      player(name),
      won
        ? h("span", { class: "crown" }, compact ? "" : "♛", h("span", { class: "hidden" }, " won"))
        : null,
      points === undefined
        ? null
        : h("span", { class: "points", title: `Points in game ${live?.game?.number}` }, points),
      numbers ? h("span", { class: "number" }, numbers[index]) : null,
    );
  });
  const address = watched(tournament.id, pairing.match);
  const state = pairing.over ? "over" : tournament.paused ? "still" : "live";
  const look = `match ${state}${compact ? " compact" : ""}`;
  if (compact) {
    const label = `Match ${pairing.match}: ${pairing.players.join(" vs ")}`;
    const link = h("a", { class: "cover", href: address, "aria-label": label, title: pairing.reason });
    return h("div", { class: look }, rows, link);
  }
  return h("div", { class: look, title: pairing.reason }, rows, foot(tournament, pairing, report));
}

/**
 * The number beside each player: games won, or the points if one game decides.
 * @param {Pairing} pairing @param {import("../lib/types.js").MatchResult} [result]
 * @param {import("../lib/types.js").LiveScore} [live]
 */
function numbersOf({ players }, result, live) {
  if (result) {
    const [only] = result.games;
    if (result.games.length === 1 && only.end === "played")
      return players.map((name) => only.scores[only.seats.indexOf(name)]);
    return players.map((_, index) => result.halves[index] / 2);
  }
  if (!live || live.best_of === 1) return null;
  return players.map((name) => live.won[live.players.indexOf(name)]);
}

/**
 * The name of a match, how it ended, and its games.
 * @param {Tournament} tournament @param {Pairing} pairing
 * @param {import("../lib/types.js").MatchReport} [report]
 */
function foot(tournament, pairing, report) {
  const address = watched(tournament.id, pairing.match);
  const how = decided(report?.result.how);
  const status = pairing.over ? how : tournament.paused ? "paused" : "live";
  const games = report?.result.games ?? [];
  return h(
    "div",
    { class: "foot" },
    h("a", { href: address, "aria-label": `Match ${pairing.match}` }, pairing.match),
    status ? h("span", { class: `tag ${status === "live" ? "good" : "warn"}` }, status) : null,
    h(
      "span",
      { class: "scores" },
      games.length > LISTED_MAX
        ? h("a", { href: address }, `${games.length} games`)
        : games.map((game) => score(tournament.id, pairing.match, game)),
    ),
  );
}

/**
 * A player without an opponent in a round, with the reason.
 * @param {{ player?: string | null, reason: string, walkover?: string }} one
 */
export function bye(one) {
  return h(
    "div",
    { class: "match empty", title: one.reason },
    one.player ? player(one.player) : "Nobody",
    h("span", { class: "tag" }, one.walkover ? "walkover" : "bye"),
  );
}
