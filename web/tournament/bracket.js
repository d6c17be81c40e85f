// Who meets whom, drawn: a bracket, rounds of a knock-out, or a table of everybody against
// everybody.

import { h } from "../lib/dom.js";
import { roundsOf, slotsOf } from "../lib/pace.js";
import { player, score, watched } from "../lib/show.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").Pairing} Pairing */
/** @typedef {import("../lib/types.js").MatchReport} MatchReport */

/**
 * The drawing that fits the format.
 * @param {Tournament} tournament
 */
export function drawing(tournament) {
  const kind = tournament.plan.policy.format.kind;
  if (kind === "bracket") return bracket(tournament);
  return kind === "round-robin" ? crossTable(tournament) : rounds(tournament);
}

/**
 * What came of a match so far.
 * @param {Tournament} tournament @param {string} match
 */
export function reportOf({ results }, match) {
  const all = results?.rounds.flatMap((round) => round.matches) ?? [];
  return all.find((report) => report.id === match);
}

/** @param {number} round @param {number} rounds */
function named(round, rounds) {
  const left = rounds - round;
  return left === 0
    ? "Final"
    : left === 1
      ? "Semi-finals"
      : left === 2
        ? "Quarter-finals"
        : `Round ${round}`;
}

/** @param {Tournament} tournament */
function bracket(tournament) {
  const count = roundsOf(tournament);
  const slots = slotsOf(tournament.plan);
  const columns = Array.from({ length: count }, (_, index) => {
    const round = index + 1;
    const byes = [...(tournament.results?.rounds[index]?.byes ?? [])];
    const paired =
      (tournament.pairings ?? []).some((pairing) => pairing.round === round) || byes.length > 0;
    const places = Array.from({ length: slots / 2 ** round }, (_, place) => {
      const pairing = tournament.pairings?.find(({ match }) => match === `r${round}m${place + 1}`);
      const key = `r${round}m${place + 1}`;
      if (pairing) return h("li", { "data-key": key }, match(tournament, pairing));
      const bye = paired ? byes.shift() : undefined;
      return h(
        "li",
        { "data-key": key },
        h(
          "div",
          { class: "match empty", title: bye?.reason },
          bye
            ? bye.player
              ? [player(bye.player), h("span", { class: "tag" }, bye.walkover ? "walkover" : "bye")]
              : "no match"
            : "to be decided",
        ),
      );
    });
    return h("li", { class: "round" }, h("h3", {}, named(round, count)), h("ol", {}, places));
  });
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Bracket" },
    h("ol", { class: "bracket" }, columns),
  );
}

/** @param {Tournament} tournament */
function rounds(tournament) {
  const count = Math.max(1, ...(tournament.pairings ?? []).map(({ round }) => round));
  const columns = Array.from({ length: count }, (_, index) => {
    const own = (tournament.pairings ?? []).filter(({ round }) => round === index + 1);
    const byes = tournament.results?.rounds[index]?.byes ?? [];
    return h(
      "li",
      { class: "round" },
      h("h3", {}, `Round ${index + 1}`),
      h(
        "ol",
        {},
        own.map((pairing) => h("li", { "data-key": pairing.match }, match(tournament, pairing))),
        byes.map((bye) =>
          h(
            "li",
            {},
            h(
              "div",
              { class: "match empty", title: bye.reason },
              bye.player ? player(bye.player) : null,
              h("span", { class: "tag" }, "bye"),
            ),
          ),
        ),
      ),
    );
  });
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Rounds" },
    h("ol", { class: "bracket loose" }, columns),
  );
}

/**
 * A match: its players, who won, and where to see it.
 * @param {Tournament} tournament @param {Pairing} pairing */
function match(tournament, pairing) {
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
    : "live";
  return h(
    "div",
    { class: `match ${pairing.over ? "over" : "live"}`, title: pairing.reason },
    rows,
    h(
      "div",
      { class: "foot" },
      h(
        "a",
        { href: watched(tournament.id, pairing.match), "aria-label": `Match ${pairing.match}` },
        pairing.match,
      ),
      status ? h("span", { class: `tag ${pairing.over ? "warn" : "good"}` }, status) : null,
      h(
        "span",
        { class: "scores" },
        report?.result.games.slice(-2).map((game) => score(tournament.id, pairing.match, game)) ??
          null,
      ),
    ),
  );
}

/** @param {Tournament} tournament */
function crossTable(tournament) {
  const names = tournament.plan.players;
  const cell = (/** @type {string} */ one, /** @type {string} */ other) => {
    if (one === other) return h("td", { class: "self" }, h("span", { class: "hidden" }, "itself"));
    const pairing = tournament.pairings?.find(
      ({ players }) => players.includes(one) && players.includes(other),
    );
    if (!pairing) return h("td", {}, h("span", { class: "soft" }, "–"));
    const report = reportOf(tournament, pairing.match);
    const half = (/** @type {string} */ name) =>
      (report?.result.halves[report.players.indexOf(name)] ?? 0) / 2;
    const won = (pairing.overridden?.winners ?? report?.result.winners ?? []).includes(one);
    const text = report ? `${half(one)} : ${half(other)}` : "live";
    return h(
      "td",
      { class: won ? "won" : "" },
      h("a", { href: watched(tournament.id, pairing.match), title: pairing.reason }, text),
      won ? h("span", { title: "won" }, " ♛") : null,
    );
  };
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Cross-table" },
    h(
      "table",
      { class: "cross" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("td", {}),
          names.map((_, index) => h("th", { scope: "col" }, index + 1)),
        ),
      ),
      h(
        "tbody",
        {},
        names.map((one, index) =>
          h(
            "tr",
            { "data-key": one },
            h("th", { scope: "row" }, `${index + 1} `, player(one)),
            names.map((other) => cell(one, other)),
          ),
        ),
      ),
    ),
  );
}
