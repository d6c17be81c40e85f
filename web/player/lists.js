// A player's record, in tables and lists.

import { h } from "../lib/dom.js";
import { capital, player, players, score, tally, whereAndWhen } from "../lib/show.js";
import { decided } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Account} Account */
/** @typedef {import("../lib/types.js").Statistics} Statistics */
/** @typedef {import("../lib/types.js").PlayedMatch} PlayedMatch */
/** @typedef {import("../lib/types.js").Tally} Tally */
/** @typedef {{ other: string, total: { games: Tally, matches: Tally } }} Opponent */

const OPPONENTS_MAX = 30;

/** @param {string[]} words the first is the name of the rows */
const columns = (words) =>
  h(
    "thead",
    {},
    h(
      "tr",
      {},
      words.map((word, index) => h("th", { scope: "col", class: index ? "number" : "" }, word)),
    ),
  );

/** @param {Account} account */
export function tiles({ statistics: { total } }) {
  const all = /** @type {[string, string | number][]} */ ([
    ["tournaments won", `${total.tournaments.won} / ${total.tournaments_played}`],
    ["matches won", total.matches.won],
    ["games won", total.games.won],
    ["points", total.points],
    ["faults", total.faults],
    ["cheats", total.cheats],
  ]);
  return h(
    "dl",
    { class: "tiles" },
    all.map(([word, number]) => h("div", {}, h("dt", {}, word), h("dd", {}, number))),
  );
}

/** @param {Account} account */
export function byGame({ statistics }) {
  const all = Object.entries(statistics.by_game);
  if (all.length === 0) return null;
  const cells = (/** @type {Statistics} */ one) => [
    one.rating
      ? `${Math.round(one.rating.value)} ± ${Math.round((one.rating.high - one.rating.low) / 2)}`
      : "–",
    one.rank ?? "–",
    `${one.tournaments.won} of ${one.tournaments_played}`,
    tally(one.matches),
    tally(one.games),
    one.points,
  ];
  const row = (/** @type {[string, Statistics]} */ [game, one]) =>
    h(
      "tr",
      { "data-key": game },
      h("th", { scope: "row" }, capital(game)),
      cells(one).map((text) => h("td", { class: "number" }, text)),
    );
  return h(
    "section",
    { class: "card", "aria-label": "By game", "data-key": "by game" },
    h("h2", {}, "By game"),
    h(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": "Table by game" },
      h(
        "table",
        {},
        columns(["Game", "Rating", "Rank", "Tournaments", "Matches", "Games", "Points"]),
        h("tbody", {}, all.map(row)),
      ),
    ),
  );
}

/** @param {Opponent[]} opponents */
export function versus(opponents) {
  if (opponents.length === 0) return null;
  const row = (/** @type {Opponent} */ { other, total }) =>
    h(
      "tr",
      { "data-key": other },
      h("td", {}, player(other)),
      h("td", { class: "number" }, tally(total.matches)),
      h("td", { class: "number" }, tally(total.games)),
    );
  const beyond = opponents.length - OPPONENTS_MAX;
  return h(
    "section",
    { class: "card", "aria-label": "Head to head" },
    h("h2", {}, "Head to head"),
    h(
      "table",
      { class: "versus" },
      columns(["Against", "Matches", "Games"]),
      h("tbody", {}, opponents.slice(0, OPPONENTS_MAX).map(row)),
    ),
    beyond > 0 ? h("p", { class: "soft small" }, `and ${beyond} more`) : null,
  );
}

/** @param {string} name @param {PlayedMatch[]} matches */
export function recent(name, matches) {
  return h(
    "section",
    { class: "card", "aria-label": "Recent games" },
    h("h2", {}, "Recent games"),
    matches.length === 0
      ? h("p", { class: "soft" }, "No games yet.")
      : h(
          "ul",
          { class: "entries" },
          matches.map((one) => played(name, one)),
        ),
  );
}

/** @param {string} name @param {PlayedMatch} one */
function played(name, one) {
  const { winners, how, games } = one.result;
  const won = winners.includes(name);
  const word = won ? (winners.length > 1 ? "shared" : "won") : winners.length ? "lost" : decided(how);
  return h(
    "li",
    { class: "entry", "data-key": `${one.tournament} ${one.id}` },
    h(
      "div",
      {},
      h("span", { class: `tag first ${won ? "good" : ""}` }, word),
      " against ",
      players(one.players.filter((other) => other !== name)),
      whereAndWhen(one),
    ),
    h(
      "div",
      { class: "scores" },
      games.slice(-3).map((game) => score(one.tournament, one.id, game)),
    ),
  );
}
