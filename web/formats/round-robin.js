// Everybody meets everybody: a cross-table with totals.

import { h } from "../lib/dom.js";
import { player, watched } from "../lib/show.js";
import { reportOf } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").Pairing} Pairing */

/** @type {import("./index.js").Format} */
export const roundRobin = {
  label: "everybody against everybody",
  losersLeave: false,
  rounds: ({ players, policy }) => roundsOnce(players.length) * (policy.format.cycles ?? 1),
  draw: (tournament) => {
    const { players } = tournament.plan;
    return crossTable(tournament, players, players, "Cross-table");
  },
};

/**
 * How many rounds it takes until everybody has met everybody.
 * @param {number} players
 */
export function roundsOnce(players) {
  return players % 2 ? players : players - 1;
}

/**
 * The record of one player against another: games won by each, the latest match, and whether it was won.
 * @param {Tournament} tournament @param {string} one @param {string} other
 */
function meeting(tournament, one, other) {
  const met = (tournament.pairings ?? []).filter(
    ({ players }) => players.includes(one) && players.includes(other),
  );
  const reports = met.map(({ match }) => reportOf(tournament, match));
  const games = (/** @type {string} */ name) =>
    reports.reduce(
      (sum, report) => sum + (report?.result.halves[report.players.indexOf(name)] ?? 0) / 2,
      0,
    );
  const wins = met.filter((pairing, at) => {
    const winners = pairing.overridden?.winners ?? reports[at]?.result.winners ?? [];
    return winners.length === 1 && winners[0] === one;
  });
  const pairing = met.at(-1);
  const latest = pairing?.overridden?.winners ?? reports.at(-1)?.result.winners ?? [];
  return {
    pairing,
    isOver: reports.some((report) => report),
    isLive: met.some(({ over }) => !over),
    won: latest.includes(one),
    wins: wins.length,
    games: games(one),
    against: games(other),
  };
}

/**
 * The results of the players in the lines against those in the columns, with totals.
 * @param {Tournament} tournament @param {string[]} lines @param {string[]} columns
 * @param {string} label
 */
export function crossTable(tournament, lines, columns, label) {
  const ranks = new Map(tournament.results?.standings.map((one) => [one.player, one.rank]));
  const isSquare = lines === columns;
  const line = (/** @type {string} */ one, /** @type {number} */ index) => {
    const met = columns.map((other) => (one === other ? null : meeting(tournament, one, other)));
    const sum = (/** @type {"wins" | "games" | "against"} */ what) =>
      met.reduce((total, one) => total + (one?.[what] ?? 0), 0);
    return h(
      "tr",
      { "data-key": one },
      h("th", { scope: "row" }, isSquare ? `${index + 1} ` : null, player(one)),
      met.map((one) => cell(tournament, one)),
      h("td", { class: "total number" }, sum("wins")),
      h("td", { class: "total number" }, `${sum("games")} : ${sum("against")}`),
      h("td", { class: "total number" }, ranks.get(one) ?? ""),
    );
  };
  const heads = columns.map((name, index) =>
    isSquare
      ? h("th", { scope: "col", title: name }, index + 1)
      : h("th", { scope: "col" }, player(name)),
  );
  const totals = ["Won", "Games", "Rank"].map((word) =>
    h("th", { scope: "col", class: "number" }, word),
  );
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": label },
    h(
      "table",
      { class: "cross" },
      h("thead", {}, h("tr", {}, h("td", {}), heads, totals)),
      h("tbody", {}, lines.map(line)),
    ),
  );
}

/**
 * @param {Tournament} tournament @param {ReturnType<typeof meeting> | null} met `null` for a player
 *   against themselves
 */
function cell(tournament, met) {
  if (!met) return h("td", { class: "self" }, h("span", { class: "hidden" }, "the same player"));
  const { pairing, isOver, isLive, won, games, against } = met;
  if (!pairing) return h("td", {}, h("span", { class: "soft" }, "–"));
  const text = isOver ? `${games} : ${against}` : "live";
  return h(
    "td",
    { class: won ? "won" : isLive ? "live" : "" },
    h("a", { href: watched(tournament.id, pairing.match), title: pairing.reason }, text),
    won ? h("span", { title: "won" }, " ♛") : null,
  );
}
