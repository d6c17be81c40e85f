// The live match at the top of the lobby: who plays, how it stands, and the way to watch it.

import { get, path } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { capital, player, watched } from "../lib/show.js";

/**
 * @typedef {object} LiveMatch
 * @property {string} tournament
 * @property {string} game
 * @property {string} match
 * @property {string[]} players
 * @property {number[]} won games won, by player
 * @property {string} reason why these players meet
 */

/** How many running tournaments are looked at. */
const LOOKED_AT_MAX = 3;

/**
 * The match of the latest round that runs in one of the tournaments.
 * @param {import("../lib/types.js").Lobby | null} lobby
 * @returns {Promise<LiveMatch | null>}
 */
export async function liveMatch(lobby) {
  const running = lobby?.tournaments.filter(
    ({ standing, interrupted }) => standing === "running" && !interrupted,
  );
  for (const { id } of running?.slice(0, LOOKED_AT_MAX) ?? []) {
    const { plan, pairings = [], paused } = await get(path`/api/v1/tournaments/${id}`);
    const open = pairings.filter((/** @type {{ over: boolean }} */ { over }) => !over);
    const latest = open.at(-1);
    if (paused || !latest) continue;
    const { match } = await get(path`/api/v1/tournaments/${id}/matches/${latest.match}`);
    const { players, reason } = latest;
    const won = match?.won ?? [];
    return { tournament: id, game: plan.game, match: latest.match, players, won, reason };
  }
  return null;
}

/** @param {LiveMatch | null} live */
export function hero(live) {
  if (!live) return null;
  const { tournament, game, match, players, won, reason } = live;
  const names = players.flatMap((name, index) => [
    index ? h("span", { class: "hero-score" }, `${won[index - 1] ?? 0} : ${won[index] ?? 0}`) : null,
    player(name),
  ]);
  // More than two players have no score between them.
  const several = players.flatMap((name) => [player(name)]);
  return h(
    "section",
    { class: "hero pressable stack", "aria-label": "Live match", "data-key": "hero" },
    h("h2", {}, "Live now"),
    h("div", { class: "hero-names" }, players.length === 2 ? names : several),
    h(
      "p",
      { class: "row" },
      h(
        "a",
        { class: "button cover", href: watched(tournament, match) },
        `Watch ${tournament} live`,
      ),
      // The first words of a reason name the round.
      h("span", {}, `${capital(game)} · ${reason.split(":")[0]}`),
    ),
  );
}
