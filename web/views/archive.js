// Finished tournaments by date, with game and winner, and a search.

import { get } from "../lib/api.js";
import { csvButton } from "../lib/csv.js";
import { h, render } from "../lib/dom.js";
import { complaint } from "../lib/show.js";
import { pastEntry } from "../lobby/lists.js";

/** @typedef {import("../lib/types.js").PastTournament} PastTournament */

/** How many rows are drawn; a search finds the others. */
const SHOWN_MAX = 200;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("Past tournaments");
  let search = "";
  /** @type {PastTournament[] | null} */
  let past = null;
  /** @type {unknown} */
  let problem = null;
  let gone = false;

  async function look() {
    try {
      past = (await get("/api/v1/archive")).tournaments;
    } catch (wrong) {
      problem = wrong;
    }
    if (!gone) show();
  }

  /** @param {PastTournament[]} all */
  function controls(all) {
    const label = "Search by name, game or winner";
    const find = (/** @type {Event} */ event) => {
      search = /** @type {HTMLInputElement} */ (event.target).value;
      show();
    };
    return h(
      "div",
      { class: "row" },
      h("input", { type: "search", class: "narrow", placeholder: label, "aria-label": label, oninput: find }),
      csvButton("past-tournaments", () => ({
        head: ["ended", "tournament", "game", "format", "players", "winners"],
        rows: all.map((one) => [
          new Date(one.ended_at).toISOString(),
          one.id,
          one.game,
          one.format,
          one.players,
          one.winners.join("; "),
        ]),
      })),
    );
  }

  function show() {
    const wanted = search.trim().toLowerCase();
    const found = (past ?? []).filter(({ id, game, winners }) =>
      [id, game, ...winners].some((text) => text.toLowerCase().includes(wanted)),
    );
    const beyond = found.length - SHOWN_MAX;
    render(
      root,
      h(
        "div",
        { class: "head" },
        h("h1", {}, "Past tournaments"),
        past?.length ? controls(past) : null,
      ),
      problem ? complaint(problem) : null,
      past === null
        ? h("p", { class: "soft" }, problem ? "" : "Loading …")
        : past.length === 0
          ? h("p", { class: "soft" }, "No tournament is over yet.")
          : h(
              "section",
              { class: "card", "aria-label": "Past tournaments" },
              h("ul", { class: "entries" }, found.slice(0, SHOWN_MAX).map(pastEntry)),
              found.length ? null : h("p", { class: "soft" }, "No tournament fits this search."),
              beyond > 0 ? h("p", { class: "soft small" }, `and ${beyond} more; search for one`) : null,
            ),
    );
  }

  show();
  look();
  return () => {
    gone = true;
  };
}
