// A new tournament: `#/new`. Operators fill in a form; others read who may, and how to run one on
// their own machine.

import { get, path, post, session, sessions } from "../lib/api.js";
import { h, render } from "../lib/dom.js";
import { complaint, sentence } from "../lib/show.js";
import { announcement, blank, faults, fields, filled } from "../start/form.js";

const OWN = `agon run --preset yahtzee-class \\
    --player ./my-bot house:level-3 house:level-4`;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("New tournament");
  /** @type {import("../lib/types.js").Games | null} */
  let games = null;
  let now = blank("yahtzee");
  /**
   * The queues in which somebody waits.
   * @type {import("../lib/types.js").Lobby["queues"]}
   */
  let queues = [];
  let isBusy = false;
  /** @type {unknown} */
  let problem = null;
  /**
   * The mistakes in the form, by field.
   * @type {Record<string, string>}
   */
  let wrong = {};

  async function create(/** @type {SubmitEvent} */ event) {
    event.preventDefault();
    if (isBusy || !games) return;
    read(/** @type {HTMLFormElement} */ (event.currentTarget));
    [wrong, problem] = [faults(now, queues), null];
    isBusy = Object.keys(wrong).length === 0;
    show();
    if (!isBusy) {
      const first = root.querySelector("[aria-invalid]");
      if (first instanceof HTMLElement) first.focus();
      return;
    }
    try {
      const { id } = await post("/api/v1/tournaments", announcement(now, games));
      app.say(`The tournament ${id} is announced.`);
      return app.go(path`#/tournament/${id}`);
    } catch (failure) {
      problem = failure;
    }
    isBusy = false;
    show();
  }

  /** Reads the values. Fields that the form does not show keep theirs. */
  function read(/** @type {HTMLFormElement} */ form) {
    const before = now;
    const shown = (/** @type {string} */ name) => form.elements.namedItem(name) !== null;
    now = filled(new FormData(form));
    if (!shown("best_of")) now.best_of = before.best_of;
    if (!shown("at_most")) now.at_most = before.at_most;
    if (!shown("minutes")) now.minutes = before.minutes;
    if (!shown("players")) now.players = before.players;
  }

  /** Another choice may ask for other fields. */
  function changed(/** @type {Event} */ event) {
    const field = /** @type {HTMLSelectElement} */ (event.target);
    read(/** @type {HTMLFormElement} */ (field.form));
    if (field.name === "game") now.id = blank(now.game).id;
    // Another choice has other fields: what was wrong may be right now.
    wrong = {};
    show();
    const id = root.querySelector("input[name=id]");
    if (id instanceof HTMLInputElement) id.value = now.id;
  }

  function show() {
    const may = session()?.role === "operator";
    render(
      root,
      h("h1", {}, "Run a tournament"),
      may && games
        ? h(
            "form",
            { class: "card new", onsubmit: create, novalidate: true, "data-key": "form" },
            fields(games, queues, now, wrong, changed),
            problem ? complaint(problem) : null,
            h("div", {}, h("button", { disabled: isBusy }, "Create the tournament")),
          )
        : null,
      may
        ? null
        : h(
            "div",
            { class: "card", "data-key": "others" },
            h(
              "p",
              {},
              "An operator of this server runs its tournaments. ",
              "The server prints the operator's token when it starts for the first time. ",
              h("a", { href: "#/account?then=new" }, "Log in with it"),
              " to create a tournament here.",
            ),
            h("p", {}, "On your own machine, this command plays a tournament of programs:"),
            h("pre", { class: "wide", tabindex: "0" }, h("code", {}, OWN)),
          ),
      h(
        "p",
        { class: "soft" },
        h("a", { href: "#/formats" }, "Which format?"),
        " compares formats by simulation.",
      ),
    );
  }

  show();
  Promise.all([get("/api/v1/games"), get("/api/v1/lobby")]).then(
    ([all, lobby]) => {
      games = all;
      queues = lobby.queues;
      show();
    },
    (failure) => app.say(sentence(failure), "bad"),
  );
  sessions.addEventListener("session", show);
  return () => sessions.removeEventListener("session", show);
}
