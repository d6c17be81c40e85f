// A finished game, step by step: `#/replay/cup/r1m1/1?at=12`.

import { Problem, get, path } from "../lib/api.js";
import { unfold } from "../lib/changes.js";
import { h } from "../lib/dom.js";
import { replayer } from "../lib/replayer.js";
import { download, saved } from "../lib/saved.js";
import { styled } from "../lib/styled.js";

/** @typedef {import("../lib/replayer.js").Data} Data */

/** @type {import("../lib/types.js").Mount} */
export function mount(root, [tournament = "", match = "r1m1", game = "1"], app) {
  styled("/web/boards/boards.css", "/web/boards/games.css");
  let gone = false;
  let end = () => {};
  const title = `${tournament}, match ${match}, game ${game}`;
  app.title(`Replay of ${title}`);
  const here = `#/replay/${[tournament, match, game].map(encodeURIComponent).join("/")}`;
  const wait = h("p", { role: "status" }, "Loading the game …");
  root.append(head(tournament, match, game), wait);
  read(tournament, match, game).then(
    (data) => {
      if (gone) return;
      wait.remove();
      const link = (/** @type {number} */ at) =>
        history.replaceState(history.state, "", `${here}?at=${at}`);
      const at = app.query.at === undefined ? undefined : Number(app.query.at);
      const names = data.replay.seats.join(" – ");
      end = replayer(root, data, {
        verifier: () => import("../lib/verify.js"),
        at,
        moved: link,
        extras: () => extras(data, `${names}: ${title}`, app),
      });
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

/** @param {string} tournament @param {string} match @param {string} game */
function head(tournament, match, game) {
  return h(
    "div",
    { class: "head" },
    h("h1", {}, "Replay"),
    h(
      "p",
      { class: "soft" },
      h("a", { href: `#/tournament/${encodeURIComponent(tournament)}` }, tournament),
      `, match ${match}, game ${game}`,
    ),
  );
}

/**
 * @param {string} tournament
 * @param {string} match
 * @param {string} game
 * @returns {Promise<Data>}
 */
async function read(tournament, match, game) {
  // Fetch the replay first: its error says why there is nothing to show.
  const replay = await get(
    path`/api/v1/tournaments/${tournament}/matches/${match}/games/${game}/replay?changes=true`,
  );
  replay.steps = unfold(replay.steps);
  const [log, whole] = await Promise.all([
    text(path`/api/v1/tournaments/${tournament}/matches/${match}/log`),
    over(tournament),
  ]);
  return { replay, log, tournament: whole };
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
      `the server could not send the log (status ${response.status})`,
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
      download(`${name}.html`, "text/html", await saved(title, data));
    } catch (problem) {
      app.say(
        `The replay could not be saved: ${problem instanceof Error ? problem.message : problem}`,
        "bad",
      );
    }
  };
  const share = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      app.say("The link to this step is in your clipboard.");
    } catch {
      app.say(location.href);
    }
  };
  const button = (/** @type {string} */ words, /** @type {() => void} */ act, name = "") =>
    h("button", { type: "button", class: `plain ${name}`, onclick: act }, words);
  return [
    button("Copy link to this step", share),
    button(
      "Download the log",
      () => download(`${name}.jsonl`, "application/jsonl", data.log),
      "log",
    ),
    button("Save as one file", save, "save"),
  ];
}
