// Groups: a table for each group.

import { h } from "../lib/dom.js";
import { crossTable, roundsOnce } from "./round-robin.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */

/** @type {import("./index.js").Format} */
export const groups = {
  label: "groups",
  losersLeave: false,
  rounds: ({ players, policy }) => {
    const { size = 4, cycles = 1 } = policy.format;
    const count = Math.max(1, Math.min(Math.ceil(players.length / size), players.length >> 1));
    return roundsOnce(Math.ceil(players.length / count)) * cycles;
  },
  draw,
};

/** @param {Tournament} tournament */
function draw(tournament) {
  const members = membersOf(tournament);
  return h(
    "div",
    { class: "groups" },
    [...members].map(([name, players]) => {
      const label = name.replace(/^g/, "G");
      return h("div", { "data-key": name }, h("h3", {}, label), crossTable(tournament, players, players, label));
    }),
  );
}

/**
 * The players of each group, from the reasons of pairings and byes: "group A: …".
 * @param {Tournament} tournament
 */
function membersOf({ plan, pairings = [], results }) {
  const paired = pairings.map(({ players, reason }) => ({ players, reason }));
  const byes = (results?.rounds ?? [])
    .flatMap((round) => round.byes)
    .map(({ player, reason }) => ({ players: player ? [player] : [], reason }));
  /** @type {Map<string, Set<string>>} */
  const groups = new Map();
  for (const { players, reason } of [...paired, ...byes]) {
    const name = reason.split(":")[0] ?? "";
    const own = groups.get(name) ?? new Set();
    for (const player of players) own.add(player);
    groups.set(name, own);
  }
  const inOrder = (/** @type {Set<string>} */ own) => plan.players.filter((one) => own.has(one));
  return new Map([...groups].sort().map(([name, own]) => [name, inOrder(own)]));
}
