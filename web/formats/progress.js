// Swiss, arena, gauntlet and until-sure: a table with one line per player and one column per round.

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
  draw,
};

/** @type {import("./index.js").Format} */
export const arena = {
  label: "arena",
  losersLeave: false,
  rounds: ({ policy }, paired) => policy.format.rounds ?? paired,
  draw,
};

/** @type {import("./index.js").Format} */
export const gauntlet = {
  label: "gauntlet",
  losersLeave: false,
  rounds: ({ players, policy }) => {
    const { challengers = 1, cycles = 1 } = policy.format;
    return Math.max(challengers, players.length - challengers) * cycles;
  },
  draw,
};

/** @type {import("./index.js").Format} */
export const untilSure = {
  label: "until sure",
  losersLeave: false,
  rounds: (_, paired) => paired,
  draw,
};

/** @param {Tournament} tournament */
function draw(tournament) {
  const ranked = tournament.results?.standings.map((place) => place.player);
  const names = ranked ?? tournament.plan.players;
  const before = tournament.before ?? 0;
  const last = Math.max(before, ...(tournament.pairings ?? []).map(({ round }) => round));
  const rounds = Array.from({ length: last - before }, (_, index) => before + index + 1);
  const places = new Map(names.map((name, index) => [name, index + 1]));
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
          ),
        ),
      ),
    ),
  );
}

/**
 * What a player did in a round: the opponents by their place in the table, and the result.
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
  const result = !report ? "live" : won ? (winners.length > 1 ? "½" : "1") : "0";
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
      `${result} : ${opponents}`,
    ),
  );
}
