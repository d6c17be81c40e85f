// The page: which view is shown, who is logged in, and whether the server is reachable.
//
// A view is a module with `mount(root, params, app)`, which returns a function that unmounts it.
// Its address is in the hash, so it can be shared and reloaded: `#/tournament/cup`.

import { session, sessions } from "./lib/api.js";
import { h, render } from "./lib/dom.js";
import { emblem } from "./lib/emblem.js";
import { arrive, note } from "./lib/scrolling.js";
import { status, streams } from "./lib/stream.js";
import { title } from "./lib/title.js";

/** @typedef {import("./lib/types.js").App} App */
/** @typedef {import("./lib/types.js").Mount} Mount */

/**
 * The first word of the hash, and the view that shows it.
 * @type {Record<string, string>} */
const VIEWS = {
  "": "lobby",
  tournament: "tournament",
  player: "player",
  account: "account",
  archive: "archive",
  demo: "demo",
  docs: "docs",
  formats: "formats",
  game: "game",
  leaderboard: "leaderboard",
  replay: "replay",
  play: "play",
  tv: "tv",
  rules: "rules",
  bot: "bot",
  new: "new",
};

/** @param {string} id @returns {HTMLElement} */
const part = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

const main = part("main");
let unmount = () => {};
let turn = 0;
/** The hash whose view is shown or loading. */
let at = "";

/** The names in a hash, and its query. The address `/tv` without a hash is the projector. */
function address() {
  const hash = location.hash || (location.pathname === "/tv" ? "#/tv" : "");
  const [, path = "", query = ""] = /^#\/?([^?]*)\??(.*)$/.exec(hash) ?? [];
  const [view = "", ...params] = path.split("/").map(decoded);
  return { view, params, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function route() {
  // Two changes of the hash in quick succession fire two events.
  if (turn > 0 && at === location.hash) return;
  at = location.hash;
  const { view, params, query } = address();
  const mine = ++turn;
  note();
  unmount();
  unmount = () => {};
  for (const dialog of document.querySelectorAll("dialog")) dialog.close();
  mark(view);
  /** @type {App} */
  const app = { title, say, query, go: (hash) => void (location.hash = hash) };
  const mount = await viewOf(view);
  if (mine !== turn) return;
  const root = h("div", { class: `view ${view || "lobby"}` });
  main.replaceChildren(root);
  unmount = mount(root, params, app);
  main.dataset.at = at;
  arrive();
  // Keyboard and screen-reader users continue in the new view; the first view does not take the
  // focus.
  if (mine > 1) main.focus({ preventScroll: true });
}

/**
 * The mount function of a view.
 * @param {string} view
 * @returns {Promise<Mount>}
 */
async function viewOf(view) {
  const file = VIEWS[view];
  if (!Object.hasOwn(VIEWS, view))
    return saying(
      "Not found",
      "This page does not exist.",
      h("a", { href: "#/" }, "Go to the lobby"),
    );
  try {
    return (await import(`./views/${file}.js`)).mount;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    const onclick = () => location.reload();
    const again = h("button", { type: "button", onclick }, "Try again");
    return saying("Not loaded", "The server does not answer. Try again in a moment.", again);
  }
}

/**
 * A view that only shows a message.
 * @param {string} heading @param {string} text @param {Node} way where to go from there
 * @returns {Mount}
 */
const saying = (heading, text, way) => (root, _params, app) => {
  app.title(heading);
  root.append(h("h1", {}, heading), h("p", {}, text), h("p", {}, way));
  return () => {};
};

/** @param {string} text @param {"good" | "bad"} [kind] */
function say(text, kind = "good") {
  const note = h("p", { class: kind }, text);
  part("news").append(note);
  setTimeout(() => note.remove(), kind === "bad" ? 10_000 : 5_000);
}

/** @param {string} view */
function mark(view) {
  for (const link of part("nav").querySelectorAll("a")) {
    const here = link.getAttribute("href") === `#/${view}`;
    if (here) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
}

function who() {
  const now = session();
  render(
    part("who"),
    now
      ? h(
          "a",
          { href: "#/account", title: "Your account", class: "player" },
          emblem(now.account),
          h("bdi", {}, now.account),
          now.role === "operator" ? h("span", { class: "tag" }, "operator") : null,
          now.guest ? h("span", { class: "tag" }, "guest") : null,
        )
      : h("a", { href: "#/account", class: "button" }, "Log in"),
  );
}

function heard() {
  const words = { idle: "", live: "Live", away: "No connection; reconnecting …" };
  const now = status();
  part("status").className = `status ${now}`;
  part("status").hidden = now === "idle";
  if (part("status").textContent !== words[now]) part("status").textContent = words[now];
}

const dark = matchMedia("(prefers-color-scheme: dark)");

function theme() {
  const { dataset } = document.documentElement;
  const now = dataset.theme ?? (dark.matches ? "dark" : "light");
  const other = now === "dark" ? "light" : "dark";
  const button = part("theme");
  button.textContent = other === "dark" ? "☾" : "☀";
  button.setAttribute("aria-label", `Switch to ${other}`);
  button.title = `Switch to ${other}`;
  button.onclick = () => {
    dataset.theme = other;
    theme();
    localStorage.setItem("agon.theme", other);
  };
}

document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
for (const id of ["nav", "theme", "who"]) part(id).hidden = false;
sessions.addEventListener("session", who);
streams.addEventListener("status", heard);
dark.addEventListener("change", theme);
addEventListener("hashchange", route);
who();
theme();
heard();
route();
// A person with a game goes on playing after a reload, whatever view is shown first.
if (session() && (sessionStorage.getItem("agon.playing") || localStorage.getItem("agon.unfinished")))
  import("./play/session.js").then(({ resume }) => resume({ say }));
