// The form for a new tournament: its fields, and the announcement they mean.

import { h } from "../lib/dom.js";
import { capital } from "../lib/show.js";

/** @typedef {import("../lib/types.js").Games} Games */

/**
 * The formats of the form: their options, what a tie means in them, and a line for people.
 * @type {Record<string, { name: string, ties?: "replay" | "share", single?: boolean }>}
 */
const FORMATS = {
  bracket: { name: "Single elimination: the loser of a match is out", ties: "replay" },
  "double-elimination": { name: "Double elimination: out after two losses", ties: "replay" },
  "round-robin": { name: "League: everybody meets everybody" },
  swiss: { name: "Swiss: equal scores meet, nobody is out" },
  groups: { name: "Groups: leagues of four" },
  knockout: {
    name: "Knock-out in games of several players",
    ties: "share",
    single: true,
  },
};

/** The time limits of the form: for a move, and to reconnect. */
const TIMES = [
  { name: "5 minutes for a move (people)", answer_ms: 300_000, wait_ms: 600_000, people: true },
  { name: "1 minute for a move (people)", answer_ms: 60_000, wait_ms: 300_000, people: true },
  { name: "10 seconds for a move (programs)", answer_ms: 10_000, wait_ms: 60_000, people: false },
  { name: "2 seconds for a move (programs)", answer_ms: 2_000, wait_ms: 60_000, people: false },
];

const BEST_OF = [1, 3, 5, 7, 9];

/** How long paced house players wait before each move. */
const PACE_MS = 800;

/** The presets for programs, by game. */
const FOR_PROGRAMS = /** @type {Record<string, string>} */ ({
  yahtzee: "yahtzee-class",
  fish: "fish",
  trains: "trains",
});

/** How players come into a tournament. */
export const WAYS = {
  "sign-up": "Players sign up",
  invitation: "I invite players",
  named: "These players start at once",
  line: "Players who are online start at once",
  queue: "Players who wait in a queue start at once",
};

/** @typedef {import("../lib/types.js").Lobby["queues"]} Queues */

/**
 * The values of the form.
 * @typedef {object} Filled
 * @property {string} id
 * @property {string} game
 * @property {string} format
 * @property {number} time the number of a time limit
 * @property {number} best_of
 * @property {boolean} rated
 * @property {string[]} house house players
 * @property {boolean} paced whether house players leave time to watch
 * @property {keyof typeof WAYS} way
 * @property {number} at_most
 * @property {number} minutes
 * @property {string[]} players
 * @property {string} queue
 */

/** @param {FormData} data @returns {Filled} */
export function filled(data) {
  const text = (/** @type {string} */ name) => String(data.get(name) ?? "");
  const house = /** @type {string[]} */ (data.getAll("house"));
  const players = text("players").split(/[\n,]/).map((name) => name.trim());
  return {
    id: text("id"),
    game: text("game"),
    format: text("format"),
    time: Number(text("time")),
    best_of: Number(text("best_of")),
    rated: data.get("rated") !== null,
    paced: data.get("paced") !== null,
    house,
    way: /** @type {keyof typeof WAYS} */ (text("way")),
    at_most: Number(text("at_most")),
    minutes: Number(text("minutes")),
    queue: text("queue"),
    players: players.filter((name) => name),
  };
}

/**
 * The announcement that a form means.
 * @param {Filled} form @param {Games} games
 */
export function announcement(form, games) {
  const { name: _, people, ...time } = TIMES[form.time];
  const { ties, single } = FORMATS[form.format];
  const seats = games.games.find(({ game }) => game === form.game);
  const most = seats?.at_most ?? 2;
  const kind = form.format;
  const format = kind === "knockout" ? { kind, min: 2, max: most } : { kind };
  const match = {
    time: form.paced ? { ...time, house_pace_ms: PACE_MS } : time,
    best_of: single ? 1 : form.best_of,
    ...(ties ? { ties } : {}),
    ...(kind === "knockout" ? {} : { confirm_result: false }),
  };
  return {
    id: form.id,
    preset: people ? `${form.game}-casual` : FOR_PROGRAMS[form.game],
    policy: { format, match, unrated: !form.rated },
    ...entry(form),
  };
}

/**
 * How players come in, as the interface has it.
 * @param {Filled} form
 */
function entry({ way, at_most, minutes, players, house, queue }) {
  const wait_ms = minutes * 60_000;
  const all = [...players, ...house];
  switch (way) {
    case "named":
      return { selection: { by: "named", players: all } };
    case "line":
      return { selection: { by: "line", at_most } };
    case "queue":
      return { selection: { by: "queue", queue, at_most } };
    case "invitation":
      return { selection: { by: "invitation", players: all, at_least: 2, wait_ms } };
    default: {
      const second = { second_wait_ms: 0, second_at_least: 2 };
      const selection = { by: "sign-up", at_least: 2, at_most, wait_ms, ...second };
      return { selection, house_players: house };
    }
  }
}

/**
 * A name for a new tournament of a game: the game and the day.
 * @param {string} game @param {Date} [day]
 */
