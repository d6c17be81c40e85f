// The lobby: a game at once, running and open tournaments, players online, queues, results, and the
// leaderboard. Visitors and guests see first what this place is.

import { path, session, sessions } from "../lib/api.js";
import { acting } from "../lib/acting.js";
import { h, render } from "../lib/dom.js";
import { watched } from "../lib/show.js";
import { watch } from "../lib/stream.js";
import { counted } from "../lib/words.js";
import { hero } from "../lobby/hero.js";
import { nothing, refresh } from "../lobby/known.js";
import { pastTournaments, results, tournaments } from "../lobby/lists.js";
import { here, invitations, leaders, queues } from "../lobby/people.js";
import { waiting } from "../start/waiting.js";
import { loadDemo, tiles, welcome } from "../start/welcome.js";

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
    const now = session();
    // The part that needs no data is there at once. The rest follows below it in one step, so that
    // no part moves another.
    render(
      root,
      !now || now.guest
        ? welcome(app, toWatch(lobby, known.matches))
        : [
            h(
              "div",
              { class: "head" },
              h("h1", {}, "Lobby"),
              lobby ? h("p", { class: "soft" }, counts(lobby)) : null,
              now.role === "operator"
                ? h("a", { class: "button plain", href: "#/new" }, "New tournament")
                : null,
            ),
            tiles(app),
          ],
      waiting(),
      known.complete
        ? [hero(known.live), columns()]
        : h("p", { class: "soft", "data-key": "loading" }, "Loading …"),
    );
  }

  function columns() {
    return h(
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
        queues(known, app, act, look),
        here(known),
        leaders(known, choose),
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

/** @param {import("../lib/types.js").Lobby} lobby */
const counts = ({ here: present, accounts, counts: of }) =>
  `${counted(present, "player")} online · ${counted(accounts, "account")} · ` +
  `${counted(of.running, "tournament")} running`;

/**
 * The address of something to watch: a tournament that runs, the latest match, or else the game that
 * the page brings along.
 * @param {import("../lib/types.js").Lobby | null} lobby
 * @param {import("../lib/types.js").PlayedMatch[]} matches
 */
function toWatch(lobby, [latest]) {
  const running = lobby?.tournaments.find(({ standing }) => standing === "running");
  if (running) return path`#/tournament/${running.id}`;
  return latest ? watched(latest.tournament, latest.id, 1) : "#/demo";
}
