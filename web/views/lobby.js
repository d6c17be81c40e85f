// The lobby: what runs and what comes, who is here, how to join, what was played, who is strongest.

import { del, get, path, post, put, session, sessions } from "../lib/api.js";
import { ask } from "../lib/ask.js";
import { h, render } from "../lib/dom.js";
import { ago, capital, player, players, score, standing, tournament, watched } from "../lib/show.js";
import { watch } from "../lib/stream.js";

/** @typedef {import("../lib/types.js").Lobby} Lobby */
/** @typedef {import("../lib/types.js").Listed} Listed */
/** @typedef {import("../lib/types.js").Games} Games */
/** @typedef {import("../lib/types.js").Ranked} Ranked */
/** @typedef {import("../lib/types.js").PlayedMatch} PlayedMatch */
/** @typedef {import("../lib/types.js").Invited} Invited */

/** Open tournaments and queues that are asked whether one is in them. */
const ASKED_MAX = 12;
/** While something runs, results are looked for as often. */
const RESULTS_MS = 5_000;
const SHOWN_MAX = 12;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("Lobby");
  /** @type {Lobby | null} */
  let lobby = null;
  /** @type {Games} */
  let games = { games: [], presets: [] };
  /** @type {PlayedMatch[]} */
  let matches = [];
  /** @type {Ranked[]} */
  let ladder = [];
  let game = "";
  /** Where one is signed up, waits and is invited. */
  let mine = { signed: new Set(), queued: new Set(), invited: /** @type {Invited[]} */ ([]) };
  let gone = false;
  let looking = false;
  let again = false;
  let timer = 0;

  /** Looks at what does not come by itself; never twice at once. */
  async function look() {
    if (looking) return void (again = true);
    looking = true;
    clearTimeout(timer);
    try {
      if (games.games.length === 0) games = await get("/api/v1/games");
      if (!game) game = games.games.some((one) => one.game === "yahtzee") ? "yahtzee" : games.games[0]?.game ?? "";
      const [latest, ranked, own] = await Promise.all([
        get("/api/v1/matches"),
        game ? get(path`/api/v1/ladders/${game}`) : { players: [] },
        whereAmI(lobby, queues()),
      ]);
      matches = latest.matches;
      ladder = ranked.players;
      mine = own;
    } catch {
      // The stream notices that the server is away, and tells when it is back.
    }
    looking = false;
    if (gone) return;
    show();
    if (again) {
      again = false;
      look();
    } else {
      timer = setTimeout(look, lobby?.counts.running ? RESULTS_MS : 12 * RESULTS_MS);
    }
  }

  const queues = () => {
    const waiting = lobby?.queues.map(({ queue }) => queue) ?? [];
    return [...new Set([...games.presets.map(({ preset }) => preset), ...waiting])].slice(0, ASKED_MAX);
  };

  /**
   * Does something for who is logged in, and says how it went.
   * @param {() => Promise<unknown>} what @param {string} done @param {string} [then]
   */
  const act = (what, done, then) => async () => {
    if (!session()) return app.go("#/account");
    try {
      await what();
      app.say(done);
      if (then) return app.go(then);
    } catch (problem) {
      app.say(problem instanceof Error ? problem.message : String(problem), "bad");
    }
    look();
  };

  const joining = (/** @type {Listed} */ { id, standing }) => {
    const at = path`/api/v1/tournaments/${id}/signups`;
    if (standing !== "open") return null;
    return mine.signed.has(id)
      ? h("button", { type: "button", class: "plain", onclick: act(() => del(at), `You are out of ${id}.`) }, "Withdraw")
      : h("button", { type: "button", onclick: act(() => post(at), `You are signed up for ${id}. Stay here: it starts by itself.`, "#/play") }, "Sign up");
  };

  const listed = (/** @type {Listed} */ one) =>
    h(
      "li",
      { class: "entry", "data-key": `${one.standing} ${one.id}` },
      h("div", {}, h("strong", {}, tournament(one.id)), standing(one.standing), mine.signed.has(one.id) && one.standing === "open" ? h("span", { class: "tag good" }, "✓ you are in") : null,
        h("div", { class: "soft small" },
          one.game ? `${capital(one.game)} · ${one.players} ${one.players === 1 ? "player" : "players"}${one.standing === "running" ? "" : " so far"}` : null,
          one.winners?.length ? ["won by ", players(one.winners)] : one.standing === "over" ? "nobody won" : null,
          one.reason ?? null)),
      one.standing === "running" ? h("a", { class: "button plain", href: path`#/tournament/${one.id}` }, "Watch") : joining(one),
    );

  const list = (/** @type {string} */ title, /** @type {string[]} */ standings, /** @type {string} */ none) => {
    const all = lobby?.tournaments.filter((one) => standings.includes(one.standing)) ?? [];
    return h("section", { class: "card", "aria-label": title }, h("h2", {}, title),
      all.length ? h("ul", { class: "entries" }, all.slice(0, SHOWN_MAX).map(listed)) : h("p", { class: "soft" }, none),
      all.length > SHOWN_MAX ? h("details", {}, h("summary", {}, `${all.length - SHOWN_MAX} more`), h("ul", { class: "entries" }, all.slice(SHOWN_MAX).map(listed))) : null);
  };

  const answer = (/** @type {Invited} */ one, /** @type {string} */ word) =>
    act(() => put(path`/api/v1/tournaments/${one.tournament}/invitation`, { answer: word }), `${one.tournament}: ${word}`, word === "reject" ? undefined : "#/play");

  const invitations = () => mine.invited.length === 0 ? null :
    h("section", { class: "card call", "aria-label": "Invitations" }, h("h2", {}, "You are invited"),
      h("ul", { class: "entries" }, mine.invited.map((one) => h("li", { class: "entry" },
        h("div", {}, tournament(one.tournament), h("div", { class: "soft small" }, `${capital(one.game)}${one.by ? `, by ${one.by}` : ""}`)),
        h("div", { class: "row" },
          one.readying && one.reply === "accepted" ? h("button", { type: "button", onclick: answer(one, "ready") }, "Ready")
            : one.reply === "open" || one.reply === null ? h("button", { type: "button", onclick: answer(one, "accept") }, "Accept") : h("span", { class: "tag good" }, one.reply),
          h("button", { type: "button", class: "quiet", onclick: answer(one, "reject") }, "Reject"))))));

  const waiting = () =>
    h("section", { class: "card", "aria-label": "Queues" }, h("h2", {}, "Wait for a game"),
      h("ul", { class: "entries" }, queues().map((queue) => {
        const at = path`/api/v1/queues/${queue}`;
        const wait = lobby?.queues.find((one) => one.queue === queue)?.waiting ?? 0;
        const about = games.presets.find((one) => one.preset === queue);
        return h("li", { class: "entry", "data-key": queue },
          h("div", {}, h("strong", {}, queue), h("div", { class: "soft small", title: about?.about }, `${wait} waiting`)),
          mine.queued.has(queue)
            ? h("button", { type: "button", class: "plain", "aria-label": `Leave the queue ${queue}`, onclick: act(() => del(at), `You left ${queue}.`) }, "Leave")
            : h("button", { type: "button", class: "plain", "aria-label": `Join the queue ${queue}`, onclick: act(() => post(at), `You wait in ${queue}. Stay here: it starts by itself.`, "#/play") }, "Join"));
      })));

  const here = () =>
    h("section", { class: "card", "aria-label": "Who is here" }, h("h2", {}, "Who is here"),
      lobby?.players.length
        ? h("ul", { class: "chips" }, lobby.players.slice(0, 60).map((one) => h("li", { "data-key": one.player }, player(one.player, one.kind), one.wire ? h("span", { class: "tag" }, one.wire) : null)))
        : h("p", { class: "soft" }, "Nobody but the house players, who are always here."),
      lobby && lobby.here > 60 ? h("p", { class: "soft small" }, `and ${lobby.here - 60} more`) : null);

  const results = () =>
    h("section", { class: "card", "aria-label": "Recent results" }, h("h2", {}, "Recent results"),
      matches.length === 0 ? h("p", { class: "soft" }, "Nothing has been played yet.") :
      h("ul", { class: "entries" }, matches.slice(0, SHOWN_MAX).map((one) => h("li", { class: "entry", "data-key": `${one.tournament} ${one.id}` },
        h("div", {}, one.players.flatMap((name, index) => [index ? h("span", { class: "soft" }, " vs ") : null,
          one.result.winners.includes(name) ? h("strong", {}, player(name), h("span", { title: "won" }, " ♛"), h("span", { class: "hidden" }, "(won)")) : player(name)]),
          h("div", { class: "soft small" }, capital(one.game), " · ", tournament(one.tournament), " · ", h("a", { href: watched(one.tournament, one.id) }, one.id), " · ", ago(one.at))),
        h("div", { class: "scores" }, one.result.games.slice(-3).map((game) => score(one.tournament, one.id, game)))))));

  const leaders = () =>
    h("section", { class: "card", "aria-label": "Leaderboard" },
      h("div", { class: "row spread" }, h("h2", {}, "Leaderboard"),
        h("select", { "aria-label": "Game", class: "narrow", onchange: (/** @type {Event} */ event) => {
          game = /** @type {HTMLSelectElement} */ (event.target).value;
          look();
        } }, games.games.map((one) => h("option", { value: one.game, selected: one.game === game }, capital(one.game))))),
      ladder.length === 0 ? h("p", { class: "soft" }, "Nobody is rated yet.") :
      h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "#"), h("th", { scope: "col" }, "Player"), h("th", { scope: "col", class: "number" }, "Rating"))),
        h("tbody", {}, ladder.slice(0, 10).map((one) => h("tr", { "data-key": one.player }, h("td", {}, one.rank), h("td", {}, player(one.player)),
          h("td", { class: "number", title: `± ${Math.round(2 * one.rating.deviation)}` }, Math.round(one.rating.value)))))));

  function show() {
    if (!lobby) return render(root, h("h1", {}, "Lobby"), h("p", { class: "soft" }, "Looking …"));
    const now = session();
    render(
      root,
      h("div", { class: "head" }, h("h1", {}, "Lobby"), h("p", { class: "soft" }, `${lobby.here} here · ${lobby.accounts} accounts · ${lobby.counts.running} running`),
        now?.role === "operator" ? h("button", { type: "button", class: "plain", onclick: () => announce(app, games) }, "New tournament") : null),
      h("div", { class: "columns" },
        h("div", { class: "stack" }, invitations(), list("Running", ["running"], "Nothing runs at the moment."),
          list("Coming", ["open", "inviting"], "No sign-up is open. Wait in a queue, or ask an operator."), results(), list("Past tournaments", ["over", "called-off"], "None yet.")),
        h("div", { class: "stack" }, now ? null : h("section", { class: "card call" }, h("h2", {}, "Play with us"), h("p", {}, "People play here, in the browser, against programs and each other."), h("a", { class: "button", href: "#/account" }, "Log in or register")),
          waiting(), here(), leaders())),
    );
  }

  show();
  const unwatch = watch("/api/v1/events", {
    show(data) {
      lobby = data;
      show();
      look();
    },
  });
  sessions.addEventListener("session", look);
  return () => {
    gone = true;
    clearTimeout(timer);
    unwatch();
    sessions.removeEventListener("session", look);
  };
}

