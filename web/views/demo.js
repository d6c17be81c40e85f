// The game that the page brings along, step by step: `#/demo`. A server on which nobody has played
// has nothing else to watch.

import { h } from "../lib/dom.js";
import { replayer } from "../lib/replayer.js";
import { styled } from "../lib/styled.js";
import { bundledReplay } from "../start/game.js";

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  const styles = styled(
    "/web/boards/boards.css",
    "/web/boards/games.css",
    "/web/replay/analysis.css",
  );
  app.title("A great game");
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
  let gone = false;
  let end = () => {};
  // Nothing needs the network but the styles: without them the game would move as they arrive.
  const loaded = styles.map(
    (link) => new Promise((done) => (link.onload = link.onerror = () => done(null))),
  );
  Promise.all(loaded).then(() => {
    if (!gone) end = show(root);
  });
  return () => {
    gone = true;
    end();
  };
}

/**
 * Shows the game; returns a function that ends it.
 * @param {HTMLElement} root
 */
const show = (root) =>
  replayer(
    root,
    { replay: bundledReplay(), log: "", tournament: "" },
    {
      verifier: () => import("../lib/verify.js"),
      analyst: () => import("../replay/analysis.js"),
      at: 0,
      isExample: true,
    },
  ).end;
