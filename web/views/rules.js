// The rules of the games, with pictures: `#/rules/fish`. Without a name: all games.

import { h, render } from "../lib/dom.js";
import { dice, ice, railways } from "../start/pictures.js";
import { GAMES } from "../start/welcome.js";

/**
 * A step of the rules: its words, and its picture.
 * @typedef {{ words: string, draw?: () => Element }} Step
 */

/** @type {Record<string, { aim: string, steps: Step[], table?: [string, string][] }>} */
const RULES = {
  yahtzee: {
    aim: "Two players fill a card of thirteen boxes. The higher total wins. Both have the same luck.",
    steps: [
      { words: "In each of thirteen turns you roll five dice.", draw: () => dice([5, 2, 5, 5, 1]) },
      {
        words: "You keep the dice you like and roll the others again, twice at most.",
        draw: () => dice([5, 6, 5, 5, 5], [true, false, true, true, true]),
      },
      {
        words: "Then you write the result into one empty box of your card. A box counts once.",
        draw: () => dice([5, 5, 5, 5, 5], [true, true, true, true, true]),
      },
    ],
    table: [
      ["Aces to sixes", "the sum of the dice of that value; 35 more for 63 points in all six"],
      ["Three, four of a kind", "the sum of all dice"],
      ["Full house", "three of one value and two of another: 25"],
      ["Small straight", "four in a row: 30"],
      ["Large straight", "five in a row: 40"],
      ["Yahtzee", "five alike: 50; every further one earns 100 more"],
      ["Chance", "the sum of all dice"],
    ],
  },
  fish: {
    aim: "Two to four players collect fish on melting ice. The player with the most fish wins.",
    steps: [
      {
        words:
          "Players place their penguins in turn: four each in a game of two, " +
          "three in a game of three, two in a game of four.",
        draw: () => field([[0, 0]], [[2, 1]], "Two penguins on the ice"),
      },
      {
        words:
          "A move slides one penguin in a straight line to a free tile, in six directions. " +
          "Holes and penguins block the way.",
        draw: () =>
          field([[1, 0]], [[4, 1]], "A penguin and the tiles it can reach", [
            [0, 0],
            [0, 1],
            [2, 0],
            [2, 1],
            [3, 0],
            [3, 1],
          ]),
      },
      {
        words:
          "You get the fish of the tile that your penguin leaves, and the tile melts. " +
          "A player who cannot move waits. The game ends when nobody can move.",
        draw: () => field([[3, 1]], [[4, 1]], "The tile that the penguin left is water", [], [1, 0]),
      },
    ],
  },
  trains: {
    aim: "Two to eight players build railways between cities. The most points win.",
    steps: [
      {
        words:
          "You begin with 45 rails and four cards in four colours. " +
          "Of five destinations you keep two: pairs of cities to connect.",
        draw: () => railways("A map of cities and tracks"),
      },
      {
        words:
          "In a turn you draw two cards, or you take one free track. " +
          "A track costs as many cards of its colour, and as many rails, as it has segments.",
        draw: () => railways("The track from Chicago to Boston is taken", [1]),
      },
      {
        words:
          "When a player has two rails or fewer, everybody else has one more turn, " +
          "and the game is over.",
        draw: () => railways("Connected tracks form a path", [1, 4]),
      },
    ],
    table: [
      ["A segment of your tracks", "1 point"],
      ["A destination that is connected", "10 points"],
      ["A destination that is not", "10 points less"],
      ["The longest path", "20 points"],
    ],
  },
};

/**
 * A piece of ice with a penguin of each of two players.
 * @param {[number, number][]} one @param {[number, number][]} other @param {string} words
 * @param {[number, number][]} [marked] @param {[number, number] | null} [melted]
 */
function field(one, other, words, marked = [], melted = null) {
  const board = [
    [2, 1, 3],
    [4, 2, 1],
    [1, 5, 2],
    [3, 1, 4],
    [2, 3, 1],
  ];
  if (melted) board[melted[0]][melted[1]] = 0;
  return ice(board, [{ places: one }, { places: other }], words, { marked });
}

/** @type {import("../lib/types.js").Mount} */
export function mount(root, [chosen = ""], app) {
  const known = GAMES.find(({ game }) => game === chosen);
  app.title(known ? `Rules of ${known.name}` : "Rules");
  const tab = (/** @type {typeof GAMES[0]} */ { game, name }) =>
    h(
      "a",
      {
        class: "button plain",
        href: `#/rules/${game}`,
        "aria-current": game === chosen ? "page" : null,
      },
      name,
    );
  render(
    root,
    h("h1", {}, known ? `Rules of ${known.name}` : "Rules"),
    h("nav", { class: "row choices", "aria-label": "Games" }, GAMES.map(tab)),
    known ? rules(known.game) : GAMES.map(summary),
  );
  return () => {};
}

/** @param {typeof GAMES[0]} game */
const summary = ({ game, name, about, draw }) =>
  h(
    "section",
    { class: "card entry pressable", "data-key": game },
    h("div", {}, h("h2", {}, h("a", { class: "cover", href: `#/rules/${game}` }, name)), about),
    draw(),
  );

/** @param {string} game */
function rules(game) {
  const { aim, steps, table } = RULES[game];
  const step = (/** @type {Step} */ { words, draw }) =>
    h("li", { class: "step" }, draw ? draw() : null, h("p", {}, words));
  return [
    h("p", { class: "lead" }, aim),
    h("ol", { class: "steps" }, steps.map(step)),
    table
      ? h(
          "section",
          { class: "card", "aria-labelledby": "points" },
          h("h2", { id: "points" }, "Points"),
          h(
            "table",
            {},
            h(
              "tbody",
              {},
              table.map(([what, worth]) =>
                h("tr", {}, h("th", { scope: "row" }, what), h("td", {}, worth)),
              ),
            ),
          ),
        )
      : null,
    h(
      "p",
      { class: "row" },
      h("a", { class: "button", href: "#/" }, "Play now"),
      h("a", { href: "#/bot" }, "Write a bot"),
    ),
  ];
}
