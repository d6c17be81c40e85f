// Double elimination: the tree of the winners' bracket above the tree of the losers' bracket, with
// lines from both to the final. Each column is a round.

import { h } from "../lib/dom.js";
import { bye, match } from "../tournament/match.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const doubleElimination = {
  label: "double elimination",
  losersLeave: false,
  rounds: ({ players }, paired) => Math.max(paired, 2 * depthOf(players)),
  draw,
};

/** With more players than this, matches have one line per player. */
const COMPACT_MIN = 4;

/**
 * How many rounds the winners' bracket has.
 * @param {string[]} players
 */
const depthOf = (players) => Math.ceil(Math.log2(Math.max(2, players.length)));

/**
 * A place of the tree, where at most one match is played.
 * @typedef {object} Place
 * @property {string} key the name of its match
 * @property {HTMLElement} drawn
 * @property {string[]} names the players who came there, as far as they are known
 * @property {boolean} hasWinner whether somebody leaves it as a winner, now or later
 * @property {boolean} hasLoser whether somebody leaves it as a loser, now or later
 */

/** @param {Tournament} tournament */
function draw(tournament) {
  const depth = depthOf(tournament.plan.players);
  const compact = tournament.plan.players.length > COMPACT_MIN ? " compact" : "";
  const { winners, losers, finals } = treeOf(tournament, depth, compact !== "");
  const last = 2 * depth;
  const before = tournament.before ?? 0;
  const heads = Array.from({ length: last - 1 }, (_, index) => `Round ${before + index + 1}`);
  heads.push(...finals.map((_, index) => (index ? "Second final" : "Final")));
  const tree = (/** @type {string} */ name, /** @type {string} */ label, /** @type {Place[][]} */ rounds) => [
    h("h3", { class: `${name}-name` }, label),
    h(
      "ol",
      { class: `bracket ${name}${compact}`, "aria-label": label, "data-key": label },
      rounds.map((places, index) => column(places, rounds[index - 1], rounds[index + 1])),
    ),
  ];
  const joint = (/** @type {string} */ name) => h("div", { class: `joint ${name}`, "aria-hidden": "true" });
  return h(
    "div",
    { class: "wide fit parts", tabindex: 0, role: "group", "aria-label": "Bracket" },
    h(
      "div",
      { class: `double${compact}`, "data-depth": depth },
      heads.map((name) => h("h3", { class: "round-name" }, name)),
      tree("winners", "Winners' bracket", winners),
      joint("upper"),
      // With two players nobody plays in the losers' bracket.
      losers.length === 0 ? null : [tree("losers", "Losers' bracket", losers), joint("lower")],
      finals.map(({ key, drawn }) => h("div", { class: "final", "data-key": key }, drawn)),
    ),
  );
}

/**
 * A round of one of the brackets. A place that nobody reaches stays empty.
 * @param {Place[]} places @param {Place[]} [earlier] the round before it
 * @param {Place[]} [later] the round after it
 */
function column(places, earlier, later) {
  const isStraight = later?.length === places.length;
  const isFirst = (/** @type {number} */ place) =>
    earlier?.length === places.length && !earlier[place]?.hasWinner;
  return h(
    "li",
    { class: isStraight ? "round straight" : "round" },
    h(
      "ol",
      {},
      places.map(({ key, drawn, hasWinner }, index) =>
        h(
          "li",
          { "data-key": key, class: !hasWinner ? "nobody" : isFirst(index) ? "first" : null },
          drawn,
        ),
      ),
    ),
  );
}

/**
 * The places of both brackets and of the final, round by round: what comes later too.
 * @param {Tournament} tournament @param {number} depth @param {boolean} compact
 */
