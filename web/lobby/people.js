// People and programs in the lobby: players online, queues, invitations, and the leaderboard.

import { Problem, path, put, session } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { capital, player, players, sentence, tournament } from "../lib/show.js";
import { reply } from "../lib/words.js";
import { join, leave, missing } from "../start/waiting.js";
import { queuesOf } from "./known.js";

/** @typedef {import("./known.js").Known} Known */
/** @typedef {import("./known.js").Act} Act */
/** @typedef {import("../lib/types.js").App} App */
/** @typedef {import("../lib/types.js").Invited} Invited */
/** @typedef {import("../lib/types.js").Here} Here */

const HERE_MAX = 60;
const LEADERS_MAX = 10;

/** @param {Known} known @param {Act} act */
export function invitations({ mine }, act) {
  if (mine.invited.length === 0) return null;
  return h(
    "section",
    { class: "card call", "aria-label": "Invitations" },
    h("h2", {}, "You are invited"),
    h(
      "ul",
      { class: "entries" },
      mine.invited.map((one) => invitation(one, act)),
    ),
  );
}

/** @param {Invited} one @param {Act} act */
function invitation(one, act) {
  const done = /** @type {Record<string, string>} */ ({
    accept: `You accepted the invitation to ${one.tournament}.`,
    reject: `You rejected the invitation to ${one.tournament}.`,
    ready: `You are ready for ${one.tournament}.`,
  });
  const answer = (/** @type {string} */ word) => {
    const at = path`/api/v1/tournaments/${one.tournament}/invitation`;
    const then = word === "reject" ? undefined : "#/play";
    return act(() => put(at, { answer: word }), done[word], then);
  };
  const button = (/** @type {string} */ word, look = "") =>
    h("button", { type: "button", class: look, onclick: answer(word) }, capital(word));
  const open = one.reply === null || one.reply === "open" || one.reply === "silent";
  const ready = one.readying && one.reply === "accepted";
  return h(
    "li",
    { class: "entry", "data-key": one.tournament },
    h(
      "div",
      {},
      tournament(one.tournament),
      h("div", { class: "soft small" }, capital(one.game), one.by ? `, by ${one.by}` : null),
    ),
    h(
      "div",
      { class: "row" },
      ready
        ? button("ready")
        : open
          ? button("accept")
          : h("span", { class: "tag good" }, reply(one.reply)),
      button("reject", "quiet"),
    ),
  );
}

/**
 * The queues: those that start games by themselves, and others in which players wait.
 * @param {Known} known @param {App} app @param {Act} act @param {() => void} after
 */
export function queues(known, app, act, after) {
  return h(
    "section",
    { class: "card", "aria-label": "Queues" },
    h("h2", {}, "Play against people"),
    h(
      "ul",
      { class: "entries" },
      queuesOf(known).map((queue) => place(known, queue, app, act, after)),
    ),
  );
}

/**
 * @param {Known} known @param {string} queue @param {App} app @param {Act} act
 * @param {() => void} after
 */
function place({ lobby, games, waiting }, queue, app, act, after) {
  const wait = lobby?.queues.find((one) => one.queue === queue)?.waiting ?? 0;
  const preset = games.presets.find((one) => one.preset === queue);
  const needed = preset?.queue_players;
  const names = [...new Set(waiting.get(queue))];
  const isIn = names.includes(session()?.account ?? "");
  const enter = async () => {
    if (!preset) return;
    try {
      await join(preset);
      app.go("#/play");
    } catch (problem) {
      app.say(sentence(problem), "bad");
      // On a server without guests a visitor logs in first, and is in the queue then.
      if (!session() && problem instanceof Problem && problem.status === 403)
        return act(() => join(preset), `You wait for a game of ${capital(preset.game)}.`, "#/play")();
      after();
    }
  };
  const [word, onclick] = isIn
    ? ["Leave", act(() => leave(queue), `You left the queue ${queue}.`)]
    : ["Join", enter];
  const label = `${word} the queue ${queue}`;
  const button = h("button", { type: "button", class: "plain", "aria-label": label, onclick }, word);
  return h(
    "li",
    { class: "entry", "data-key": queue },
    h(
      "div",
      {},
      h("strong", {}, preset && needed ? capital(preset.game) : queue),
      h(
        "div",
        { class: "soft small", title: preset?.about },
        needed ? missing(wait, needed) : `${wait} waiting; an operator starts the game`,
      ),
      names.length ? h("div", { class: "small" }, players(names)) : null,
    ),
    needed || isIn ? button : null,
  );
}

/**
 * How players are connected, where that is worth a word.
 * @type {Record<string, string>}
 */
const WIRES = {
  fish: "Fish protocol",
  trains: "Trains protocol",
  erlang: "Erlang",
};

/** @param {Known} known */
export function here({ lobby }) {
  const all = lobby?.players ?? [];
  if (all.length === 0) return null;
  const beyond = (lobby?.here ?? 0) - HERE_MAX;
  const one = (/** @type {Here} */ { player: name, kind, wire }) =>
    h(
      "li",
      { "data-key": name },
      player(name, kind),
      wire && WIRES[wire] ? h("span", { class: "tag" }, WIRES[wire]) : null,
    );
  return h(
    "section",
    { class: "card", "aria-label": "Players online", "data-key": "here" },
    h("h2", {}, "Players online"),
    h("ul", { class: "chips" }, all.slice(0, HERE_MAX).map(one)),
    beyond > 0 ? h("p", { class: "soft small" }, `and ${beyond} more`) : null,
  );
}

/** @param {Known} known @param {(game: string) => void} choose */
export function leaders({ games, game, ladder }, choose) {
  const me = session()?.account;
  const own = ladder.find((one) => one.player === me && one.rank > LEADERS_MAX);
  const onchange = (/** @type {Event} */ event) =>
    choose(/** @type {HTMLSelectElement} */ (event.target).value);
  const option = (/** @type {string} */ name) =>
    h("option", { value: name, selected: name === game }, capital(name));
  const row = (/** @type {import("../lib/types.js").Ranked} */ { player: name, rank, rating }) =>
    h(
      "tr",
      { "data-key": name, class: name === me ? "own" : "" },
      h("td", {}, rank),
      h("td", {}, player(name)),
      h(
        "td",
        { class: "number", title: "with its 95 % interval" },
        `${Math.round(rating.value)} ± ${Math.round((rating.high - rating.low) / 2)}`,
      ),
    );
  return h(
    "section",
    { class: "card", "aria-label": "Leaderboard" },
    h(
      "div",
      { class: "row spread" },
      h("h2", {}, "Leaderboard"),
      h(
        "select",
        { "aria-label": "Game", class: "narrow", onchange },
        games.games.map((one) => option(one.game)),
      ),
    ),
    ladder.length === 0
      ? h("p", { class: "soft" }, "No player is rated yet.")
      : h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "#"),
              h("th", { scope: "col" }, "Player"),
              h("th", { scope: "col", class: "number" }, "Rating"),
            ),
          ),
          h("tbody", {}, ladder.slice(0, LEADERS_MAX).map(row), own ? row(own) : null),
        ),
    ladder.length
      ? h(
          "p",
          { class: "small" },
          h("a", { href: path`#/leaderboard/${game}` }, `All ${ladder.length} rated players`),
        )
      : null,
  );
}
