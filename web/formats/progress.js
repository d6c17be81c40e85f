// Swiss, arena and until-sure: a table with one line per player and one column per round, with
// totals.

import { h } from "../lib/dom.js";
import { player, watched } from "../lib/show.js";
import { reportOf } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const swiss = {
  label: "Swiss",
  losersLeave: false,
  rounds: ({ players, policy }, paired) => {
    const { rounds, max = 2 } = policy.format;
    return rounds ?? Math.max(paired, 1, Math.ceil(Math.log(players.length) / Math.log(max)));
  },
  draw: drawProgress,
};

/** @type {import("./index.js").Format} */
export const arena = {
  label: "arena",
  losersLeave: false,
  rounds: ({ policy }, paired) => policy.format.rounds ?? paired,
  draw: drawProgress,
};

/** @type {import("./index.js").Format} */
export const untilSure = {
  label: "until sure",
  losersLeave: false,
  rounds: (_, paired) => paired,
  draw: drawProgress,
};

/**
 * One line per player in the order of the standings, one column per round.
 * @param {Tournament} tournament
 */
export function drawProgress(tournament) {
  const standings = new Map(tournament.results?.standings.map((one) => [one.player, one]));
  const ranked = tournament.results?.standings.map((place) => place.player);
  const names = ranked ?? tournament.plan.players;
  const before = tournament.before ?? 0;
  const last = Math.max(before, ...(tournament.pairings ?? []).map(({ round }) => round));
  const rounds = Array.from({ length: last - before }, (_, index) => before + index + 1);
  const places = new Map(names.map((name, index) => [name, index + 1]));
  const totals = ["Matches", "Games", "Rank"];
  const legend = "+2: a win against the player in line 2. −2: a loss. =2: a shared win.";
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Progress table" },
    h(
      "table",
      { class: "cross progress" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          rounds.map((round) => h("th", { scope: "col" }, `Round ${round}`)),
          totals.map((word) => h("th", { scope: "col", class: "number" }, word)),
        ),
      ),
      h(
        "tbody",
        {},
        names.map((name, index) =>
          h(
            "tr",
            { "data-key": name },
            h("th", { scope: "row" }, `${index + 1} `, player(name)),
            rounds.map((round) => cell(tournament, name, round, places)),
            totalsOf(standings.get(name)).map((value) =>
              h("td", { class: "total number" }, value),
            ),
          ),
        ),
      ),
    ),
    h("p", { class: "soft small" }, legend),
  );
}

/**
 * Matches and games won and lost, and the rank.
 * @param {import("../lib/types.js").Place} [place]
 */
function totalsOf(place) {
  if (!place) return ["", "", ""];
  const tally = (/** @type {number[]} */ ...[won, lost, drawn]) =>
    `${won}–${lost}${drawn ? `–${drawn}` : ""}`;
  return [
    tally(place.matches_won, place.matches_lost, place.matches_drawn),
    tally(place.games_won, place.games_lost, place.games_tied),
    place.rank,
  ];
}

/**
 * A player's part in a round: the opponents by their place in the table, and the result.
 * @param {Tournament} tournament @param {string} name @param {number} round
 * @param {Map<string, number>} places
 */
function cell(tournament, name, round, places) {
  const pairing = tournament.pairings?.find(
    (one) => one.round === round && one.players.includes(name),
  );
  if (!pairing) {
    const byes = tournament.results?.rounds.find((one) => one.round === round)?.byes ?? [];
    const bye = byes.find((one) => one.player === name);
    return h("td", {}, h("span", { class: "soft", title: bye?.reason }, bye ? "bye" : "–"));
  }
  const report = reportOf(tournament, pairing.match);
  const winners = pairing.overridden?.winners ?? report?.result.winners ?? [];
  const won = winners.includes(name);
  // As in chess: +6 is a win against the player in line 6.
  const sign = !report ? "live " : !won ? "−" : winners.length > 1 ? "=" : "+";
  const others = pairing.players.filter((one) => one !== name);
  const opponents = others.map((one) => places.get(one) ?? one).join(", ");
  return h(
    "td",
    { class: won ? "won" : "" },
    h(
      "a",
      {
        href: watched(tournament.id, pairing.match),
        title: `against ${others.join(", ")}: ${pairing.reason}`,
      },
      `${sign}${opponents}`,
    ),
  );
}
