// Write a bot: `#/bot`. A complete bot for each game, and the commands that bring it to this server.

import { copied } from "../lib/clipboard.js";
import { h, render } from "../lib/dom.js";

const GAMES = ["Yahtzee", "Fish", "Trains"];

/**
 * The bot of a game: an example of the Python client, which the server has.
 * @param {string} name
 */
async function example(name) {
  const response = await fetch(`/web/examples/${name}.py`);
  if (!response.ok) throw new Error("the server has no example of this game");
  return response.text();
}

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("Write a bot");
  let game = "Yahtzee";
  /** @type {Map<string, string>} */
  const bots = new Map();

  async function load() {
    const wanted = game;
    try {
      bots.set(wanted, await example(wanted.toLowerCase()));
      show();
    } catch (problem) {
      app.say(`The bot could not be loaded: ${problem instanceof Error ? problem.message : problem}.`, "bad");
    }
  }

  /** @param {string} text @param {string} what */
  const copying = (text, what) => async () => {
    if (await copied(text)) app.say(`Copied: ${what}.`);
    else app.say("Your browser does not let this page copy. Select the text and copy it.", "bad");
  };

  /** @param {string} what @param {string} text */
  const listing = (what, text) =>
    h(
      "div",
      { class: "listing" },
      h("pre", { class: "wide", tabindex: "0", role: "group", "aria-label": what }, h("code", {}, text)),
      h(
        "button",
        {
          type: "button",
          class: "plain small",
          "aria-label": `Copy: ${what}`,
          onclick: copying(text, what),
        },
        "Copy",
      ),
    );

  function show() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const name = game.toLowerCase();
    const commands = [
      `curl ${location.origin}/clients/python.tar.gz | tar xz`,
      "cd agon-python",
      "export AGON_PASSWORD=choose-one",
      `python3 ${name}.py --server ${scheme}://${location.host} --account my-bot --register` +
        ` --queue ${name}-casual`,
    ].join("\n");
    const tab = (/** @type {string} */ one) =>
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-pressed": String(one === game),
          onclick: () => {
            game = one;
            show();
            if (!bots.has(game)) load();
          },
        },
        one,
      );
    render(
      root,
      h("h1", {}, "Write a bot"),
      h(
        "p",
        { class: "lead" },
        "A bot answers questions: the server sends the question and what the bot may see, ",
        "and the bot returns its move.",
      ),
      h("div", { class: "row choices", role: "group", "aria-label": "Game" }, GAMES.map(tab)),
      h(
        "section",
        { class: "card", "aria-labelledby": "program" },
        h("h2", { id: "program" }, `A whole bot for ${game}: ${name}.py`),
        listing(`The bot ${name}.py`, bots.get(game) ?? ""),
      ),
      h(
        "section",
        { class: "card", "aria-labelledby": "server" },
        h("h2", { id: "server" }, "Bring it to this server"),
        listing("The commands", commands),
        h(
          "p",
          {},
          "The first command fetches the Python client and these bots from this server. ",
          "Python 3.9 or later is enough; nothing else is installed. ",
          "The bot waits in the queue and plays against the next player who joins. ",
          "For a tournament, replace ",
          h("code", {}, `--queue ${name}-casual`),
          " with ",
          h("code", {}, "--sign-up"),
          " and the tournament's name.",
        ),
      ),
      h(
        "p",
        {},
        h("a", { href: `#/rules/${name}` }, `The rules of ${game}`),
        " · ",
        h("a", { href: "#/docs" }, "Protocol and documentation"),
      ),
    );
  }

  show();
  load();
  return () => {};
}
