// The game that the page brings along, step by step: `#/demo`. A server on which nobody has played
// has nothing else to watch.

import { h } from "../lib/dom.js";
import { replayer } from "../lib/replayer.js";
import { styled } from "../lib/styled.js";
import { bundledReplay } from "../start/game.js";

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  styled("/web/boards/boards.css", "/web/boards/games.css", "/web/replay/analysis.css");
  app.title("A great game");
  const replay = bundledReplay();
  root.append(
    h("h1", {}, "A great game"),
    h(
      "p",
      { class: "soft" },
      "The two strongest house players play Fish. ",
      h("a", { href: "#/" }, "Play a game yourself"),
      ", or read ",
      h("a", { href: "#/rules/fish" }, "the rules of Fish"),
      ".",
    ),
  );
  const shown = replayer(
    root,
    { replay, log: "", tournament: "" },
    {
      verifier: () => import("../lib/verify.js"),
      analyst: () => import("../replay/analysis.js"),
      at: 0,
      isExample: true,
    },
  );
  return () => shown.end();
}