function treeOf(tournament, depth, compact) {
  const place = placeMaker(tournament, compact);
  const first = Array.from({ length: 2 ** (depth - 1) }, (_, at) => place(1, at, null));
  const winners = [first];
  /** @type {Place[][]} */
  const losers = [];
  for (let round = 2; round < 2 * depth; round++) {
    const above = winners[round - 2];
    const count = round <= depth ? 2 ** (depth - round) : 0;
    if (above && count)
      winners.push(
        Array.from({ length: count }, (_, at) =>
          place(round, at, [won(above[2 * at]), won(above[2 * at + 1])]),
        ),
      );
    losers.push(losersOf(round, winners, losers.at(-1) ?? []).map((sources, at) => place(round, count + at, sources)));
  }
  const ends = [winners.at(-1)?.[0], (losers.at(-1) ?? first)[0]];
  const sources = [won(ends[0]), depth === 1 ? lost(ends[1]) : won(ends[1])];
  const finals = [place(2 * depth, 0, sources)];
  const second = place(2 * depth + 1, 0, [won(finals[0])]);
  if (second.drawn.matches(".over, .live, .still")) finals.push(second);
  return { winners, losers, finals };
}

/** @typedef {{ names: string[], comes: boolean }} Source the players of a place, one of whom comes */

/** @param {Place} [place] @returns {Source} */
const won = (place) => ({ names: place?.names ?? [], comes: place?.hasWinner ?? false });

/** @param {Place} [place] @returns {Source} */
const lost = (place) => ({ names: place?.names ?? [], comes: place?.hasLoser ?? false });

/**
 * Where the players of each place of a round of the losers' bracket come from, as in
 * `double_elimination.rs`: in its first round and in every second one after it players who lost in
 * the winners' bracket enter, every second time from the other end.
 * @param {number} round @param {Place[][]} winners @param {Place[]} latest its round before
 * @returns {Source[][]}
 */
function losersOf(round, winners, latest) {
  const pairs = (/** @type {Source[]} */ all) =>
    Array.from({ length: all.length / 2 }, (_, at) => all.slice(2 * at, 2 * at + 2));
  if (round === 2) return pairs((winners[0] ?? []).map(lost));
  if (round % 2 === 0) return pairs(latest.map(won));
  const fallen = (winners[(round + 1) / 2 - 1] ?? []).map(lost);
  if (round % 4 === 3) fallen.reverse();
  return latest.map((stayed, at) => [won(stayed), fallen[at] ?? lost()]);
}

/**
 * Makes the places of a tournament, each after those that its players come from.
 * @param {Tournament} tournament @param {boolean} compact
 */
function placeMaker(tournament, compact) {
  const before = tournament.before ?? 0;
  const pairings = new Map((tournament.pairings ?? []).map((one) => [one.match, one]));
  const paired = new Set([...pairings.values()].map(({ round }) => round));
  const byes = new Map(
    (tournament.results?.rounds ?? []).map(({ round, byes }) => [round, [...byes]]),
  );
  for (const [round, list] of byes) if (list.length) paired.add(round);
  /**
   * @param {number} round @param {number} at its number among the places of the round, from 0
   * @param {Source[] | null} sources `null` in the first round
   * @returns {Place}
   */
  return (round, at, sources) => {
    const key = `r${before + round}m${at + 1}`;
    const pairing = pairings.get(key);
    if (pairing) {
      const drawn = match(tournament, pairing, compact);
      return { key, drawn, names: pairing.players, hasWinner: true, hasLoser: true };
    }
    const coming = sources?.filter(({ comes }) => comes).length ?? 2;
    if (!paired.has(before + round)) {
      const drawn = h("div", { class: "match empty" }, "to be decided");
      return { key, drawn, names: [], hasWinner: coming > 0, hasLoser: coming > 1 };
    }
    const known = sources?.flatMap(({ names }) => names);
    const list = byes.get(before + round) ?? [];
    const index = known ? list.findIndex(({ player }) => player && known.includes(player)) : 0;
    const [free] = index < 0 ? [] : list.splice(index, 1);
    const names = free?.player ? [free.player] : [];
    const drawn = free ? bye(free) : h("div", { class: "match empty" }, "no match");
    return { key, drawn, names, hasWinner: names.length > 0, hasLoser: false };
  };
}
