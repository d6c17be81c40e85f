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

/** The longest name of a tournament, and of a player. */
const [ID_CHARS_MAX, NAME_CHARS_MAX] = [60, 50];
/** The most players that a form takes, and the most minutes that a tournament waits for them. */
const [PLAYERS_MAX, INVITED_MAX, MINUTES_MAX] = [1_024, 1_000, 10_000];

/**
 * The mistakes in a form, by field; empty if the server may accept its values.
 * @param {Filled} form @param {Queues} queues
 * @returns {Record<string, string>}
 */
export function faults(form, queues) {
  const all = {
    id: faultOfName(form.id),
    players: form.way === "named" || form.way === "invitation" ? faultOfPlayers(form) : "",
    at_most: faultOfMost(form),
    minutes:
      form.way === "sign-up" || form.way === "invitation"
        ? outOfRange("minutes", form.minutes, 1, MINUTES_MAX)
        : "",
    queue: form.way === "queue" ? faultOfQueue(form, queues) : "",
  };
  return Object.fromEntries(Object.entries(all).filter(([, words]) => words));
}

/** @param {string} unit @param {number} value @param {number} least @param {number} most */
const outOfRange = (unit, value, least, most) =>
  Number.isInteger(value) && value >= least && value <= most
    ? ""
    : `Enter a whole number of ${unit} from ${least} to ${most}.`;

/** @param {string} id */
function faultOfName(id) {
  if (!id) return "Give the tournament a name.";
  if (id.length > ID_CHARS_MAX) return `The name is too long. Use at most ${ID_CHARS_MAX} characters.`;
  if (/^-/.test(id)) return "The name begins with a hyphen. Begin it with a letter or a digit.";
  const strange = /[^a-z0-9-]/u.exec(id)?.[0];
  if (!strange) return "";
  const what = /\s/.test(strange) ? "a space" : `“${strange}”`;
  return `The name contains ${what}. Use only small letters (a to z), digits and hyphens.`;
}

/** @param {Filled} form */
function faultOfPlayers({ players, house, way }) {
  const all = [...players, ...house];
  const long = all.find((name) => [...name].length > NAME_CHARS_MAX);
  if (long) return `“${long}” is too long for a player’s name. Put every name on a line of its own.`;
  const twice = all.find((name, at) => all.indexOf(name) < at);
  if (twice) return `${twice} is there twice. Name every player once.`;
  if (all.length < 2)
    return `A tournament needs at least two players. ${
      way === "named" ? "Name more, or choose house players." : "Invite more, or choose house players."
    }`;
  return all.length > INVITED_MAX ? `Name at most ${INVITED_MAX} players.` : "";
}

/** @param {Filled} form */
function faultOfMost({ way, at_most, house }) {
  if (way === "named" || way === "invitation") return "";
  const wrong = outOfRange("players", at_most, 2, PLAYERS_MAX);
  if (wrong || way !== "sign-up" || house.length <= at_most) return wrong;
  return `You chose ${house.length} house players. Raise the maximum, or choose fewer of them.`;
}

/** @param {Filled} form @param {Queues} queues */
function faultOfQueue({ queue }, queues) {
  const waiting = queues.find((one) => one.queue === queue)?.waiting ?? 0;
  if (!queues.length) return "Nobody waits in a queue. Choose another way to find players.";
  return waiting < 2
    ? "A tournament needs at least two players, and fewer wait in this queue. Choose another way."
    : "";
}

/**
 * A field with its label, and what is wrong with its value.
 * @param {string} label @param {HTMLElement} input @param {string} [tells] @param {string} [wrong]
 */
function field(label, input, tells, wrong) {
  const id = `wrong-${input.getAttribute("name")}`;
  if (wrong) {
    input.setAttribute("aria-invalid", "true");
    input.setAttribute("aria-describedby", id);
  }
  return h(
    "div",
    { class: "field" },
    h("label", {}, label, input),
    tells ? h("span", { class: "soft small" }, tells) : null,
    wrong ? h("span", { class: "wrong small", id, role: "alert" }, wrong) : null,
  );
}

/**
 * The fields of the form.
 * @param {Games} games @param {Queues} queues @param {Filled} now
 * @param {Record<string, string>} wrong what is wrong, by field
 * @param {(event: Event) => void} onchange
 */
export function fields(games, queues, now, wrong, onchange) {
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
  ) => h("input", { name, type: "number", value: value || "", min, max });
  const known = games.games.filter(({ game }) => game in FOR_PROGRAMS);
  const single = FORMATS[now.format].single;
  return [
    field(
      "Name",
      h("input", {
        name: "id",
        value: now.id,
        autocomplete: "off",
        autocapitalize: "off",
        spellcheck: "false",
      }),
      "Small letters, digits and hyphens. It is part of the tournament's address.",
      wrong.id,
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
    entering(now, queues, wrong, select, number),
    // Players who start at once are all in the line or in the queue.
    now.way === "line" || now.way === "queue" ? null : houses(now),
  ];
}

/**
 * How players come in.
 * @param {Filled} now @param {Queues} queues @param {Record<string, string>} wrong
 * @param {(name: string, options: [string, string][], chosen: string) => HTMLElement} select
 * @param {(name: string, value: number, min: number, max: number) => HTMLElement} number
 */
function entering(now, queues, wrong, select, number) {
  const names = () =>
    field(
      "Players",
      h("textarea", { name: "players", rows: 3, autocomplete: "off" }, now.players.join("\n")),
      "One name per line.",
      wrong.players,
    );
  const most = number("at_most", now.at_most, 2, PLAYERS_MAX);
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
        ? field("Queue", select("queue", waiting, now.queue), "", wrong.queue)
        : h(
            "p",
            { class: wrong.queue ? "wrong small" : "soft", role: wrong.queue ? "alert" : null },
            wrong.queue ?? "Nobody waits in a queue now.",
          ),
    hasNames ? names() : field("Maximum number of players", most, "", wrong.at_most),
    now.way === "sign-up" || now.way === "invitation"
      ? field("Minutes to wait", number("minutes", now.minutes, 1, MINUTES_MAX), "", wrong.minutes)
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
