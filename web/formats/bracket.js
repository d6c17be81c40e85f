// Single elimination: a tree of matches.

import { h } from "../lib/dom.js";
import { player } from "../lib/show.js";
import { match } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const bracket = {
  label: "single elimination",
  losersLeave: true,
  rounds: (plan) => Math.log2(slotsOf(plan)),
  draw,
};

/**
 * The slots of the first round.
 * @param {Tournament["plan"]} plan
 */
function slotsOf(plan) {
  const least = 2 ** Math.ceil(Math.log2(Math.max(2, plan.players.length)));
  return plan.policy.format.slots ?? least;
}

/** @param {number} round @param {number} rounds */
function named(round, rounds) {
  const left = rounds - round;
  return left === 0
    ? "Final"
    : left === 1
      ? "Semi-finals"
      : left === 2
        ? "Quarter-finals"
        : `Round ${round}`;
}

/** @param {Tournament} tournament */
function draw(tournament) {
  const slots = slotsOf(tournament.plan);
  const count = Math.log2(slots);
  const before = tournament.before ?? 0;
  const columns = Array.from({ length: count }, (_, index) => {
    const round = index + 1;
    const byes = (tournament.results?.rounds[index]?.byes ?? []).filter(
      ({ reason }) => !reason.startsWith("third place"),
    );
    const paired =
      (tournament.pairings ?? []).some((pairing) => pairing.round === before + round) ||
      byes.length > 0;
    const places = Array.from({ length: slots / 2 ** round }, (_, place) => {
      const key = `r${before + round}m${place + 1}`;
      const pairing = tournament.pairings?.find(({ match }) => match === key);
      if (pairing) return h("li", { "data-key": key }, match(tournament, pairing));
      const bye = paired ? byes.shift() : undefined;
      return h(
        "li",
        { "data-key": key },
        h(
          "div",
          { class: "match empty", title: bye?.reason },
          bye
            ? bye.player
              ? [player(bye.player), h("span", { class: "tag" }, bye.walkover ? "walkover" : "bye")]
              : "no match"
            : "to be decided",
        ),
      );
    });
    const third = tournament.pairings?.find(
      (pairing) => pairing.round === before + count && pairing.reason.startsWith("third place"),
    );
    if (third && round === count)
      places.push(
        h(
          "li",
          { "data-key": third.match },
          h("h3", {}, "Third place"),
          match(tournament, third),
        ),
      );
    return h("li", { class: "round" }, h("h3", {}, named(round, count)), h("ol", {}, places));
  });
  return h(
    "div",
    { class: "wide", tabindex: 0, role: "group", "aria-label": "Bracket" },
    h("ol", { class: "bracket" }, columns),
  );
}
