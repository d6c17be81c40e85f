// A player: record, ratings, opponents and latest matches; and, for the player and for operators,
// the evidence of their faults.

import { del, get, passes, path, post, session, sessions } from "../lib/api.js";
import { ask, why } from "../lib/ask.js";
import { h, render } from "../lib/dom.js";
import { emblem } from "../lib/emblem.js";
import { ago, capital, complaint } from "../lib/show.js";
import { watch } from "../lib/stream.js";
import { chart } from "../player/chart.js";
import { evidence } from "../player/faults.js";
import { byGame, recent, tiles, versus } from "../player/lists.js";
import { ruled } from "../tournament/rulings.js";

/** @typedef {import("../lib/types.js").Account} Account */

/**
 * @typedef {object} Known
 * @property {Account} account
 * @property {import("../lib/types.js").PlayedMatch[]} matches
 * @property {import("../player/lists.js").Opponent[]} opponents
 * @property {Record<string, import("../player/chart.js").Point[]>} histories by game
 * @property {import("../lib/types.js").Fault[] | null} faults
 * @property {import("../lib/types.js").Ruled[]} rulings
 */

/** How long to wait before a retry that may help. */
const AGAIN_MS = 2_000;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, params, app) {
  const name = params[0] ?? "";
  app.title(name);
  /** @type {Known | null} */
  let known = null;
  /** @type {unknown} */
  let problem = null;
  let game = "";
  let gone = false;
  let looking = false;

  async function look() {
    if (looking || gone) return;
    looking = true;
    try {
      known = await ofPlayer(name);
      problem = null;
    } catch (wrong) {
      problem = wrong;
      if (passes(wrong)) setTimeout(look, AGAIN_MS);
    }
    looking = false;
    if (!gone) show();
  }

  /** @param {Known} now */
  function rating({ histories }) {
    // First the game that was played most.
    const games = Object.keys(histories).sort(
      (one, other) => histories[other].length - histories[one].length,
    );
    if (games.length === 0) return null;
    const shown = games.includes(game) ? game : games[0];
    const onchange = (/** @type {Event} */ event) => {
      game = /** @type {HTMLSelectElement} */ (event.target).value;
      show();
    };
    const option = (/** @type {string} */ one) =>
      h("option", { value: one, selected: one === shown }, capital(one));
    return h(
      "section",
      { class: "card", "aria-label": "Rating", "data-key": "rating" },
      h(
        "div",
        { class: "row spread" },
        h("h2", {}, "Rating over time"),
        games.length > 1
          ? h("select", { class: "narrow", "aria-label": "Game", onchange }, games.map(option))
          : null,
      ),
      chart(`Rating of ${name} at ${shown}`, histories[shown] ?? []),
    );
  }

  /** @param {Account} account */
  function operator({ blacklisted }) {
    if (session()?.role !== "operator") return null;
    const rule = (
      /** @type {string} */ does,
      /** @type {(why: unknown) => Promise<unknown>} */ act,
    ) => {
      const onclick = async () => {
        const title = `${does}: ${name}`;
        const done = await ask({
          title,
          does,
          fields: [why()],
          act: (fields) => act(fields.get("why")),
        });
        if (!done) return;
        app.say("Done.");
        look();
      };
      return h("button", { type: "button", class: "plain", onclick }, does);
    };
    const at = path`/api/v1/blacklist/${name}`;
    return h(
      "section",
      { class: "card operator", "aria-label": "Operator" },
      h("h2", {}, "Operator"),
      h(
        "div",
        { class: "row" },
        blacklisted === null
          ? rule("Put on the blacklist", (why) => post(at, { why }))
          : rule("Remove from the blacklist", (why) => del(at, { why })),
        rule("Log out", (why) => post(path`/api/v1/accounts/${name}/logout`, { why })),
      ),
    );
  }

  function show() {
    if (!known) {
      const words = problem ? complaint(problem) : h("p", { class: "soft" }, "Loading …");
      return render(root, h("h1", {}, name), words);
    }
    const { account, matches, opponents, faults, rulings } = known;
    render(
      root,
      head(account),
      tiles(account),
      operator(account),
      h(
        "div",
        { class: "columns" },
        h(
          "div",
          { class: "stack" },
          rating(known),
          byGame(account),
          recent(name, matches),
          evidence(faults),
          ruled("", rulings),
        ),
        h("div", { class: "stack" }, versus(opponents)),
      ),
    );
  }

  show();
  const unwatch = watch("/api/v1/events", { show: look });
  sessions.addEventListener("session", look);
  return () => {
    gone = true;
    unwatch();
    sessions.removeEventListener("session", look);
  };
}

/**
 * Everything that the user may know about a player.
 * @param {string} name
 * @returns {Promise<Known>}
 */
async function ofPlayer(name) {
  const now = session();
  const allowed = now && (now.account === name || now.role === "operator");
  const [account, played, met, ruledAbout, wrong] = await Promise.all([
    get(path`/api/v1/accounts/${name}`),
    get(path`/api/v1/accounts/${name}/matches`),
    get(path`/api/v1/statistics/${name}/versus`),
    get(path`/api/v1/accounts/${name}/rulings`),
    allowed ? get(path`/api/v1/accounts/${name}/faults`) : null,
  ]);
  const games = Object.keys(account.statistics.by_game);
  const all = await Promise.all(
    games.map((game) => get(path`/api/v1/ladders/${game}/history/${name}`)),
  );
  const histories = Object.fromEntries(all.map((history) => [history.game, history.points]));
  return {
    account,
    matches: played.matches,
    opponents: met.opponents,
    histories,
    faults: wrong?.faults ?? null,
    rulings: ruledAbout.rulings,
  };
}

/** @param {Account} account */
function head({ account, kind, role, blacklisted, registered_at }) {
  return h(
    "div",
    { class: "head" },
    h("h1", {}, emblem(account), " ", h("bdi", {}, account)),
    h("span", { class: "tag" }, kind === "house" ? "house player" : kind),
    role === "operator" ? h("span", { class: "tag accent" }, "operator") : null,
    blacklisted === null ? null : h("span", { class: "tag bad" }, `blacklisted: ${blacklisted}`),
    h("p", { class: "soft" }, "registered ", ago(registered_at)),
  );
}
