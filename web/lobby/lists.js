// Lists of the lobby: tournaments by standing, and what was played lately.

import { del, path, post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { capital, date, player, players, score, standing } from "../lib/show.js";
import { tournament, whereAndWhen } from "../lib/show.js";

/** @typedef {import("./known.js").Known} Known */
/** @typedef {import("./known.js").Act} Act */
/** @typedef {import("../lib/types.js").Listed} Listed */
/** @typedef {import("../lib/types.js").PlayedMatch} PlayedMatch */

/** How many are shown at once. */
const SHOWN_MAX = 12;
const PAST_MAX = 5;

/**
 * Tournaments of these standings. Without any there is no section.
 * @param {Known} known @param {Act} act
 * @param {{ title: string, standings: string[] }} what
 */
export function tournaments(known, act, { title, standings }) {
  const all = known.lobby?.tournaments.filter((one) => standings.includes(one.standing)) ?? [];
  if (all.length === 0) return null;
  const entries = (/** @type {Listed[]} */ some) =>
    h(
      "ul",
      { class: "entries" },
      some.map((one) => entry(known, act, one)),
    );
  const more = all.slice(SHOWN_MAX);
  return h(
    "section",
    { class: "card", "aria-label": title, "data-key": title },
    h("h2", {}, title),
    entries(all.slice(0, SHOWN_MAX)),
    more.length ? h("details", {}, h("summary", {}, `${more.length} more`), entries(more)) : null,
  );
}

/** @param {Known} known @param {Act} act @param {Listed} one */
function entry({ mine }, act, one) {
  const signed = one.standing === "open" && mine.signed.has(one.id);
  return h(
    "li",
    { class: "entry", "data-key": `${one.standing} ${one.id}` },
    h(
      "div",
      {},
      h("strong", {}, tournament(one.id, "cover")),
      standing(one.interrupted ? "interrupted" : one.paused ? "paused" : one.standing),
      signed ? h("span", { class: "tag good" }, "✓ you signed up") : null,
      h("div", { class: "soft small" }, about(one)),
    ),
    one.standing === "running"
      ? h("a", { class: "button plain", href: path`#/tournament/${one.id}` }, "Watch")
      : one.standing === "open"
        ? joining(act, one.id, signed)
        : null,
  );
}

/** @param {Listed} one */
function about({ game, players: count, standing, reason }) {
  if (!game) return reason ?? null;
  const noun = count === 1 ? "player" : "players";
  return `${capital(game)} · ${count} ${noun}${standing === "running" ? "" : " so far"}`;
}

/** @param {Act} act @param {string} id @param {boolean} signed */
function joining(act, id, signed) {
  const at = path`/api/v1/tournaments/${id}/signups`;
  const up = `You signed up for ${id}. The tournament starts by itself; keep this tab open.`;
  const [word, look, onclick] = signed
    ? ["Withdraw", "plain", act(() => del(at), `You withdrew from ${id}.`)]
    : ["Sign up", "", act(() => post(at), up, "#/play")];
  const label = `${word}: ${id}`;
  return h("button", { type: "button", class: look, "aria-label": label, onclick }, word);
}

/**
 * The latest finished tournaments, with date, game and winner.
 * @param {Known} known */
export function pastTournaments({ past }) {
  if (past.length === 0) return null;
  return h(
    "section",
    { class: "card", "aria-label": "Past tournaments", "data-key": "past" },
    h("h2", {}, "Past tournaments"),
    h("ul", { class: "entries" }, past.slice(0, PAST_MAX).map(pastEntry)),
    h("p", { class: "small" }, h("a", { href: "#/archive" }, `All ${past.length} past tournaments`)),
  );
}

/**
 * A finished tournament in a list.
 * @param {import("../lib/types.js").PastTournament} one
 */
export function pastEntry(one) {
  const noun = one.players === 1 ? "player" : "players";
  return h(
    "li",
    { class: "entry", "data-key": one.id },
    h(
      "div",
      {},
      h("strong", {}, tournament(one.id, "cover")),
      h("div", { class: "soft small" }, `${capital(one.game)} · ${one.players} ${noun} · `, date(one.ended_at)),
    ),
    h(
      "div",
      { class: "won-by" },
      one.aborted
        ? h("span", { class: "soft" }, `not played: ${one.aborted}`)
        : one.winners.length
          ? [h("span", { class: "crown", "aria-hidden": "true" }, "♛ "), players(one.winners)]
          : h("span", { class: "soft" }, "nobody won"),
    ),
  );
}

/** @param {Known} known */
export function results({ matches }) {
  if (matches.length === 0) return null;
  return h(
    "section",
    { class: "card", "aria-label": "Recent results", "data-key": "results" },
    h("h2", {}, "Recent results"),
    h("ul", { class: "entries" }, matches.slice(0, SHOWN_MAX).map(result)),
  );
}

/** @param {PlayedMatch} one */
function result(one) {
  const crown = () => [h("span", { title: "won" }, " ♛"), h("span", { class: "hidden" }, "(won)")];
  const names = one.players.flatMap((name, index) => [
    index ? h("span", { class: "soft" }, " vs ") : null,
    one.result.winners.includes(name) ? h("strong", {}, player(name), crown()) : player(name),
  ]);
  return h(
    "li",
    { class: "entry", "data-key": `${one.tournament} ${one.id}` },
    h(
      "div",
      {},
      names,
      whereAndWhen(one),
    ),
    h(
      "div",
      { class: "scores" },
      one.result.games.slice(-3).map((game) => score(one.tournament, one.id, game)),
    ),
  );
}
