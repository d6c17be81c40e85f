// A tournament in words: every pairing and bye with its reason, standings, faults.

import { path } from "../lib/api.js";
import { csvButton } from "../lib/csv.js";
import { h } from "../lib/dom.js";
import { outside, player, players, score, watched } from "../lib/show.js";
import { decided, fault } from "../lib/words.js";
import { reportOf } from "./match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").Pairing} Pairing */
/** @typedef {import("../lib/types.js").Bye} Bye */
/** @typedef {import("../lib/types.js").Place} Place */

/** @param {Tournament} tournament */
export function pairings(tournament) {
  const all = tournament.pairings ?? [];
  const rounds = [...new Set(all.map(({ round }) => round))];
  const byes = (/** @type {number} */ round) =>
    tournament.results?.rounds.find((one) => one.round === round)?.byes ?? [];
  return h(
    "section",
    { class: "card", "aria-label": "Pairings" },
    h(
      "div",
      { class: "row spread" },
      h("h2", {}, "Pairings"),
      tournament.results ? csvButton(`${tournament.id}-games`, () => gamesTable(tournament)) : null,
    ),
    rounds.length === 0 ? h("p", { class: "soft" }, "The players are introducing themselves.") : null,
    rounds.map((round) =>
      h(
        "div",
        { class: "pairings", "data-key": `round ${round}` },
        h("h3", {}, `Round ${round}`),
        h(
          "ul",
          { class: "entries" },
          all.filter((pairing) => pairing.round === round).map((one) => paired(tournament, one)),
          byes(round).map(bye),
        ),
      ),
    ),
  );
}

/** @param {Tournament} tournament @param {Pairing} pairing */
function paired(tournament, pairing) {
  const report = reportOf(tournament, pairing.match);
  const how = decided(report?.result.how);
  return h(
    "li",
    { class: "entry", "data-key": pairing.match },
    h(
      "div",
      {},
      h("a", { href: watched(tournament.id, pairing.match) }, pairing.match),
      " ",
      players(pairing.players, " vs "),
      pairing.over
        ? null
        : tournament.paused
          ? h("span", { class: "tag warn" }, "paused")
          : h("span", { class: "tag good" }, "live"),
      how ? h("span", { class: "tag warn" }, how) : null,
      h("div", { class: "soft small" }, pairing.reason),
      rulings(pairing),
      voided(report?.result.games ?? []),
    ),
    h(
      "div",
      { class: "scores" },
      report?.result.games.map((game) => score(tournament.id, pairing.match, game)) ?? null,
    ),
  );
}

/** @param {Pairing} pairing */
function rulings({ overridden, replays = [] }) {
  const winners = overridden?.winners.join(", ") || "nobody";
  const ruling = (/** @type {string} */ what, /** @type {string} */ words) =>
    h("div", { class: "small" }, h("span", { class: "tag warn first" }, what), ` ${words}`);
  return [
    ...replays.map(({ by, why }) => ruling("replayed", `by ${by}: ${why}`)),
    overridden
      ? ruling("overridden", `by ${overridden.by}: ${overridden.why} (${winners} wins)`)
      : null,
  ];
}

/**
 * The games that an operator voided, with the reasons.
 * @param {import("../lib/types.js").GameResult[]} games
 */
const voided = (games) =>
  games.map(({ game, voided }) =>
    voided
      ? h(
          "div",
          { class: "small" },
          h("span", { class: "tag warn first" }, `game ${game} void`),
          ` by ${voided.by}: ${voided.why}`,
        )
      : null,
  );

/** @param {Bye} one */
function bye({ player: name, walkover, reason }) {
  const words = h("div", { class: "soft small" }, reason);
  const tag = h("span", { class: "tag" }, walkover ? "walkover" : "bye");
  return h("li", { class: "entry" }, h("div", {}, name ? player(name) : "Nobody", tag, words));
}

/** @param {Tournament} tournament */
export function standings({ id, results }) {
  if (!results) return null;
  const ranked = rankedBy(results.standings);
  const head = ["#", "Player", ...ranked.map(words), "Matches", "Games", "Points"];
  return h(
    "section",
    { class: "card", "aria-label": "Standings" },
    h(
      "div",
      { class: "row spread" },
      h("h2", {}, "Standings"),
      csvButton(`${id}-standings`, () => standingsTable(results.standings, ranked)),
    ),
    h(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": "Table of standings" },
      h(
        "table",
        { id: "standings" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((word, index) =>
              h("th", { scope: "col", class: index > 1 ? "number" : "" }, word),
            ),
          ),
        ),
        h("tbody", {}, results.standings.map((one) => place(one, ranked))),
      ),
    ),
  );
}

