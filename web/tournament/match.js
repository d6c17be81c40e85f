// A match of a tournament: its players, its result, and a link to it.

import { h } from "../lib/dom.js";
import { player, score, watched } from "../lib/show.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").Pairing} Pairing */

/**
 * The result of a match so far.
 * @param {Tournament} tournament @param {string} match
 */
export function reportOf({ results }, match) {
  const all = results?.rounds.flatMap((round) => round.matches) ?? [];
  return all.find((report) => report.id === match);
}

/**
 * A match: its players, its winners, and a link to it.
 * @param {Tournament} tournament @param {Pairing} pairing
 */
export function match(tournament, pairing) {
  const report = reportOf(tournament, pairing.match);
  const winners = pairing.overridden?.winners ?? report?.result.winners ?? [];
  const rows = pairing.players.map((name, index) => {
    const won = winners.includes(name);
    const points = report ? report.result.halves[index] / 2 : null;
    return h(
      "div",
      { class: won ? "seat won" : report ? "seat lost" : "seat" },
      player(name),
      won ? h("span", { class: "crown" }, "♛", h("span", { class: "hidden" }, " won")) : null,
      points === null ? null : h("span", { class: "number" }, points),
    );
  });
  const status = pairing.over
    ? report?.result.how === "played"
      ? null
      : report?.result.how
    : tournament.paused
      ? "paused"
      : "live";
  return h(
    "div",
    { class: `match ${pairing.over ? "over" : tournament.paused ? "still" : "live"}`, title: pairing.reason },
    rows,
    h(
      "div",
      { class: "foot" },
      h(
        "a",
        { href: watched(tournament.id, pairing.match), "aria-label": `Match ${pairing.match}` },
        pairing.match,
      ),
      status ? h("span", { class: `tag ${status === "live" ? "good" : "warn"}` }, status) : null,
      h(
        "span",
        { class: "scores" },
        report?.result.games.slice(-2).map((game) => score(tournament.id, pairing.match, game)) ??
          null,
      ),
    ),
  );
}

/**
 * A player without an opponent in a round, with the reason.
 * @param {{ player?: string | null, reason: string }} one
 */
export function bye(one) {
  return h(
    "div",
    { class: "match empty", title: one.reason },
    one.player ? player(one.player) : null,
    h("span", { class: "tag" }, "bye"),
  );
}
