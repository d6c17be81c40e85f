// The projector: `/tv`, `#/tv`, or `#/tv/cup` for one tournament. It follows the most exciting live
// match by itself and shows the whole tournament between two matches. Nobody has to touch it.
// `#/tv?match=30&result=10&table=20` changes how long each scene lasts, in seconds.

import { boardOf } from "../boards/all.js";
import { formatOf } from "../formats/index.js";
import { get, isCasual, path } from "../lib/api.js";
import { h, render } from "../lib/dom.js";
import { watch } from "../lib/stream.js";
import { styled } from "../lib/styled.js";
import { chosen, nameOf } from "../tv/choose.js";
import { beside, heading, overview, scoreboard } from "../tv/scenes.js";
import { together } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Tournament} Tournament */
/** @typedef {import("../lib/types.js").LiveScore} LiveScore */
/** @typedef {import("../tv/choose.js").Candidate} Candidate */

/** How often scores are fetched, and whole tournaments. */
const [SCORES_MS, WHOLE_MS] = [1_500, 6_000];
/**
 * How many seconds a match is shown at least, its result, and the tournament between two matches.
 */
const SECONDS = { match: 15, result: 6, table: 8 };
/** How many seconds a finished tournament is shown. */
const ENDED_S = 120;
/** How many tournaments are considered. */
const TOURNAMENTS_MAX = 4;
/** The widths at which each board may be drawn before it is scaled to the screen, in pixels. */
const WIDTHS = /** @type {Record<string, number[]>} */ ({
  yahtzee: [560, 760, 1_200],
  fish: [900],
  trains: [1_000],
});
const ZOOM_MAX = 2.2;
/** A narrower window scrolls instead. */
const NARROW = 800;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, [only = ""], app) {
  const styles = styled(
    "/web/boards/boards.css",
    "/web/boards/games.css",
    "/web/formats/formats.css",
    "/web/tv/tv.css",
  );
  app.title(only ? `${only} on the projector` : "Projector");
  const seconds = { ...SECONDS };
  for (const name of /** @type {(keyof typeof SECONDS)[]} */ (Object.keys(SECONDS))) {
    const wanted = Number.parseFloat(app.query[name] ?? "");
    if (wanted >= 0) seconds[name] = wanted;
  }
  const projector = new Projector(root, only, seconds);
  document.documentElement.dataset.view = "tv";
  const key = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "f" && !event.ctrlKey && !event.metaKey) fullScreen();
  };
  addEventListener("keydown", key);
  projector.start();
  // Only with its style does a drawing have its size.
  for (const style of styles) style.addEventListener("load", () => projector.fit());
  return () => {
    delete document.documentElement.dataset.view;
    removeEventListener("keydown", key);
    projector.stop();
  };
}

function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else document.documentElement.requestFullscreen().catch(() => {});
}

/** Keeps the screen on, where the browser can. */
async function stayAwake() {
  try {
    return await /** @type {any} */ (navigator).wakeLock?.request("screen");
  } catch {
    return null;
  }
}

class Projector {
  /**
   * @param {HTMLElement} root @param {string} only the tournament to show, or nothing for all
   * @param {typeof SECONDS} seconds
   */
  constructor(root, only, seconds) {
    this.seconds = seconds;
    this.root = root;
    this.only = only;
    this.gone = false;
    /** True if requests are under way. */
    this.busy = false;
    /** @type {"match" | "table" | "idle"} */
    this.scene = "idle";
    this.since = Date.now();
    /** @type {import("../lib/types.js").Listed[]} */
    this.listed = [];
    /** @type {Map<string, Tournament>} */
    this.tournaments = new Map();
    /** When each tournament was fetched. @type {Map<string, number>} */
    this.fetched = new Map();
    /** The tournament that is shown. */
    this.id = only;
    /** The name of the followed match: `cup/r1m1`. */
    this.followed = "";
    /** @type {any} */
    this.data = null;
    this.overAt = 0;
    this.unfollow = () => {};
    this.unwatch = () => {};
    this.timer = 0;
    /** @type {any} */
    this.awake = null;
    /** @type {ReturnType<typeof boardOf>} */
    this.board = null;
    this.top = h("header", { class: "tv-top" });
    this.main = h("div", { class: "tv-main" });
    this.boardArea = h("div", { class: "tv-area" });
    root.append(this.top, this.main);
    // A board may turn in a window of another shape, and has its new size only in the next frame.
    this.sizes = new ResizeObserver(() => {
      this.fit();
      requestAnimationFrame(() => this.fit());
    });
    this.sizes.observe(root);
  }

  async start() {
    this.draw();
    this.unwatch = watch("/api/v1/events", {
      show: (lobby) => {
        this.listed = lobby.tournaments;
        this.refresh();
      },
    });
    this.timer = window.setInterval(() => this.refresh(), SCORES_MS);
    this.awake = await stayAwake();
  }