export function suggested(game, day = new Date()) {
  const two = (/** @type {number} */ number) => String(number).padStart(2, "0");
  const date = `${day.getFullYear()}-${two(day.getMonth() + 1)}-${two(day.getDate())}`;
  return `${game}-${date}-${two(day.getHours())}${two(day.getMinutes())}`;
}

/**
 * A field with its label.
 * @param {string} label @param {Node} input @param {string} [tells]
 */
const field = (label, input, tells) =>
  h("label", {}, label, input, tells ? h("span", { class: "soft small" }, tells) : null);

/**
 * The fields of the form.
 * @param {Games} games @param {Queues} queues @param {Filled} now
 * @param {(event: Event) => void} onchange
 */
export function fields(games, queues, now, onchange) {
  const select = (
    /** @type {string} */ name,
    /** @type {[string | number, string][]} */ options,
    /** @type {string | number} */ chosen,
  ) =>
    h(
      "select",
      { name, onchange },
      options.map(([value, words]) =>
        h("option", { value, selected: String(value) === String(chosen) }, words),
      ),
    );
  const number = (
    /** @type {string} */ name,
    /** @type {number} */ value,
    /** @type {number} */ min,
    /** @type {number} */ max,
  ) => h("input", { name, type: "number", value, min, max, required: true });
  const known = games.games.filter(({ game }) => game in FOR_PROGRAMS);
  const single = FORMATS[now.format].single;
  return [
    field(
      "Name",
      h("input", {
        name: "id",
        required: true,
        value: now.id,
        pattern: "[a-z0-9][a-z0-9\\-]{0,59}",
        title: "a-z, 0-9 and -",
        autocomplete: "off",
      }),
      "Small letters, digits and hyphens. It is part of the tournament's address.",
    ),
    field("Game", select("game", known.map(({ game }) => [game, capital(game)]), now.game)),
    field(
      "Format",
      select("format", Object.entries(FORMATS).map(([kind, { name }]) => [kind, name]), now.format),
    ),
    field(
      "Time limits",
      select("time", TIMES.map(({ name }, at) => [at, name]), now.time),
      TIMES[now.time].people
        ? "A player who loses the connection continues where they were."
        : "A program that crashes or answers too late loses the game or leaves the tournament.",
    ),
    single
      ? null
      : field(
          "Games of a match",
          select("best_of", BEST_OF.map((count) => [count, `best of ${count}`]), now.best_of),
        ),
    h(
      "label",
      { class: "line" },
      h("input", { type: "checkbox", name: "rated", checked: now.rated }),
      "Results count for the leaderboard",
    ),
    entering(now, queues, select, number),
    // Players who start at once are all in the line or in the queue.
    now.way === "line" || now.way === "queue" ? null : houses(now),
  ];
}

/**
 * How players come in.
 * @param {Filled} now @param {Queues} queues
 * @param {(name: string, options: [string, string][], chosen: string) => Node} select
 * @param {(name: string, value: number, min: number, max: number) => Node} number
 */
function entering(now, queues, select, number) {
  const names = () =>
    field(
      "Players",
      h("textarea", { name: "players", rows: 3, autocomplete: "off" }, now.players.join("\n")),
      "One name a line.",
    );
  const waiting = queues.map(({ queue, waiting }) =>
    /** @type {[string, string]} */ ([queue, `${queue} (${waiting} waiting)`]),
  );
  const hasNames = now.way === "named" || now.way === "invitation";
  return h(
    "fieldset",
    {},
    h("legend", {}, "Players"),
    field("How they come in", select("way", Object.entries(WAYS), now.way)),
    now.way !== "queue"
      ? null
      : waiting.length
        ? field("Queue", select("queue", waiting, now.queue))
        : h("p", { class: "soft" }, "Nobody waits in a queue now."),
    hasNames ? names() : field("Most players", number("at_most", now.at_most, 2, 1024)),
    now.way === "sign-up" || now.way === "invitation"
      ? field("Minutes to wait", number("minutes", now.minutes, 1, 10_000))
      : null,
  );
}

/** @param {Filled} now */
function houses({ house, paced }) {
  const one = (/** @type {number} */ level) => {
    const name = `house:level-${level}`;
    return h(
      "label",
      { class: "line" },
      h("input", { type: "checkbox", name: "house", value: name, checked: house.includes(name) }),
      `Level ${level}`,
    );
  };
  return h(
    "fieldset",
    {},
    h("legend", {}, "House players who take part"),
    h("div", { class: "row" }, [1, 2, 3, 4, 5].map(one)),
    h(
      "label",
      { class: "line" },
      h("input", { type: "checkbox", name: "paced", checked: paced }),
      "They move slowly, so that people can watch",
    ),
  );
}

/** @param {string} game @returns {Filled} */
export const blank = (game) => ({
  id: suggested(game),
  game,
  format: "bracket",
  time: 0,
  best_of: 1,
  rated: true,
  house: [],
  paced: false,
  way: "sign-up",
  at_most: 8,
  minutes: 10,
  players: [],
  queue: "",
});
