// A player: what it has done, how its rating came to be, against whom, what it played lately; and, for
// itself and for operators, the evidence of what it did wrong.

import { del, get, path, post, session, sessions } from "../lib/api.js";
import { ask, why } from "../lib/ask.js";
import { chart } from "../lib/chart.js";
import { h, render } from "../lib/dom.js";
import { ago, capital, complaint, fault, player, players, score, tally, tournament, watched } from "../lib/show.js";
import { watch } from "../lib/stream.js";

/** @typedef {import("../lib/types.js").Account} Account */
/** @typedef {import("../lib/types.js").Fault} Fault */
/** @typedef {import("../lib/types.js").PlayedMatch} PlayedMatch */
/** @typedef {import("../lib/types.js").Tally} Tally */
/** @typedef {{ other: string, total: { games: Tally, matches: Tally } }} Opponent */

/** @type {import("../lib/types.js").Mount} */
export function mount(root, params, app) {
  const name = params[0] ?? "";
  app.title(name);
  /** @type {Account | null} */
  let account = null;
  /** @type {PlayedMatch[]} */
  let matches = [];
  /** @type {Opponent[]} */
  let opponents = [];
  /** @type {Record<string, import("../lib/chart.js").Point[]>} */
  let histories = {};
  /** @type {Fault[] | null} */
  let faults = null;
  /** @type {unknown} */
  let problem = null;
  let game = "";
  let gone = false;
  let looking = false;

  async function look() {
    if (looking) return;
    looking = true;
    try {
      const now = session();
      const allowed = now && (now.account === name || now.role === "operator");
      const [one, played, met, wrong] = await Promise.all([
        get(path`/api/v1/accounts/${name}`),
        get(path`/api/v1/accounts/${name}/matches`),
        get(path`/api/v1/statistics/${name}/versus`),
        allowed ? get(path`/api/v1/accounts/${name}/faults`) : null,
      ]);
      const games = Object.keys(one.statistics.by_game);
      const all = await Promise.all(games.map((game) => get(path`/api/v1/ladders/${game}/history/${name}`)));
      histories = Object.fromEntries(all.map((history) => [history.game, history.points]));
      account = one;
      matches = played.matches;
      opponents = met.opponents;
      faults = wrong?.faults ?? null;
      if (!game) game = games[0] ?? "";
      problem = null;
    } catch (wrong) {
      problem = wrong;
    }
    looking = false;
    if (!gone) show();
  }

  const byGame = (/** @type {Account} */ { statistics }) => {
    const all = Object.entries(statistics.by_game);
    return h("section", { class: "card", "aria-label": "By game" }, h("h2", {}, "By game"),
      all.length === 0 ? h("p", { class: "soft" }, "Nothing yet.") : h("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Table by game" }, h("table", {},
        h("thead", {}, h("tr", {}, ["Game", "Rating", "Rank", "Tournaments", "Matches", "Games", "Points"].map((word, index) => h("th", { scope: "col", class: index ? "number" : "" }, word)))),
        h("tbody", {}, all.map(([game, one]) => h("tr", {}, h("th", { scope: "row" }, capital(game)),
          [one.rating ? Math.round(one.rating.value) : "–", one.rank ?? "–", `${one.tournaments.won} of ${one.tournaments_played}`, tally(one.matches), tally(one.games), one.points].map((text) => h("td", { class: "number" }, text))))))));
  };

  const rating = () => {
    const games = Object.keys(histories);
    return h("section", { class: "card", "aria-label": "Rating" }, h("div", { class: "row spread" }, h("h2", {}, "Rating over time"),
      games.length > 1 ? h("select", { class: "narrow", "aria-label": "Game", onchange: (/** @type {Event} */ event) => {
        game = /** @type {HTMLSelectElement} */ (event.target).value;
        show();
      } }, games.map((one) => h("option", { value: one, selected: one === game }, capital(one)))) : null),
      chart(`Rating of ${name} at ${game}`, histories[game] ?? []));
  };

  const versus = () => h("section", { class: "card", "aria-label": "Head to head" }, h("h2", {}, "Head to head"),
    opponents.length === 0 ? h("p", { class: "soft" }, "It has met nobody yet.") : h("table", {},
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Against"), h("th", { scope: "col", class: "number" }, "Matches"), h("th", { scope: "col", class: "number" }, "Games"))),
      h("tbody", {}, opponents.slice(0, 30).map((one) => h("tr", { "data-key": one.other }, h("td", {}, player(one.other)), h("td", { class: "number" }, tally(one.total.matches)), h("td", { class: "number" }, tally(one.total.games)))))));

  const recent = () => h("section", { class: "card", "aria-label": "Recent games" }, h("h2", {}, "Recent games"),
    matches.length === 0 ? h("p", { class: "soft" }, "None yet.") : h("ul", { class: "entries" }, matches.map((one) => {
      const won = one.result.winners.includes(name);
      const word = won ? (one.result.winners.length > 1 ? "shared" : "won") : one.result.winners.length ? "lost" : one.result.how;
      return h("li", { class: "entry", "data-key": `${one.tournament} ${one.id}` }, h("div", {}, h("span", { class: `tag first ${won ? "good" : ""}` }, word), " against ", players(one.players.filter((other) => other !== name)),
        h("div", { class: "soft small" }, capital(one.game), " · ", tournament(one.tournament), " · ", h("a", { href: watched(one.tournament, one.id) }, one.id), " · ", ago(one.at))),
        h("div", { class: "scores" }, one.result.games.slice(-3).map((game) => score(one.tournament, one.id, game))));
    })));

  const wrongs = () => faults === null ? null : h("section", { class: "card", "aria-label": "Evidence of faults" }, h("h2", {}, "Faults, with the evidence"),
    h("p", { class: "soft small" }, "Only the player itself and operators see this."),
    faults.length === 0 ? h("p", {}, "None.") : faults.map((one, index) => h("details", { "data-key": `fault ${index}` },
      h("summary", {}, h("span", { class: "tag bad first" }, fault(one.kind)), " ", h("code", {}, one.code), ` in ${one.tournament}${one.match ? ` ${one.match}` : ""}${one.game ? `, game ${one.game}` : ""}`),
      one.evidence ? [h("p", {}, one.evidence.detail, " · ", ago(one.evidence.at)),
        one.evidence.asked ? [h("h3", {}, "What was asked"), h("pre", { tabindex: 0 }, JSON.stringify(one.evidence.asked.question, null, 1)), h("p", { class: "small soft" }, `with ${one.evidence.asked.limit_ms / 1000} s to answer`)] : null,
        one.evidence.answer === undefined ? null : [h("h3", {}, "What came"), h("pre", { tabindex: 0 }, one.evidence.answer)]] : null)));

  const operator = (/** @type {Account} */ { blacklisted }) => {
    if (session()?.role !== "operator") return null;
    const rule = (/** @type {string} */ does, /** @type {(why: unknown) => Promise<unknown>} */ then) => h("button", { type: "button", class: "plain", onclick: async () => {
      if (await ask({ title: `${does}: ${name}`, does, fields: [why()], act: (fields) => then(fields.get("why")) })) {
        app.say("Done.");
        look();
      }
    } }, does);
    return h("section", { class: "card operator", "aria-label": "Operator" }, h("h2", {}, "Operator"), h("div", { class: "row" },
      blacklisted === null ? rule("Blacklist", (why) => post(path`/api/v1/blacklist/${name}`, { why })) : rule("Lift the blacklisting", (why) => del(path`/api/v1/blacklist/${name}`, { why })),
      rule("Log out", (why) => post(path`/api/v1/accounts/${name}/logout`, { why }))));
  };

  function show() {
    if (!account) return render(root, h("h1", {}, name), problem ? complaint(problem) : h("p", { class: "soft" }, "Looking …"));
    const { total } = account.statistics;
    const tiles = /** @type {[string, string | number][]} */ ([["tournaments won", `${total.tournaments.won} / ${total.tournaments_played}`], ["matches won", total.matches.won], ["games won", total.games.won], ["points", total.points], ["cheats", total.cheats], ["no-shows", total.no_shows]]);
    render(root,
      h("div", { class: "head" }, h("h1", {}, name), h("span", { class: "tag" }, account.kind === "house" ? "house player" : account.kind), account.role === "operator" ? h("span", { class: "tag accent" }, "operator") : null,
        account.blacklisted !== null ? h("span", { class: "tag bad" }, `blacklisted: ${account.blacklisted}`) : null, h("p", { class: "soft" }, "here since ", ago(account.registered_at))),
      h("dl", { class: "tiles" }, tiles.map(([word, number]) => h("div", {}, h("dt", {}, word), h("dd", {}, number)))),
      operator(account), h("div", { class: "columns" }, h("div", { class: "stack" }, rating(), byGame(account), recent(), wrongs()), h("div", { class: "stack" }, versus())));
  }

  show();
  look();
  const unwatch = watch("/api/v1/events", { show: () => void look() });
  sessions.addEventListener("session", look);
  return () => {
    gone = true;
    unwatch();
    sessions.removeEventListener("session", look);
  };
}
