// The rulings of operators about a tournament or an account, each with its reason, for everybody.

import { h } from "../lib/dom.js";
import { ago, player, players, watched } from "../lib/show.js";

/** @typedef {import("../lib/types.js").Ruled} Ruled */

/**
 * The kinds of rulings, as words of a sentence.
 * @type {Record<string, string>} */
const WORDS = {
  started: "started the tournament",
  "called-off": "cancelled the tournament",
  withdrawn: "withdrew",
  entered: "entered",
  paused: "paused the tournament",
  resumed: "resumed the tournament",
  awarded: "ended the tournament",
  overridden: "overrode the result of",
  "replay-ordered": "ordered a replay of",
  undone: "undid the ruling about",
  "game-voided": "voided",
  blacklisted: "blacklisted",
  lifted: "lifted the blacklisting of",
  "logged-out": "logged out",
};

/**
 * The section of a tournament or an account; nothing without rulings.
 * @param {string} id the tournament, where the rulings name matches @param {Ruled[]} rulings
 */
export function ruled(id, rulings) {
  if (rulings.length === 0) return null;
  return h(
    "section",
    { class: "card", "aria-label": "Rulings", "data-key": "rulings" },
    h("h2", {}, "Rulings and their reasons"),
    h(
      "ul",
      { class: "entries" },
      rulings.map((one) => entry(id, one)),
    ),
  );
}

/** @param {string} id @param {Ruled} one */
function entry(id, { at, what, match, game, player: about, winners, by, why }) {
  const place = match ? h("a", { href: watched(id, match) }, match) : null;
  return h(
    "li",
    { class: "entry" },
    h(
      "div",
      {},
      // An operator is an account; the server itself is none.
      by === "the server" ? "The server" : player(by),
      ` ${WORDS[what] ?? what} `,
      about ? player(about) : null,
      game ? `game ${game} of ` : null,
      place,
      winners ? [winners.length ? " for " : " for nobody", players(winners, " and ")] : null,
      h("div", {}, `“${why}”`),
    ),
    h("span", { class: "soft small" }, ago(at)),
  );
}
