// The scenes of a projector: the score of the followed match, other matches, and a whole tournament.

import { formatOf } from "../formats/index.js";
import { roundName } from "../formats/bracket.js";
import { h } from "../lib/dom.js";
import { capital, standing } from "../lib/show.js";
import { excitement, nameOf } from "./choose.js";
import { together } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").LiveScore} LiveScore */
/** @typedef {import("./choose.js").Candidate} Candidate */

/** How many other matches, next matches and places are listed. */
const [OTHERS_MAX, NEXT_MAX, PLACES_MAX] = [6, 6, 8];

/** @param {string} name */
const named = (name) => h("bdi", {}, name);

/**
 * The head of the screen: the tournament, its game and format, and how far it is.
 * @param {Tournament | undefined} tournament
 */
export function heading(tournament) {
  if (!tournament?.plan) return [h("h1", {}, "Agon")];
  const { id, plan, pairings = [], standing: now, paused } = tournament;
  const round = Math.max(0, ...pairings.map((pairing) => pairing.round));
  const rounds = formatOf(plan).rounds(plan, round);
  const name =
    plan.policy.format.kind === "bracket" ? roundName(round, rounds) : `Round ${round} of ${rounds}`;
  const words = [capital(plan.game), formatOf(plan).label, round && now === "running" ? name : null];
  return [
    h("h1", {}, id),
    h("p", { class: "soft" }, words.filter(Boolean).join(" · ")),
    now === "running" && !paused ? h("span", { class: "tag good" }, "live") : standing(paused ? "paused" : now),
  ];
}

/**
 * The points of a seat that the board shows, so that the scoreboard never lags behind it; nothing in
 * games whose view does not count them.
 * @param {string} game @param {any} view @param {number} seat @returns {number | undefined}
 */
function pointsOnBoard(game, view, seat) {
  if (game === "fish") return view.players[seat].score;
  return game === "yahtzee" ? view.cards[seat].total : undefined;
}

/**
 * The players of the followed match with their games won and their points.
 * @param {any} data the match, as its events show it @param {LiveScore | undefined} live
 */
export function scoreboard(data, live) {
  const running = data.in_progress;
  const { players, won, best_of: bestOf } = data.match;
  const result = data.latest?.result;
  /** @type {string[]} */
  const seats = running?.seats ?? result?.seats ?? players;
  const winners = data.result?.winners ?? [];
  const points = seats.map((name, seat) => {
    if (!running) return result?.scores[result.seats.indexOf(name)];
    const game = live?.game;
    const shown = pointsOnBoard(data.game, running.view, seat);
    if (shown !== undefined) return shown;
    return game && game.number === running.game ? game.points[game.seats.indexOf(name)] : undefined;
  });
  const most = Math.max(...points.map((one) => one ?? 0));
  const card = (/** @type {string} */ name, /** @type {number} */ seat) => {
    const own = points[seat];
    const leads = own !== undefined && own === most && most > 0;
    const games = won?.[players.indexOf(name)] ?? 0;
    return h(
      "li",
      { class: `seat-${seat + 1}${leads ? " leads" : ""}`, "data-key": name },
      h("span", { class: "name" }, named(name), winners.includes(name) ? " ♛" : ""),
      bestOf > 1
        ? h("span", { class: "games" }, h("strong", {}, games), games === 1 ? " game" : " games")
        : null,
      h("strong", { class: "points number" }, own ?? "–"),
    );
  };
  const game = running?.game ?? result?.game ?? 1;
  const words = data.result
    ? winners.length
      ? `${together(winners)} won the match`
      : "Nobody won the match"
    : bestOf > 1
      ? `Best of ${bestOf}, game ${game}`
      : "One game decides the match";
  return [
    h("ul", { class: `tv-score ${data.game}` }, seats.map(card)),
    h("p", { class: data.result ? "tv-won" : "tv-note soft" }, words),
    live?.game && running
      ? h("progress", { max: 100, value: live.game.percent, "aria-label": "Progress of the game" })
      : null,
  ];
}

/**
 * Beside the followed match: other live matches, the next ones, and the standings.
 * @param {Tournament | undefined} tournament @param {Candidate[]} candidates @param {string} shown
 * @param {import("../lib/types.js").Listed[]} coming
 */