  stop() {
    this.gone = true;
    clearInterval(this.timer);
    this.unfollow();
    this.unwatch();
    this.sizes.disconnect();
    this.awake?.release?.();
  }

  /** The tournaments that run, or the only one that is wanted. */
  running() {
    const all = this.listed.filter(({ standing }) => standing === "running").map(({ id }) => id);
    if (this.only) return all.filter((id) => id === this.only);
    // Casual games are for their players, and shown only if there is nothing else.
    const cups = all.filter((id) => !isCasual(id));
    return (cups.length ? cups : all).slice(-TOURNAMENTS_MAX);
  }

  /** Fetches what no stream delivers, and decides what to show. */
  async refresh() {
    if (this.busy || this.gone) return;
    this.busy = true;
    try {
      const wanted = new Set(this.running());
      if (this.id) wanted.add(this.id);
      await Promise.all([...wanted].map((id) => this.fetch(id)));
    } catch {
      // The stream reports that the server is unreachable.
    }
    this.busy = false;
    if (this.gone) return;
    this.decide();
    this.draw();
  }

  /** @param {string} id */
  async fetch(id) {
    const at = path`/api/v1/tournaments/${id}`;
    const known = this.tournaments.get(id);
    if (known?.standing === "over") return;
    const { matches } = await get(`${at}/live`);
    const live = new Map(matches.map((/** @type {LiveScore} */ one) => [one.match, one]));
    const open = new Set(known?.pairings?.filter(({ over }) => !over).map(({ match }) => match));
    const news = [...live.keys()].some((match) => !open.has(match)) || live.size < open.size;
    const old = Date.now() - (this.fetched.get(id) ?? 0) > WHOLE_MS;
    const whole = !known || news || old ? await get(at) : known;
    if (whole !== known) this.fetched.set(id, Date.now());
    this.tournaments.set(id, { ...whole, live });
  }

  /** @returns {Candidate[]} */
  candidates() {
    return this.running().flatMap((id) => {
      const tournament = this.tournaments.get(id);
      if (!tournament?.plan || tournament.paused) return [];
      return [...(tournament.live?.values() ?? [])].map((live) => ({
        tournament: id,
        live,
        rounds: formatOf(tournament.plan).rounds(tournament.plan, live.round),
      }));
    });
  }

  decide() {
    const passed = (Date.now() - this.since) / 1_000;
    const { match, result, table } = this.seconds;
    const candidates = this.candidates();
    if (this.scene === "match") {
      const isOver = this.overAt > 0;
      if (isOver && Date.now() - this.overAt >= 1_000 * result) return this.showTable(this.id);
      if (isOver || passed < match) return;
      const next = chosen(candidates, this.followed);
      if (next && nameOf(next) !== this.followed) this.follow(next);
      return;
    }
    if (this.scene === "table" && passed < table) return;
    // The end of a tournament stays for a while if only casual games go on.
    const isEnd = !isCasual(this.id) && this.tournaments.get(this.id)?.standing === "over";
    if (this.scene === "table" && isEnd && passed <= ENDED_S && this.running().every(isCasual)) return;
    const next = chosen(candidates, "");
    if (next) return this.follow(next);
    const running = this.running()[0] ?? (this.scene === "idle" ? this.only : "");
    if (running && this.tournaments.get(running)?.plan) {
      if (this.scene !== "table" || this.id !== running) this.showTable(running);
    } else if (this.scene === "table" && passed > ENDED_S && !this.only) {
      this.scene = "idle";
      this.id = "";
    }
  }

  /**
   * Looks again when a scene may end, which is not always when scores are due.
   * @param {number} seconds
   */
  later(seconds) {
    setTimeout(() => this.refresh(), 1_000 * seconds + 20);
  }

  /** @param {string} id */
  showTable(id) {
    this.leave();
    this.scene = "table";
    this.since = Date.now();
    this.id = id;
    // The pairings have changed since the match began.
    this.fetched.delete(id);
    this.later(this.seconds.table);
  }

  leave() {
    this.unfollow();
    this.unfollow = () => {};
    this.followed = "";
    this.data = null;
    this.overAt = 0;
    this.board = null;
  }

  /** @param {Candidate} candidate */
  follow(candidate) {
    this.leave();
    const { tournament, live } = candidate;
    this.scene = "match";
    this.since = Date.now();
    this.id = tournament;
    this.followed = nameOf(candidate);
    const events = path`/api/v1/tournaments/${tournament}/matches/${live.match}/events`;
    const over = () => {
      if (this.overAt) return;
      this.overAt = Date.now();
      this.later(this.seconds.result);
    };
    this.unfollow = watch(events, {
      show: (data) => {
        this.data = data;
        if (data.standing === "over") over();
        this.draw();
      },
      problem: over,
      end: over,
    });
  }

