// The lobby: running and open tournaments, players online, how to join, results, and the
// leaderboard.

import { session, sessions } from "../lib/api.js";
import { acting } from "../lib/acting.js";
import { h, render } from "../lib/dom.js";
import { watch } from "../lib/stream.js";
import { announce } from "../lobby/announce.js";
import { hero } from "../lobby/hero.js";
import { nothing, refresh } from "../lobby/known.js";
import { pastTournaments, results, tournaments } from "../lobby/lists.js";
import { here, invitations, leaders, queues } from "../lobby/people.js";

/** How often results are fetched while a tournament runs; otherwise less often. */
const RUNNING_MS = 5_000;
const QUIET_MS = 60_000;

const RUNNING = { title: "Running", standings: ["running"] };
const COMING = { title: "Coming", standings: ["open", "inviting"] };
const CANCELLED = { title: "Cancelled", standings: ["called-off"] };

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("Lobby");
  const known = nothing();
  let gone = false;
  let looking = false;
  let again = false;
  let timer = 0;

  /** Fetches what the stream does not deliver; never twice at once. */
  async function look() {
    if (looking) return void (again = true);
    looking = true;
    clearTimeout(timer);
    let next = RUNNING_MS;
    try {
      do {
        again = false;
        await refresh(known);
      } while (again && !gone);
      next = known.lobby?.counts.running ? RUNNING_MS : QUIET_MS;
    } catch {
      // The stream reports that the server is unreachable.
    }
    looking = false;
    if (gone) return;
    show();
    timer = setTimeout(look, next);
  }

  const act = acting(app, look);

  function choose(/** @type {string} */ game) {
    known.game = game;
    look();
  }

  function show() {
    const { lobby } = known;
    // Everything at once: a part that comes later would move the others.
    if (!lobby || !known.complete) return render(root, h("h1", {}, "Lobby"), h("p", { class: "soft" }, "Loading …"));
    const now = session();
    const { here: present, accounts } = lobby;
    const counts = `${present} here · ${accounts} accounts · ${lobby.counts.running} running`;
    render(
      root,
      h(
        "div",
        { class: "head" },
        h("h1", {}, "Lobby"),
        h("p", { class: "soft" }, counts),
        now?.role === "operator"
          ? h(
              "button",
              { type: "button", class: "plain", onclick: () => announce(app, known.games) },
              "New tournament",
            )
          : null,
      ),
      hero(known.live),
      h(
        "div",
        { class: "columns" },
        h(
          "div",
          { class: "stack" },
          invitations(known, act),
          tournaments(known, act, RUNNING),
          tournaments(known, act, COMING),
          results(known),
          pastTournaments(known),
          tournaments(known, act, CANCELLED),
        ),
        h(
          "div",
          { class: "stack" },
          now ? null : welcome(),
          queues(known, act),
          here(known),
          leaders(known, choose),
        ),
      ),
    );
  }

  show();
  const unwatch = watch("/api/v1/events", {
    show(data) {
      known.lobby = data;
      show();
      look();
    },
  });
  sessions.addEventListener("session", look);
  return () => {
    gone = true;
    clearTimeout(timer);
    unwatch();
    sessions.removeEventListener("session", look);
  };
}

function welcome() {
  return h(
    "section",
    { class: "card call", "aria-label": "Play with us" },
    h("h2", {}, "Play with us"),
    h("p", {}, "Play in your browser, against programs and other people."),
    h("a", { class: "button", href: "#/account" }, "Log in or register"),
  );
}
