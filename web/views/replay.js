// A finished game, step by step: `#/replay/cup/r1m1/1?at=12`.

import { Problem, get, path } from "../lib/api.js";
import { unfold } from "../lib/changes.js";
import { copied } from "../lib/clipboard.js";
import { h, render } from "../lib/dom.js";
import { replayer } from "../lib/replayer.js";
import { keepInSight } from "../lib/scrolling.js";
import { styled } from "../lib/styled.js";

/** @typedef {import("../lib/replayer.js").Data} Data */

/** How long one request for the analysis waits, and how many there are. */
const [WAIT_MS, ATTEMPTS] = [4_000, 60];

/** @type {import("../lib/types.js").Mount} */
export function mount(root, [tournament = "", match = "r1m1", game = "1"], app) {
  styled("/web/boards/boards.css", "/web/boards/games.css", "/web/replay/analysis.css");
  let gone = false;
  let end = () => {};
  const title = `${tournament}, match ${match}, game ${game}`;
  app.title(`Replay of ${title}`);
  const here = path`#/replay/${tournament}/${match}/${game}`;
  const place = head(tournament, match, game);
  const wait = h("p", { role: "status" }, "Loading the game …");
  root.append(place, wait);
  read(tournament, match, game).then(
    (data) => {
      if (gone) return;
      wait.remove();
      const link = (/** @type {number} */ at) =>
        history.replaceState(history.state, "", `${here}?at=${at}`);
      const at = app.query.at === undefined ? undefined : Number(app.query.at);
      const names = data.replay.seats.join(" – ");
      app.title(`${names}: ${title}`);
      render(place, ...head(tournament, match, game, data).childNodes);
      const shown = replayer(root, data, {
        verifier: () => import("../lib/verify.js"),
        analyst: () => import("../replay/analysis.js"),
        at,
        moved: link,
        extras: () => extras(data, `${names}: ${title}`, app),
      });
      const seen = whenSeen(shown.place, async () => {
        const panel = await shown.explain();
        if (!gone) analyse(data, panel, () => gone);
      });
      if (app.query.why) keepInSight(shown.place);
      end = () => {
        seen();
        shown.end();
      };
    },
    (problem) => {
      if (gone) return;
      const running = problem instanceof Problem && problem.status === 409;
      wait.replaceWith(
        h("p", { class: "complaint" }, problem.message),
        running
          ? h("p", {}, h("a", { href: here.replace("replay", "game") }, "Watch it live"))
          : "",
      );
    },
  );
  return () => {
    gone = true;
    end();
  };
}

/**
 * Calls back once when an element comes into sight: the server spends seconds on an analysis, so
 * the page asks only for one that somebody looks at. Returns a function that cancels it.
 * @param {Element} element @param {() => void} then
 */
function whenSeen(element, then) {
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some((entry) => entry.isIntersecting)) return;
    observer.disconnect();
    then();
  });
  observer.observe(element);
  return () => observer.disconnect();
}

/**
 * Fetches the analysis, which may take the server a while, and keeps it for a saved copy.
 * @param {Data} data @param {import("../replay/analysis.js").AnalysisPanel} panel
 * @param {() => boolean} gone
 */
async function analyse(data, panel, gone) {
  const { tournament, match, number } = data.replay;
  const at = path`/api/v1/tournaments/${tournament}/matches/${match}/games/${number}/analysis`;
  try {
    for (let attempt = 0; attempt < ATTEMPTS && !gone(); attempt++) {
      const analysis = await get(`${at}?wait_ms=${WAIT_MS}`);
      if (!analysis) continue;
      data.analysis = analysis;
      return panel.take(analysis);
    }
    panel.fail("The analysis takes too long. Try again in a minute.");
  } catch (problem) {
    panel.fail(`There is no analysis: ${problem instanceof Error ? problem.message : problem}.`);
  }
}

