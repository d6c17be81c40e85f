// Consequences of points and faults: ranks and winners of a game, winners of a match, and who
// advances in a tournament. The events of a log must agree.

import { formatOf } from "../formats/index.js";
import { equal } from "./equal.js";

/**
 * Ranks by points, shared by equals; removed players have none.
 * @param {number[]} scores @param {Set<number>} removed @returns {(number | null)[]}
 */
export function ranksOf(scores, removed) {
  const staying = scores.filter((_, seat) => !removed.has(seat));
  return scores.map((score, seat) =>
    removed.has(seat) ? null : 1 + new Set(staying.filter((other) => other > score)).size,
  );
}

/**
 * Finds an error in the result of a game; `null` if there is none.
 * @param {any} result @param {string[]} seats @param {Set<number>} removed
 */
export function wrongGame(result, seats, removed) {
  const { end, by, scores, ranks, winners } = result;
  if (!equal(result.seats, seats)) return "the seats belong to other players";
  let due = seats.map(() => /** @type {number | null} */ (null));
  if (end === "played") due = ranksOf(scores, removed);
  if (end === "forfeited") due = seats.map((player) => (player === by ? null : 1));
  if (!equal(ranks, due)) return `the ranks should be ${JSON.stringify(due)}`;
  const first = seats.filter((_, seat) => due[seat] === 1);
  return equal(winners, first) ? null : `the winners should be ${JSON.stringify(first)}`;
}

/**
 * Finds an error in the result of a match; `null` if there is none. Decisions of operators are not
 * checked.
 * @param {any} result @param {any} plan
 */
export function wrongMatch({ winners, how, halves, games, counts_from, out }, plan) {
  const { players, rules } = plan;
  const isVoid = (/** @type {any} */ game) => game.end === "void";
  // A group of duplicate games counts only if none of its games is void.
  const size = rules.duplicate ? players.length : 1;
  const since = games.filter((/** @type {any} */ game) => game.game >= counts_from);
  const counted = since.filter((/** @type {any} */ _, /** @type {number} */ at) => {
    const first = at - (at % size);
    return !since.slice(first, first + size).some(isVoid);
  });
  const sharesCount = rules.duplicate || rules.ties === "share";
  const due = players.map((/** @type {string} */ player) =>
    counted.reduce((/** @type {number} */ sum, /** @type {any} */ game) => {
      if (!game.winners.includes(player)) return sum;
      return sum + (game.winners.length === 1 ? 2 : sharesCount ? 1 : 0);
    }, 0),
  );
  if (!equal(halves, due)) return `the games won, in halves, should be ${JSON.stringify(due)}`;
  if (winners.some((/** @type {string} */ player) => !players.includes(player)))
    return "the winner did not play";
  if (how === "void" && winners.length) return "a void match has no winner";
  if (how !== "played" || rules.sprt) return null;
  const most = sharesCount ? Math.max(0, ...due) : 2 * Math.ceil(rules.best_of / 2);
  const first = players.filter(
    (/** @type {string} */ player, /** @type {number} */ at) =>
      most > 0 &&
      (sharesCount ? due[at] === most && !out.includes(player) : due[at] >= most),
  );
  return equal(winners, first) ? null : `the winners should be ${JSON.stringify(first)}`;
}

/**
 * Finds an error in a tournament's log: its report of this match, the players of a round, or the
 * winners. Rulings of operators are accepted as they are.
 * @param {import("./verify.js").Line[]} lines the tournament's
 * @param {any} plan the match's @param {any[]} results the match's, in order
 * @param {string[]} heads those after each result
 * @returns {string | null}
 */
export function wrongTournament(lines, plan, results, heads) {
  const rounds = lines.filter((line) => line.type === "round-paired").map((line) => line.data);
  const paired = rounds.flatMap((round) => round.matches).find((one) => one.id === plan.id);
  if (!paired) return "the tournament never paired this match";
  if (!equal(paired, plan)) return "its plan differs from the one in the tournament's log";
  const reports = lines.filter((line) => line.type === "match-reported").map((line) => line.data);
  const own = reports.filter((report) => report.id === plan.id);
  if (!own.length) return "the tournament's log does not report its result";
  for (const [at, report] of own.entries()) {
    if (!equal(report.result, results[at]))
      return "its result differs from the one in the tournament's log";
    if (report.head && report.head !== heads[at])
      return "its head differs from the one in the tournament's log";
  }
  const { losersLeave } = formatOf(lines[0].data.plan);
  const rulings = ["result-overridden", "tournament-awarded"];
  if (!losersLeave || lines.some((line) => rulings.includes(line.type))) return null;
  return wrongRounds(rounds, reports, lines.at(-1)?.data.winners ?? []);
}

/**
 * Checks that only winners and players without a match advance.
 * @param {any[]} rounds @param {any[]} reports @param {string[]} champions
 */
function wrongRounds(rounds, reports, champions) {
  /** @type {string[] | null} */
  let alive = null;
  for (const { round, matches, byes } of rounds) {
    const here = matches.flatMap((/** @type {any} */ one) => one.players);
    const stranger = here.find((/** @type {string} */ name) => alive && !alive.includes(name));
    if (stranger) return `${stranger} plays in round ${round} without having won the round before`;
    const won = matches.flatMap(
      (/** @type {any} */ one) =>
        reports.filter((report) => report.id === one.id).at(-1)?.result.winners ?? [],
    );
    alive = [...won, ...byes.map((/** @type {any} */ bye) => bye.player)];
  }
  const lost = champions.find((name) => alive && !alive.includes(name));
  return lost ? `${lost} won the tournament without winning its last round` : null;
}
