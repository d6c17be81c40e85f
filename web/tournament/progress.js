// The progress of a tournament, its pause and who ordered it, and the operator's options.

import { session } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { partDone, remaining } from "../lib/pace.js";
import {
  awardButton,
  enterButton,
  matchButtons,
  orderButton,
  withdrawButton,
} from "../lib/rulings.js";
import { player, players, span } from "../lib/show.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/**
 * The end of a tournament without a winner, with its reason.
 * @param {Tournament["results"]} results
 */
function nobodyWon(results) {
  const reason = /^(?:aborted|called off): (.*)$/.exec(results?.status ?? "")?.[1];
  return reason ? `Nobody won. The tournament was cancelled: ${reason}.` : "Nobody won.";
}

/** @param {Tournament} tournament */
export function progress(tournament) {
  const { results, paused } = tournament;
  const won = results?.winners ?? [];
  const ended = won.length ? ["♛ ", players(won, ", ", " and "), " won."] : nobodyWon(results);
  return h(
    "section",
    { class: "card", "aria-label": "Progress" },
    tournament.standing === "over" ? h("p", { class: "winner" }, ended) : underWay(tournament),
    results?.interrupted
      ? h(
          "p",
          { class: "paused" },
          h("strong", {}, `${results.interrupted.why}.`),
          " Missing: ",
          players(results.interrupted.missing),
          ".",
        )
      : null,
    results?.awarded
      ? h("p", {}, "Awarded by ", player(results.awarded.by), `: ${results.awarded.why}`)
      : null,
    paused && !results?.interrupted
      ? h(
          "p",
          { class: "paused" },
          h("strong", {}, "Paused "),
          "by ",
          player(paused.by),
          `: ${paused.why}`,
        )
      : null,
  );
}

/** @param {Tournament} tournament */
function underWay(tournament) {
  const { pairings = [] } = tournament;
  const over = pairings.filter((pairing) => pairing.over).length;
  const round = Math.max(0, ...pairings.map((pairing) => pairing.round));
  const left = remaining(tournament, Date.now());
  const words = `Round ${round}: ${over} of ${pairings.length} matches are over`;
  const value = Math.round(100 * partDone(tournament));
  return [
    h("p", { id: "progress" }, words, left === null ? "." : `, about ${span(left)} to go.`),
    h("progress", { max: 100, value, "aria-label": "Progress" }),
  ];
}

/** @param {Tournament} tournament @param {import("../lib/types.js").App} app */
export function operator(tournament, app) {
  if (session()?.role !== "operator" || tournament.standing !== "running") return null;
  const { id, pairings = [], paused } = tournament;
  const latest = Math.max(0, ...pairings.map(({ round }) => round));
  const own = pairings.filter(({ round }) => round === latest);
  const tells = paused
    ? "Rulings take effect when you resume the tournament."
    : "Pause the tournament to make rulings about its latest round.";
  const ruling = (/** @type {import("../lib/types.js").Pairing} */ pairing) =>
    h(
      "li",
      { class: "entry", "data-key": pairing.match },
      h("div", {}, h("strong", {}, pairing.match), " ", pairing.players.join(" vs ")),
      matchButtons(app, id, pairing),
    );
  return h(
    "section",
    { class: "card operator", "aria-label": "Operator" },
    h("h2", {}, "Operator"),
    h(
      "div",
      { class: "row" },
      orderButton(app, id, paused ? "resume" : "pause"),
      paused ? awardButton(app, id, tournament.plan.players) : null,
      enterButton(app, id),
      withdrawButton(app, id, tournament.plan.players),
      h("span", { class: "soft small" }, tells),
    ),
    paused ? h("ul", { class: "entries" }, own.map(ruling)) : null,
  );
}