  draw() {
    const tournament = this.tournaments.get(this.id);
    const clock = new Date().toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
    this.root.dataset.scene = this.scene;
    this.root.dataset.followed = this.followed;
    render(
      this.top,
      h("div", { class: "tv-title" }, this.scene === "idle" ? heading(undefined) : heading(tournament)),
      h("span", { class: "soft" }, location.host),
      h("span", { class: "soft number" }, clock),
      h("button", { type: "button", class: "quiet", onclick: fullScreen, title: "Full screen (f)" }, "Full screen"),
      h("a", { class: "quiet", href: "#/" }, "Leave"),
    );
    if (this.scene === "match") this.drawMatch(tournament);
    else if (this.scene === "table" && tournament?.plan) render(this.main, overview(tournament));
    else render(this.main, this.idle());
    this.fit();
    // A board that is new here has its size only in the next frame.
    requestAnimationFrame(() => this.fit());
  }

  /** @param {Tournament | undefined} tournament */
  drawMatch(tournament) {
    const { data } = this;
    const live = tournament?.live?.get(this.followed.split("/")[1]);
    if (!this.boardArea.isConnected || !this.main.querySelector(".tv-match"))
      this.main.replaceChildren(
        h("div", { class: "tv-match" }, h("div", { class: "tv-head" }), this.boardArea),
        h("div", { class: "tv-side" }),
      );
    const [head, side] = [".tv-head", ".tv-side"].map((name) => this.main.querySelector(name));
    if (!head || !side) return;
    const coming = this.listed.filter(({ standing }) => standing === "open");
    render(side, beside(tournament, this.candidates(), this.followed, coming));
    if (!data) return render(head, h("p", { class: "soft" }, "Loading …"));
    render(head, scoreboard(data, live));
    const now = data.in_progress ?? data.latest;
    this.board ??= now ? boardOf(data.game) : null;
    if (!this.board || !now) return;
    if (!this.board.isConnected) this.boardArea.replaceChildren(h("div", { class: "tv-fit" }, this.board));
    const result = data.in_progress ? null : data.latest.result;
    this.board.shown = {
      view: now.view,
      names: now.seats ?? result.seats,
      result: result?.end === "played" ? result : null,
    };
  }

  /** Nothing runs: what was played, what comes, and where to go. */
  idle() {
    const over = this.listed.filter(({ standing }) => standing === "over").slice(-3).reverse();
    const coming = this.listed.filter(({ standing }) => standing === "open");
    return h(
      "div",
      { class: "tv-idle" },
      h("p", { class: "tv-big" }, this.only ? `${this.only} has not begun.` : "No tournament is running."),
      coming.map(({ id, players = 0 }) => h("p", {}, `${id} is open for sign-up: ${players} so far.`)),
      over.map(({ id, winners = [] }) =>
        h("p", { class: "soft" }, winners.length ? `${together(winners)} won ${id}.` : `Nobody won ${id}.`),
      ),
      h("p", {}, "Play or watch at ", h("strong", {}, location.host), "."),
    );
  }

  /** Scales boards and drawings so that they fill their area. */
  fit() {
    const inner = this.root.querySelector(".tv-fit");
    const area = inner?.parentElement;
    if (!(inner instanceof HTMLElement) || !area) return;
    const { style } = inner;
    const scale = (/** @type {number} */ wide, /** @type {number} */ zoom) => {
      style.width = `${wide}px`;
      style.setProperty("zoom", String(zoom));
    };
    if (innerWidth < NARROW) {
      style.width = "";
      return void style.setProperty("zoom", "1");
    }
    const [wide, high] = [area.clientWidth, area.clientHeight];
    if (this.scene === "match") {
      const zooms = (WIDTHS[this.data?.game] ?? [900]).map((width) => {
        scale(width, 1);
        return { width, zoom: Math.min(wide / inner.scrollWidth, high / inner.scrollHeight) };
      });
      const best = zooms.reduce((one, other) => (other.zoom > one.zoom ? other : one));
      return scale(best.width, Math.min(ZOOM_MAX, best.zoom));
    }
    // The layout depends on the width, so the largest scale at which all is visible is searched.
    let [low, most] = [0.2, ZOOM_MAX];
    for (let step = 0; step < 7; step++) {
      const zoom = (low + most) / 2;
      scale(wide / zoom, 1);
      const fits = inner.scrollWidth <= wide / zoom + 1 && inner.scrollHeight <= high / zoom;
      if (fits) low = zoom;
      else most = zoom;
    }
    scale(wide / low, low);
  }
}
