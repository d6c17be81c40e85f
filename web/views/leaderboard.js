// All rated players of a game: ranks, ratings with their 95 % intervals, a search, and the user's
// own place.

import { get, path, session, sessions } from "../lib/api.js";
import { csvButton } from "../lib/csv.js";
import { h, render } from "../lib/dom.js";
import { capital, complaint, player } from "../lib/show.js";

/** @typedef {import("../lib/types.js").Ranked} Ranked */

/** How many rows are drawn; a search finds the others. */
const SHOWN_MAX = 200;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, params, app) {
  let game = params[0] ?? "";
  let search = "";
  /** @type {string[]} */
  let games = [];
  /** @type {Ranked[] | null} */
  let ladder = null;
  /** @type {unknown} */
  let problem = null;
  let gone = false;

  async function look() {
    try {
      const known = await get("/api/v1/games");
      games = known.games.map((/** @type {{ game: string }} */ one) => one.game);
      if (!game) game = games.includes("yahtzee") ? "yahtzee" : (games[0] ?? "");
      ladder = (await get(path`/api/v1/ladders/${game}`)).players;
      problem = null;
    } catch (wrong) {
      problem = wrong;
    }
    if (!gone) show();
  }

  function controls() {
    const option = (/** @type {string} */ name) =>
      h("option", { value: name, selected: name === game }, capital(name));
    const choose = (/** @type {Event} */ event) => {
      const chosen = /** @type {HTMLSelectElement} */ (event.target).value;
      app.go(path`#/leaderboard/${chosen}`);
    };
    const find = (/** @type {Event} */ event) => {
      search = /** @type {HTMLInputElement} */ (event.target).value;
      show();
    };
    const label = "Search players";
    return h(
      "div",
      { class: "row" },
      h("select", { class: "narrow", "aria-label": "Game", onchange: choose }, games.map(option)),
      h("input", { type: "search", class: "narrow", placeholder: label, "aria-label": label, oninput: find }),
      csvButton(`leaderboard-${game}`, () => ({
        head: ["rank", "player", "rating", "low", "high", "deviation"],
        rows: (ladder ?? []).map(({ rank, player, rating }) => [
          rank,
          player,
          rating.value,
          rating.low,
          rating.high,
          rating.deviation,
        ]),
      })),
    );
  }

  /** @param {Ranked[]} all */
  function own(all) {
    const me = session()?.account;
    const place = all.find((one) => one.player === me);
    if (!me) return null;
    return h(
      "p",
      { class: "own-rank", "data-key": "own" },
      place
        ? `You are number ${place.rank} of ${all.length}: ${interval(place)}.`
        : `You have no rating at ${capital(game)} yet.`,
    );
  }

  /** @param {Ranked[]} all */
  function table(all) {
    const wanted = search.trim().toLowerCase();
    const found = all.filter((one) => one.player.toLowerCase().includes(wanted));
    const me = session()?.account;
    const row = (/** @type {Ranked} */ one) => {
      const range = `${Math.round(one.rating.low)} – ${Math.round(one.rating.high)}`;
      return h(
        "tr",
        { "data-key": one.player, class: one.player === me ? "own" : "" },
        h("td", {}, one.rank),
        h("td", {}, player(one.player)),
        h(
          "td",
          { class: "number" },
          Math.round(one.rating.value),
          h("span", { class: "range soft small" }, range),
        ),
        h("td", { class: "number soft range" }, range),
      );
    };
    const beyond = found.length - SHOWN_MAX;
    return [
      h(
        "div",
        { class: "wide", tabindex: 0, role: "group", "aria-label": "Leaderboard" },
        h(
          "table",
          { id: "leaderboard" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "#"),
              h("th", { scope: "col" }, "Player"),
              h(
                "th",
                { scope: "col", class: "number" },
                "Rating",
                h("span", { class: "range soft small" }, "95 % interval"),
              ),
              h("th", { scope: "col", class: "number range" }, "95 % interval"),
            ),
          ),
          h("tbody", {}, found.slice(0, SHOWN_MAX).map(row)),
        ),
      ),
      found.length === 0 ? h("p", { class: "soft" }, `No rated player is called “${search}”.`) : null,
      beyond > 0 ? h("p", { class: "soft small" }, `and ${beyond} more; search for a name`) : null,
    ];
  }

  function show() {
    app.title(`Leaderboard: ${capital(game)}`);
    render(
      root,
      h("div", { class: "head" }, h("h1", {}, "Leaderboard"), ladder ? controls() : null),
      problem ? complaint(problem) : null,
      ladder === null
        ? h("p", { class: "soft" }, "Loading …")
        : ladder.length === 0
          ? h("p", { class: "soft" }, `Nobody has a rating at ${capital(game)} yet.`)
          : h("section", { class: "card" }, own(ladder), table(ladder)),
    );
  }

  show();
  look();
  sessions.addEventListener("session", show);
  return () => {
    gone = true;
    sessions.removeEventListener("session", show);
  };
}

/** @param {Ranked} place */
const interval = ({ rating }) =>
  `${Math.round(rating.value)}, between ${Math.round(rating.low)} and ${Math.round(rating.high)}`;
