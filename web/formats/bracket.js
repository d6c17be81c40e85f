// Single elimination: a tree of matches. A large tree has two sides that meet in the final, so that
// 64 players fit on one screen.

import { h } from "../lib/dom.js";
import { bye, match } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** From this many slots on, the tree has two sides and one line per player. */
const TWO_SIDES_MIN = 32;

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

/**
 * The name of a round of a bracket.
 * @param {number} round @param {number} rounds
 */
export function roundName(round, rounds) {
  const names = ["Final", "Semi-finals", "Quarter-finals"];
  return names[rounds - round] ?? `Round ${round}`;
}

/** @param {Tournament} tournament */
function draw(tournament) {
  const slots = slotsOf(tournament.plan);
  const rounds = roundsOf(tournament, slots);
  const sides = slots >= TWO_SIDES_MIN ? twoSides(rounds) : h("ol", { class: "bracket" }, rounds.map(column));
  return h(
    "div",
    { class: "wide fit", tabindex: 0, role: "group", "aria-label": "Bracket" },
    sides,
  );
}

/** @typedef {{ name: string, places: HTMLElement[], third?: HTMLElement }} DrawnRound */

/**
 * The places of every round, from the first round to the final.
 * @param {Tournament} tournament @param {number} slots
 */
function roundsOf(tournament, slots) {
  const count = Math.log2(slots);
  const before = tournament.before ?? 0;
  const compact = slots >= TWO_SIDES_MIN;
  const pairings = new Map((tournament.pairings ?? []).map((one) => [one.match, one]));
  return Array.from({ length: count }, (_, index) => {
    const round = index + 1;
    const isThird = (/** @type {{ reason: string }} */ { reason }) =>
      reason.startsWith("third place");
    const byes = (tournament.results?.rounds[index]?.byes ?? []).filter((one) => !isThird(one));
    const paired =
      byes.length > 0 || [...pairings.values()].some((one) => one.round === before + round);
    const places = Array.from({ length: slots / 2 ** round }, (_, place) => {
      const key = `r${before + round}m${place + 1}`;
      const pairing = pairings.get(key);
      const free = pairing || !paired ? undefined : byes.shift();
      return h(
        "li",
        { "data-key": key },
        pairing
          ? match(tournament, pairing, compact)
          : free?.player
            ? bye(free)
            : h("div", { class: "match empty", title: free?.reason }, free ? "no match" : "to be decided"),
      );
    });
    const third = [...pairings.values()].find((one) => one.round === before + count && isThird(one));
    /** @type {DrawnRound} */
    const drawn = { name: roundName(round, count), places };
    if (third && round === count)
      drawn.third = h(
        "li",
        { "data-key": third.match },
        h("h3", {}, "Third place"),
        match(tournament, third, compact),
      );
    return drawn;
  });
}

/** @param {DrawnRound} round */
const column = ({ name, places, third }) =>
  h(
    "li",
    { class: "round" },
    h("h3", {}, name),
    h("ol", {}, places, third ?? null),
  );

/**
 * The upper half of the tree at the left, the lower half at the right, the final between them.
 * @param {DrawnRound[]} rounds
 */
function twoSides(rounds) {
  const final = rounds[rounds.length - 1];
  const earlier = rounds.slice(0, -1);
  const side = (/** @type {0 | 1} */ which) =>
    h(
      "ol",
      { class: `bracket compact ${which ? "right" : "left"}`, "data-key": `side ${which}` },
      earlier.map(({ name, places }) => {
        const half = places.length / 2;
        return column({ name, places: places.slice(which * half, (which + 1) * half) });
      }),
    );
  return h(
    "div",
    { class: "two-sides" },
    side(0),
    h("ol", { class: "bracket compact centre", "data-key": "final" }, column(final)),
    side(1),
  );
}
