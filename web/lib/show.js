// The appearance of small things: players, kinds, times, standings, numbers.

import { path } from "./api.js";
import { h } from "./dom.js";
import { emblem } from "./emblem.js";

/** @typedef {import("./types.js").Kind} Kind */

/**
 * The kinds of players, each as a symbol and a word.
 * @type {Record<Kind, [string, string]>} */
const KINDS = {
  program: ["⚙", "program"],
  person: ["☺", "person"],
  house: ["⌂", "house player"],
};

/**
 * A player: emblem and name, which link to their page.
 * @param {string} name @param {Kind} [kind]
 */
export function player(name, kind) {
  // Isolated, so that a name in another writing direction does not affect the text around it.
  const link = h(
    "a",
    { href: path`#/player/${name}`, class: "player", title: name },
    emblem(name),
    h("bdi", {}, name),
  );
  if (!kind) return link;
  const [sign, word] = KINDS[kind];
  const mark = h("span", { class: "kind", title: word, "aria-hidden": "true" }, sign);
  return h("span", { class: "who" }, mark, h("span", { class: "hidden" }, `${word} `), link);
}

/**
 * Names as text with a word between them. Each is isolated, so that a name in another writing
 * direction does not turn the others around.
 * @param {string[]} names @param {string} word
 */
export const isolated = (names, word) =>
  names.flatMap((name, index) => (index ? [word, h("bdi", {}, name)] : [h("bdi", {}, name)]));

/**
 * Links to players with a word between them.
 * @param {string[]} names @param {string} [word] @param {string} [last] the word before the last one
 */
export function players(names, word = ", ", last = word) {
  const between = (/** @type {number} */ index) => (index === names.length - 1 ? last : word);
  return names.flatMap((name, index) => (index ? [between(index), player(name)] : [player(name)]));
}

/**
 * A tournament's name, which links to it.
 * @param {string} id @param {string} [look] `cover` if the whole entry follows the link
 */
export const tournament = (id, look) =>
  h("a", { href: path`#/tournament/${id}`, class: look }, id);

/**
 * The label and the style of a standing.
 * @type {Record<string, [string, string]>} */
const STANDINGS = {
  open: ["open for sign-up", "accent"],
  inviting: ["by invitation", "accent"],
  running: ["running", "good"],
  paused: ["paused", "warn"],
  interrupted: ["interrupted", "warn"],
  over: ["over", ""],
  "called-off": ["cancelled", "bad"],
};

/** @param {string} standing */
export function standing(standing) {
  const [word, look] = STANDINGS[standing] ?? [standing, ""];
  return h("span", { class: `tag ${look}` }, word);
}

/**
 * A relative time, with the exact time on hover.
 * @param {number} at
 */
export function ago(at) {
  const time = new Date(at);
  const words = `${span(Date.now() - at)} ago`;
  return h("time", { datetime: time.toISOString(), title: time.toLocaleString() }, words);
}

/**
 * A date, with the exact time on hover.
 * @param {number} at
 */
export function date(at) {
  const time = new Date(at);
  const words = time.toLocaleDateString(undefined, { dateStyle: "medium" });
  return h("time", { datetime: time.toISOString(), title: time.toLocaleString() }, words);
}

/**
 * How long something takes, in one unit.
 * @param {number} ms
 */
export function span(ms) {
  const units = /** @type {[number, string][]} */ ([
    [86_400_000, "d"],
    [3_600_000, "h"],
    [60_000, "min"],
  ]);
  for (const [length, unit] of units) if (ms >= length) return `${Math.round(ms / length)} ${unit}`;
  return `${Math.max(0, Math.round(ms / 1_000))} s`;
}

/** @param {{ won: number, lost: number, tied: number }} tally */
export const tally = ({ won, lost, tied }) => `${won} – ${lost}${tied ? ` – ${tied} tied` : ""}`;

/** @param {string} name */
export const capital = (name) => name.charAt(0).toUpperCase() + name.slice(1);

/**
 * The address of a match, or of a game of it.
 * @param {string} tournament @param {string} match @param {number} [game]
 */
export const watched = (tournament, match, game) =>
  game === undefined
    ? path`#/game/${tournament}/${match}`
    : path`#/replay/${tournament}/${match}/${game}`;

/**
 * The game of a match, a link to it, and how long ago it was.
 * @param {import("./types.js").PlayedMatch} one
 */
export const whereAndWhen = (one) =>
  h(
    "div",
    { class: "soft small" },
    capital(one.game),
    " · ",
    tournament(one.tournament),
    " · ",
    h("a", { href: watched(one.tournament, one.id), class: "cover" }, one.id),
    " · ",
    ago(one.at),
  );

/**
 * A finished game: its points, which link to its replay.
 * @param {string} tournament @param {string} match @param {import("./types.js").GameResult} game
 */
export function score(tournament, match, game) {
  const points = game.end === "void" ? "void" : game.scores.join(" : ");
  const end = game.end === "forfeited" ? `, forfeited by ${game.by}` : "";
  const why = game.voided ? `, voided by ${game.voided.by}: ${game.voided.why}` : "";
  const label = `Replay of game ${game.game} of ${match}: ${points}${end}${why}`;
  return h(
    "a",
    {
      class: "score",
      href: watched(tournament, match, game.game),
      title: label,
      "aria-label": label,
    },
    points,
    end && " ⚑",
  );
}

/**
 * A link to something outside this page, such as a document. It opens in a new tab: leaving the page
 * would close a player's connection.
 * @param {string} href @param {string} words
 */
export const outside = (href, words) =>
  h(
    "a",
    { href, target: "_blank", rel: "noopener" },
    words,
    h("span", { "aria-hidden": "true" }, " ↗"),
    h("span", { class: "hidden" }, " (opens in a new tab)"),
  );

/**
 * An error message as a sentence. Programs get it in lower case.
 * @param {unknown} problem */
export function sentence(problem) {
  const text = problem instanceof Error ? problem.message : String(problem);
  return capital(ended(text));
}

/**
 * Text with a full stop, if it has no end of its own.
 * @param {string} text
 */
export const ended = (text) => `${text}${/[.!?…]$/.test(text) ? "" : "."}`;

/**
 * An error message, shown where the error happened.
 * @param {unknown} problem */
export const complaint = (problem) =>
  h("p", { class: "complaint", role: "alert" }, sentence(problem));