/**
 * The numbers by which the format ranks. In stages not everybody has all of them.
 * @param {Place[]} places
 */
function rankedBy(places) {
  const names = places.flatMap((one) => (one.tie_breaks ?? []).map(({ by }) => by));
  return [...new Set(names)].filter((name) => name !== "points");
}

/**
 * Returns whether the standings have more columns than fit beside the pairings.
 * @param {Tournament} tournament
 */
export const isWide = ({ results }) => rankedBy(results?.standings ?? []).length > 0;

/**
 * The standings as a table for a file.
 * @param {Place[]} places @param {string[]} ranked
 */
function standingsTable(places, ranked) {
  const tallies = ["won", "lost", "drawn"].map((word) => `matches ${word}`);
  const games = ["won", "lost", "tied"].map((word) => `games ${word}`);
  return {
    head: ["rank", "player", ...ranked, ...tallies, ...games, "points", "faults"],
    rows: places.map((one) => [
      one.rank,
      one.player,
      ...ranked.map((name) => one.tie_breaks?.find(({ by }) => by === name)?.value),
      one.matches_won,
      one.matches_lost,
      one.matches_drawn,
      one.games_won,
      one.games_lost,
      one.games_tied,
      one.points,
      one.faults.length,
    ]),
  };
}

/**
 * Every game of a tournament as a table for a file.
 * @param {Tournament} tournament
 */
function gamesTable({ results }) {
  const matches = results?.rounds.flatMap(({ round, matches }) =>
    matches.map((report) => ({ round, report })),
  );
  return {
    head: ["round", "match", "game", "seats", "scores", "winners", "end", "voided because"],
    rows: (matches ?? []).flatMap(({ round, report }) =>
      report.result.games.map((game) => [
        round,
        report.id,
        game.game,
        game.seats.join("; "),
        game.scores.join("; "),
        game.winners.join("; "),
        game.end,
        game.voided?.why,
      ]),
    ),
  };
}

/** @param {string} name */
function words(name) {
  if (name === "sonneborn-berger") return "Sonneborn-Berger";
  return name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");
}

/** @param {Place} one @param {string[]} ranked */
function place(one, ranked) {
  const tally = (/** @type {number[]} */ ...[won, lost, drawn]) =>
    `${won}–${lost}${drawn ? `–${drawn}` : ""}`;
  const values = ranked.map((name) => one.tie_breaks?.find(({ by }) => by === name)?.value ?? "");
  const numbers = [
    ...values,
    tally(one.matches_won, one.matches_lost, one.matches_drawn),
    tally(one.games_won, one.games_lost, one.games_tied),
    one.points,
  ];
  return h(
    "tr",
    { "data-key": one.player },
    h("td", {}, one.rank),
    h("td", {}, player(one.player)),
    numbers.map((number) => h("td", { class: "number" }, number)),
  );
}

/** @param {Tournament} tournament */
export function faults({ id, results }) {
  const all = results?.standings.flatMap((one) => one.faults) ?? [];
  if (all.length === 0) return null;
  return h(
    "section",
    { class: "card", "aria-label": "Faults", "data-key": "faults" },
    h("h2", {}, "Faults"),
    h(
      "ul",
      { class: "entries" },
      all.map((one) => faulted(id, one)),
    ),
  );
}

/** @param {string} id @param {Place["faults"][0]} one */
function faulted(
  id,
  [
    match,
    {
      player: name,
      game,
      fault: { kind, code },
    },
  ],
) {
  const where =
    match === "-"
      ? null
      : [" in ", h("a", { href: watched(id, match) }, match), game ? `, game ${game}` : ""];
  return h(
    "li",
    { class: "entry" },
    h(
      "div",
      {},
      player(name),
      h("span", { class: "tag bad" }, fault(kind)),
      h("div", { class: "soft small" }, h("code", {}, code), where),
    ),
  );
}

/** @param {Tournament} tournament */
export function downloads({ id, standing, head }) {
  if (standing !== "over") return null;
  const at = path`/api/v1/tournaments/${id}`;
  return h(
    "div",
    { class: "soft small" },
    head
      ? h(
          "p",
          { class: "chain-head" },
          "Head of the log: ",
          h("code", {}, head),
          ". It covers every event of the tournament and its matches. Keep it: later, ",
          h("code", {}, "agon verify --head"),
          " shows whether somebody changed the log.",
        )
      : null,
    h("a", { href: `${at}/log`, download: `${id}.jsonl` }, "Log"),
    " · ",
    outside(`${at}/report`, "Report"),
    " · ",
    outside(at, "As JSON"),
  );
}
