// The lobby: a game at once, running and open tournaments, players online, queues, results, and the
// leaderboard. Visitors and guests see first what this place is.

import { path, session, sessions } from "../lib/api.js";
import { acting } from "../lib/acting.js";
import { h, render } from "../lib/dom.js";
import { watched } from "../lib/show.js";
import { watch } from "../lib/stream.js";
import { nothing, refresh } from "../lobby/known.js";
import { results, tournaments } from "../lobby/lists.js";
import { here, invitations, leaders, queues } from "../lobby/people.js";
import { waiting } from "../start/waiting.js";
import { loadDemo, tiles, welcome } from "../start/welcome.js";

/** How often results are fetched while a tournament runs; otherwise less often. */
const RUNNING_MS = 5_000;
const QUIET_MS = 60_000;

const RUNNING = { title: "Running", standings: ["running"], none: "No tournament is running." };
const COMING = {
  title: "Coming",
  standings: ["open", "inviting"],
  none: "No tournament is open for sign-up. Play now, or join a queue.",
};
const PAST = { title: "Past tournaments", standings: ["over", "called-off"], none: "No tournament is over yet." };

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
    if (!lobby) return render(root, h("h1", {}, "Lobby"), h("p", { class: "soft" }, "Loading …"));
    const now = session();
    const { here: present, accounts } = lobby;
    const counts = `${present} here · ${accounts} accounts · ${lobby.counts.running} running`;
    render(
      root,
      !now || now.guest
        ? welcome(app, toWatch(lobby, known.matches))
        : [
            h(
              "div",
              { class: "head" },
              h("h1", {}, "Lobby"),
              h("p", { class: "soft" }, counts),
              now.role === "operator"
                ? h("a", { class: "button plain", href: "#/new" }, "New tournament")
                : null,
            ),
            tiles(app),
          ],
      waiting(),
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
          tournaments(known, act, PAST),
        ),
        h(
          "div",
          { class: "stack" },
          queues(known, app, act, look),
          here(known),
          leaders(known, choose),
        ),
      ),
    );
  }

  show();
  loadDemo();
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

/**
 * The address of something to watch: a tournament that runs, or the latest match.
 * @param {import("../lib/types.js").Lobby} lobby
 * @param {import("../lib/types.js").PlayedMatch[]} matches
 */
function toWatch({ tournaments: all }, [latest]) {
  const running = all.find(({ standing }) => standing === "running");
  if (running) return path`#/tournament/${running.id}`;
  return latest ? watched(latest.tournament, latest.id, 1) : "#/rules/fish";
}
