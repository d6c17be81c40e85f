// The data of the lobby's view beyond its stream: games, latest results, the leaderboard, and where
// the logged-in user takes part.

import { get, path, session } from "../lib/api.js";
import { liveMatch } from "./hero.js";

/** @typedef {import("../lib/types.js").Lobby} Lobby */
/** @typedef {import("../lib/types.js").Games} Games */
/** @typedef {import("../lib/types.js").Invited} Invited */
/** @typedef {import("../lib/types.js").PlayedMatch} PlayedMatch */
/** @typedef {import("../lib/types.js").Ranked} Ranked */

/**
 * @typedef {object} Mine where the user takes part
 * @property {Set<string>} signed
 * @property {Invited[]} invited
 */

/**
 * @typedef {object} Known
 * @property {Lobby | null} lobby
 * @property {Games} games
 * @property {PlayedMatch[]} matches
 * @property {Ranked[]} ladder
 * @property {string} game whose leaderboard is shown
 * @property {Mine} mine
 * @property {Map<string, string[]>} waiting who waits in each queue
 * @property {import("./hero.js").LiveMatch | null} live
 * @property {import("../lib/types.js").PastTournament[]} past
 * @property {boolean} complete whether everything was fetched once
 */

/**
 * Runs an action of the logged-in user, and reports its result.
 * @typedef {(what: () => Promise<unknown>, done: string, then?: string) => () => Promise<void>} Act
 */

/** How many open tournaments and queues are checked for the user's participation. */
const ASKED_MAX = 12;

/** @returns {Mine} */
const nowhere = () => ({ signed: new Set(), invited: [] });

/** @returns {Known} */
export const nothing = () => ({
  lobby: null,
  games: { games: [], presets: [] },
  matches: [],
  ladder: [],
  game: "",
  mine: nowhere(),
  waiting: new Map(),
  live: null,
  past: [],
  complete: false,
});

/**
 * The queues to show: those that start games by themselves, and others with waiting players.
 * @param {Known} known
 */
export function queuesOf({ lobby, games }) {
  const waiting = lobby?.queues.map(({ queue }) => queue) ?? [];
  const starting = games.presets.filter(({ queue_players: needed }) => needed);
  const names = [...starting.map(({ preset }) => preset), ...waiting];
  return [...new Set(names)].slice(0, ASKED_MAX);
}

/**
 * Fetches everything that the stream does not deliver.
 * @param {Known} known
 */
export async function refresh(known) {
  if (known.games.games.length === 0) known.games = await get("/api/v1/games");
  const games = known.games.games.map(({ game }) => game);
  if (!known.game) known.game = games.includes("yahtzee") ? "yahtzee" : (games[0] ?? "");
  const [latest, ranked, mine, waiting, live, archive] = await Promise.all([
    get("/api/v1/matches"),
    known.game ? get(path`/api/v1/ladders/${known.game}`) : { players: [] },
    whereAmI(known),
    inQueues(known),
    // A match that ends meanwhile is not there any more.
    liveMatch(known.lobby).catch(() => null),
    get("/api/v1/archive"),
  ]);
  known.matches = latest.matches;
  known.ladder = ranked.players;
  known.mine = mine;
  known.waiting = waiting;
  known.live = live;
  known.past = archive.tournaments;
  known.complete = true;
}

/**
 * Fetches who waits in the queues.
 * @param {Known} known @returns {Promise<Map<string, string[]>>}
 */
async function inQueues(known) {
  const shown = queuesOf(known);
  const taken = known.lobby?.queues.filter(({ queue, waiting }) => waiting && shown.includes(queue));
  const found = (taken ?? []).map(async ({ queue }) => {
    const { players } = await get(path`/api/v1/queues/${queue}`);
    return /** @type {[string, string[]]} */ ([queue, players]);
  });
  return new Map(await Promise.all(found));
}

/**
 * Fetches where the user is signed up or invited.
 * @param {Known} known
 */
async function whereAmI(known) {
  const mine = nowhere();
  const me = session()?.account;
  const { lobby } = known;
  if (!me || !lobby) return mine;
  const open = lobby.tournaments.filter(({ standing }) => standing === "open").slice(0, ASKED_MAX);
  await Promise.all([
    ...open.map(async ({ id }) => {
      const { plan } = await get(path`/api/v1/tournaments/${id}`);
      if (plan?.players.includes(me)) mine.signed.add(id);
    }),
    lobby.counts.inviting
      ? get("/api/v1/invitations").then((all) => void (mine.invited = all.invitations))
      : null,
  ]);
  return mine;
}
