// Write a bot: `#/bot`. A complete bot for each game, and the commands that bring it to this server.

import { h, render } from "../lib/dom.js";

/**
 * The bots of clients/python/examples.
 * @type {Record<string, string>}
 */
const BOTS = {
  Yahtzee: `from agon import main, yahtzee


class Bot:
    def keep(self, question, view, match):
        most = max(question["dice"], key=lambda die: (question["dice"].count(die), die))
        return {"keep": [die == most for die in question["dice"]]}

    def score(self, question, view, match):
        boxes, dice = yahtzee.own_card(view)["boxes"], question["dice"]
        free = yahtzee.open_boxes(boxes, dice, view["rule"])
        return {"score": max(free, key=lambda box: sum(yahtzee.worth(boxes, dice, box)))}


main(Bot())
`,
  Fish: `from agon import fish, main


class Bot:
    def place(self, question, view, match):
        free = fish.placements(view)
        return {"place": max(free, key=lambda tile: len(fish.neighbours(view, tile)))}

    def move(self, question, view, match):
        taken = lambda move: fish.fish_at(view, move[0]) + fish.fish_at(view, move[1])
        return {"move": max(fish.moves(view), key=taken)}


main(Bot())
`,
  Trains: `from agon import main, trains


class Bot:
    def pick(self, question, view, match):
        return trains.returns(question, question["destinations"][:2])

    def play(self, question, view, match):
        own = trains.acquired(view["players"][view["you"]])
        cities = {city for way in own for city in way[:2]}
        ways = sorted(trains.affordable(view), key=lambda way: len(cities.intersection(way)) == 1)
        return {"acquire": ways[-1]} if ways else "more-cards"


main(Bot())
`,
};

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("Write a bot");
  let game = "Yahtzee";

  /** @param {string} text @param {string} what */
  const copied = (text, what) => async () => {
    try {
      await navigator.clipboard.writeText(text);
      app.say(`${what} is in your clipboard.`);
    } catch {
      app.say("The browser does not let this page use the clipboard. Select the text.", "bad");
    }
  };

  /** @param {string} what @param {string} text */
  const listing = (what, text) =>
    h(
      "div",
      { class: "listing" },
      h("pre", { class: "wide", tabindex: "0", "aria-label": what }, h("code", {}, text)),
      h(
        "button",
        {
          type: "button",
          class: "plain small",
          "aria-label": `Copy: ${what}`,
          onclick: copied(text, what),
        },
        "Copy",
      ),
    );

  function show() {
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const name = game.toLowerCase();
    const commands = [
      "pip install ./clients/python   # in a checkout of Agon",
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
      h("div", { class: "row choices", role: "group", "aria-label": "Game" }, Object.keys(BOTS).map(tab)),
      h(
        "section",
        { class: "card", "aria-labelledby": "program" },
        h("h2", { id: "program" }, `A whole bot for ${game}: ${name}.py`),
        listing(`The bot ${name}.py`, BOTS[game]),
      ),
      h(
        "section",
        { class: "card", "aria-labelledby": "server" },
        h("h2", { id: "server" }, "Bring it to this server"),
        listing("The commands", commands),
        h(
          "p",
          {},
          "The bot waits in the queue and plays whoever comes, you for example. ",
          "For tournaments, replace the queue by --sign-up and the name of the tournament.",
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
  return () => {};
}
