// The start of the lobby: what this is, a game at once, and the other ways to take part.

import { acting } from "../lib/acting.js";
import { Problem, asSomeone, casual, session } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { sentence } from "../lib/show.js";
import { dice, ice, railways } from "./pictures.js";

/** @typedef {import("../lib/types.js").App} App */

/** The levels of house players, from the weakest. */
const LEVELS = ["Beginner", "Easy", "Medium", "Hard", "Champion"];
const KEY = "agon.level";

/**
 * The games with a tile: what each is, and its picture.
 * @type {{ game: string, name: string, about: string, draw: () => Element }[]}
 */
export const GAMES = [
  {
    game: "yahtzee",
    name: "Yahtzee",
    about: "Roll five dice, keep the good ones, fill your card.",
    draw: () => dice([5, 5, 2, 5, 5], [true, true, false, true, true]),
  },
  {
    game: "fish",
    name: "Fish",
    about: "Slide penguins over melting ice and collect the most fish.",
    draw: () =>
      ice(
        [
          [2, 1, 3],
          [4, 0, 1],
          [1, 5, 2],
        ],
        [{ places: [[0, 0]] }, { places: [[2, 1]] }],
        "Two penguins on the ice",
      ),
  },
  {
    game: "trains",
    name: "Trains",
    about: "Draw cards, take tracks, connect your cities.",
    draw: () => railways("Cities and tracks between them", [1, 4]),
  },
];

/** The level that was chosen last, 1 to 5. */
function level() {
  const kept = Number(localStorage.getItem(KEY));
  return kept >= 1 && kept <= LEVELS.length ? kept : 2;
}

/**
 * Starts a game against a house player, as a guest if need be.
 * @param {App} app @param {string} game
 */
async function play(app, game) {
  const start = () => asSomeone((account) => casual(game, [account, `house:level-${level()}`]));
  try {
    await start();
    app.go("#/play");
  } catch (problem) {
    app.say(sentence(problem), "bad");
    // On a server without guests a visitor logs in first, and the game begins then.
    if (!session() && problem instanceof Problem && problem.status === 403)
      acting(app, () => {})(start, "Your game begins.", "#/play")();
  }
}

/** @param {App} app */
export function tiles(app) {
  const tile = (/** @type {typeof GAMES[0]} */ { game, name, about, draw }) =>
    h(
      "li",
      { class: "card game-tile", "data-key": game },
      h("div", { class: "drawn" }, draw()),
      h("h2", {}, name),
      h("p", { class: "soft" }, about),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", class: "start", onclick: () => play(app, game) },
          `Play ${name}`,
        ),
        h("a", { href: `#/rules/${game}`, "aria-label": `Rules of ${name}` }, "Rules"),
      ),
    );
  return h(
    "section",
    { class: "now", "aria-label": "Play now" },
    levels(),
    h("ul", { class: "game-tiles" }, GAMES.map(tile)),
  );
}

function levels() {
  const onchange = (/** @type {Event} */ event) =>
    localStorage.setItem(KEY, /** @type {HTMLInputElement} */ (event.target).value);
  const one = (/** @type {string} */ word, /** @type {number} */ at) =>
    h(
      "label",
      { class: "level" },
      h("input", {
        type: "radio",
        name: "level",
        value: at + 1,
        checked: at + 1 === level(),
        onchange,
      }),
      h("span", {}, word),
    );
  return h(
    "div",
    { class: "levels row", role: "radiogroup", "aria-label": "Your opponent" },
    h("span", { "aria-hidden": "true" }, "Your opponent:"),
    LEVELS.map(one),
  );
}

/**
 * The top of the lobby for visitors and guests: one sentence, a game that plays by itself, and what
 * else there is to do.
 * @param {App} app @param {string} watch the address of something to watch
 */
export function welcome(app, watch) {
  const ways = [
    ["Watch", "Follow a live game, or replay a good one.", watch],
    ["Write a bot", "Ten lines of Python play here.", "#/bot"],
    ["Run a tournament", "Brackets, leagues and Swiss, for people and programs.", "#/new"],
  ];
  return h(
    "div",
    { class: "welcome", "data-key": "welcome" },
    h(
      "div",
      { class: "intro" },
      h("h1", {}, "Play now"),
      h(
        "p",
        { class: "lead" },
        "Agon is a place for games of skill and luck: play in your browser, ",
        "against people and programs, or send a program of your own.",
      ),
      guest(),
      h(
        "ul",
        { class: "ways" },
        ways.map(([name, about, href]) =>
          h(
            "li",
            { class: "entry pressable" },
            h("a", { class: "cover", href }, name),
            h("span", { class: "soft small" }, about),
          ),
        ),
      ),
    ),
    demo(),
    tiles(app),
  );
}

/** Reminds a guest that the account can be kept. */
function guest() {
  const now = session();
  if (!now?.guest) return null;
  return h(
    "p",
    { class: "claim" },
    `You play as ${now.account}. `,
    h("a", { href: "#/account" }, "Choose a name and a password"),
    " to keep your games.",
  );
}

/** Loads the game that plays by itself, once there is time for it. */
export function loadDemo() {
  // A user who leaves meanwhile stops the load; the page is whole without the game.
  const load = () => void import("./demo.js").catch(() => {});
  if ("requestIdleCallback" in window) requestIdleCallback(load, { timeout: 2_000 });
  else setTimeout(load, 300);
}

function demo() {
  const element = document.createElement("agon-demo");
  element.className = "card";
  element.setAttribute("data-key", "demo");
  return element;
}