/**
 * Where one is signed up, waits and is invited.
 * @param {Lobby | null} lobby @param {string[]} queues
 */
async function whereAmI(lobby, queues) {
  const mine = { signed: new Set(), queued: new Set(), invited: /** @type {Invited[]} */ ([]) };
  const me = session()?.account;
  if (!me) return mine;
  const open = lobby?.tournaments.filter(({ standing }) => standing === "open").slice(0, ASKED_MAX) ?? [];
  const taken = lobby?.queues.filter(({ queue }) => queues.includes(queue)) ?? [];
  await Promise.all([
    ...open.map(async ({ id }) => (await get(path`/api/v1/tournaments/${id}`)).plan?.players.includes(me) && mine.signed.add(id)),
    ...taken.map(async ({ queue }) => (await get(path`/api/v1/queues/${queue}`)).players.includes(me) && mine.queued.add(queue)),
    lobby?.counts.inviting ? get("/api/v1/invitations").then((all) => void (mine.invited = all.invitations)) : null,
  ]);
  return mine;
}

/**
 * Announces a tournament, as an operator.
 * @param {import("../lib/types.js").App} app @param {Games} games
 */
async function announce(app, games) {
  const done = await ask({
    title: "New tournament",
    does: "Announce it",
    fields: [
      h("label", {}, "Name", h("input", { name: "id", required: true, pattern: "[a-z0-9\\-]{1,60}", title: "a-z, 0-9 and -", autocomplete: "off" })),
      h("label", {}, "Preset", h("select", { name: "preset" }, games.presets.map((one) => h("option", { value: one.preset }, `${one.preset}: ${one.about}`)))),
      h("label", {}, "At most", h("input", { name: "most", type: "number", min: 2, max: 1024, value: 8, required: true })),
      h("label", {}, "Minutes to sign up", h("input", { name: "minutes", type: "number", min: 1, max: 10_000, value: 10, required: true })),
    ],
    act: (fields) => {
      const wait_ms = Number(fields.get("minutes")) * 60_000;
      const selection = { by: "sign-up", at_least: 2, at_most: Number(fields.get("most")), wait_ms, second_wait_ms: 0, second_at_least: 2 };
      return post("/api/v1/tournaments", { id: fields.get("id"), preset: fields.get("preset"), selection });
    },
  });
  if (done) app.say("It is announced.");
}