/**
 * The players, the place of the game, and links to the games before and after it.
 * @param {string} tournament @param {string} match @param {string} game
 * @param {Data & { games?: number[] }} [data]
 */
function head(tournament, match, game, data) {
  const games = data?.games ?? [];
  const at = games.indexOf(Number(game));
  const link = (/** @type {number | undefined} */ number, /** @type {string} */ words) =>
    number === undefined
      ? null
      : h("a", { class: "button plain", href: path`#/replay/${tournament}/${match}/${number}` }, words);
  return h(
    "div",
    { class: "head" },
    h(
      "h1",
      {},
      data
        ? data.replay.seats.flatMap((name, seat) => [seat ? " – " : "", h("bdi", {}, name)])
        : "Replay",
    ),
    h(
      "p",
      { class: "soft" },
      h("a", { href: path`#/tournament/${tournament}` }, tournament),
      ", ",
      h("a", { href: path`#/game/${tournament}/${match}` }, `match ${match}`),
      `, game ${game}${games.length > 1 ? ` of ${games.length}` : ""}`,
    ),
    games.length > 1
      ? h(
          "nav",
          { class: "row", "aria-label": "Games of the match" },
          link(games[at - 1], "← Previous game"),
          link(games[at + 1], "Next game →"),
        )
      : null,
  );
}

/**
 * @param {string} tournament
 * @param {string} match
 * @param {string} game
 * @returns {Promise<Data & { games: number[] }>}
 */
async function read(tournament, match, game) {
  const at = path`/api/v1/tournaments/${tournament}/matches/${match}`;
  // Fetch the replay first: its error says why there is nothing to show.
  const replay = await get(`${at}/games/${encodeURIComponent(game)}/replay?changes=true`);
  replay.steps = unfold(replay.steps);
  const [log, whole, { faults }, { match: played }] = await Promise.all([
    text(`${at}/log`),
    over(tournament),
    get(`${at}/faults`),
    get(at),
  ]);
  const games = played.games.map((/** @type {{ game: number }} */ one) => one.game);
  return { replay, log, tournament: whole, faults, games };
}

/**
 * The log of a finished tournament; empty for one that runs.
 * @param {string} tournament
 */
async function over(tournament) {
  const { standing } = await get(path`/api/v1/tournaments/${tournament}`);
  return standing === "over" ? text(path`/api/v1/tournaments/${tournament}/log`) : "";
}

/** @param {string} address */
async function text(address) {
  const response = await fetch(address, { cache: "no-store" });
  if (!response.ok)
    throw new Problem(
      response.status,
      "failed",
      "the server could not send the log; try again later",
    );
  return response.text();
}

/**
 * Actions that a page on a server offers and a file cannot.
 * @param {Data} data @param {string} title @param {import("../lib/types.js").App} app
 */
function extras(data, title, app) {
  const { tournament, match, number } = data.replay;
  const name = `${tournament}-${match}-${number}`;
  const save = async () => {
    try {
      const { download, saved } = await import("../lib/saved.js");
      // The evidence of faults is not for everybody, so a file that people pass on has none.
      const faults = data.faults?.map(({ evidence: _, ...fault }) => fault);
      download(`${name}.html`, "text/html", await saved(title, { ...data, faults }));
    } catch (problem) {
      app.say(
        `The replay could not be saved: ${problem instanceof Error ? problem.message : problem}`,
        "bad",
      );
    }
  };
  const share = async () => {
    const isDone = await copied(location.href);
    app.say(isDone ? "Copied: the link to this step." : location.href);
  };
  const button = (/** @type {string} */ words, /** @type {() => void} */ act, name = "") =>
    h("button", { type: "button", class: `plain ${name}`, onclick: act }, words);
  return [
    button("Copy link to this step", share),
    button(
      "Download the log",
      async () => {
        const { download } = await import("../lib/saved.js");
        download(`${name}.jsonl`, "application/jsonl", data.log);
      },
      "log",
    ),
    button("Save as one file", save, "save"),
  ];
}
