// A tournament before it starts: who signed up or is invited, the deadline, and who starts it.

import { del, path, post, session } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { orderButton, withdrawButton } from "../lib/rulings.js";
import { player, span } from "../lib/show.js";
import { reply } from "../lib/words.js";
import { sharing } from "./sharing.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/**
 * @param {Tournament} tournament @param {import("../lib/types.js").App} app
 * @param {import("../lobby/known.js").Act} act
 */
export function coming(tournament, app, act) {
  const { id, plan, closes_at } = tournament;
  const { at_least, at_most } = tournament.selection ?? {};
  const open = tournament.standing === "open";
  const words = [
    `${plan.players.length} ${plan.players.length === 1 ? "player" : "players"} so far`,
    at_least ? `, at least ${at_least}` : "",
    at_most ? `, at most ${at_most}` : "",
    ". ",
    closes_at ? `Closes in ${span(closes_at - Date.now())}.` : "",
  ];
  return h(
    "div",
    { class: "columns" },
    h(
      "section",
      { class: "card", "aria-label": open ? "Sign-up" : "Invitations" },
      h("h2", {}, open ? "Sign-up" : "Invitations"),
      h("p", {}, words.join("")),
      open ? names(plan.players) : replies(tournament),
      open ? joining(id, plan.players, act) : null,
    ),
    h(
      "div",
      { class: "stack" },
      session()?.role === "operator"
        ? h(
            "section",
            { class: "card operator", "aria-label": "Operator" },
            h("h2", {}, "Operator"),
            h(
              "div",
              { class: "row" },
              orderButton(app, id, "start"),
              orderButton(app, id, "call-off"),
              withdrawButton(app, id, plan.players),
            ),
          )
        : null,
      open ? sharing(id, app) : null,
    ),
  );
}

/** @param {string[]} players */
function names(players) {
  if (players.length === 0) return h("p", { class: "soft" }, "Nobody signed up yet. Be the first.");
  return h(
    "ul",
    { class: "chips" },
    players.map((name) => h("li", { "data-key": name }, player(name))),
  );
}

/** @param {Tournament} tournament */
function replies({ replies = [] }) {
  return h(
    "ul",
    { class: "entries" },
    replies.map((one) =>
      h(
        "li",
        { class: "entry", "data-key": one.player },
        h("div", {}, player(one.player)),
        h("span", { class: "tag" }, reply(one.reply)),
      ),
    ),
  );
}

/** @param {string} id @param {string[]} players @param {import("../lobby/known.js").Act} act */
function joining(id, players, act) {
  const me = session();
  const at = path`/api/v1/tournaments/${id}/signups`;
  const up = `You signed up for ${id}. The tournament starts by itself; keep this tab open.`;
  return me && players.includes(me.account)
    ? h(
        "button",
        { type: "button", class: "plain", onclick: act(() => del(at), "You withdrew from the tournament.") },
        "Withdraw",
      )
    : h("button", { type: "button", onclick: act(() => post(at), up, "#/play") }, "Sign up");
}