export function beside(tournament, candidates, shown, coming) {
  const others = candidates
    .filter((one) => nameOf(one) !== shown)
    .sort((one, other) => excitement(other) - excitement(one));
  const next = tournament ? nextMatches(tournament) : [];
  return [
    others.length ? list("Also live", others.slice(0, OTHERS_MAX).map(other)) : null,
    next.length ? list("Next", next.slice(0, NEXT_MAX)) : null,
    tournament?.results ? list("Standings", places(tournament, PLACES_MAX)) : null,
    coming.length ? list("Coming", coming.slice(0, 4).map(announced)) : null,
  ];
}

/** @param {string} title @param {Node[]} entries */
const list = (title, entries) =>
  h("section", { "aria-label": title, "data-key": title }, h("h2", {}, title), h("ol", {}, entries));

/** @param {import("../lib/types.js").Listed} one */
const announced = ({ id, game, players: count }) =>
  h("li", { "data-key": id }, h("span", {}, `${id} · ${capital(game ?? "")}`), h("span", { class: "soft" }, `${count ?? 0} so far`));

/** @param {Candidate} candidate */
function other(candidate) {
  const { players, won, best_of: bestOf, game } = candidate.live;
  const line = (/** @type {string} */ name, /** @type {number} */ at) =>
    h(
      "span",
      { class: "line" },
      named(name),
      h("strong", { class: "number" }, bestOf > 1 ? won[at] : (game?.points[game.seats.indexOf(name)] ?? "")),
    );
  return h("li", { class: "pair", "data-key": nameOf(candidate) }, players.map(line));
}

/** @param {Tournament} tournament @param {number} most */
function places({ results }, most) {
  return (results?.standings ?? []).slice(0, most).map((one) =>
    h(
      "li",
      { "data-key": one.player },
      h("span", { class: "rank soft" }, one.rank),
      named(one.player),
      h("strong", { class: "number" }, `${one.matches_won}–${one.matches_lost}`),
    ),
  );
}

/**
 * Matches that come next: pairings that have not begun, and the next round of a bracket.
 * @param {Tournament} tournament
 */
function nextMatches(tournament) {
  const { plan, pairings = [], live, results } = tournament;
  const waiting = pairings.filter(({ over, match }) => !over && !live?.has(match));
  const entry = (/** @type {string} */ key, /** @type {string} */ names) =>
    h("li", { "data-key": key }, h("span", {}, names));
  const entries = waiting.map(({ match, players }) => entry(match, players.join(" – ")));
  const round = Math.max(0, ...pairings.map((pairing) => pairing.round));
  if (plan.policy.format.kind !== "bracket" || tournament.standing === "over") return entries;
  const rounds = formatOf(plan).rounds(plan, round);
  const byes = [...(results?.rounds.find((one) => one.round === round)?.byes ?? [])];
  const places = Array.from({ length: 2 ** (rounds - round) }, (_, at) => {
    const key = `r${round}m${at + 1}`;
    const pairing = pairings.find(({ match }) => match === key);
    if (!pairing) return byes.shift()?.player ?? null;
    const report = results?.rounds.flatMap(({ matches }) => matches).find(({ id }) => id === key);
    return pairing.overridden?.winners[0] ?? report?.result.winners[0] ?? pairing.players.join(" or ");
  });
  for (let at = 0; at + 1 < places.length; at += 2) {
    const [one, two] = [places[at], places[at + 1]];
    if (one && two) entries.push(entry(`next ${at}`, `${one} – ${two}`));
  }
  return entries;
}

/**
 * A whole tournament: its drawing, and the standings beside it if there is room.
 * @param {Tournament} tournament
 */
export function overview(tournament) {
  const { plan, results, standing: now } = tournament;
  const won = now === "over" ? (results?.winners ?? []) : [];
  const many = plan.players.length > 16;
  return [
    won.length ? h("p", { class: "tv-won", "data-key": "won" }, `♛ ${together(won)} won ${tournament.id}`) : null,
    h(
      "div",
      { class: many ? "tv-table" : "tv-table with-places", "data-key": "table" },
      h("div", { class: "tv-area" }, h("div", { class: "tv-fit" }, formatOf(plan).draw(tournament))),
      many || !results ? null : h("div", { class: "tv-side" }, list("Standings", places(tournament, 16))),
    ),
  ];
}
