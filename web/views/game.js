// A running match: `#/game/cup/r1m1`. It shows only public information; spectators who join late
// see everything from the start.

import { loadBoard } from "../boards/load.js";
import { Problem, get, path } from "../lib/api.js";
import { unfold } from "../lib/changes.js";
import { h, render } from "../lib/dom.js";
import { equal } from "../lib/equal.js";
import { movesIn, slid, slidAll, waitedFor } from "../lib/moves.js";
import { ended, isolated } from "../lib/show.js";
import { watch } from "../lib/stream.js";
import { styled } from "../lib/styled.js";
import { clock, ending, moveList, standing } from "../lib/table.js";
import { decided, fault, together } from "../lib/words.js";

/** @typedef {import("../lib/moves.js").Move} Move */

/** From this many games on, a match is summed up instead of listed. */
const SERIES_MIN = 6;

/** @type {import("../lib/types.js").Mount} */
export function mount(root, [tournament = "", match = "r1m1"], app) {
  styled("/web/boards/boards.css", "/web/boards/games.css", "/web/play/play.css");
  app.title(`${tournament}, match ${match}`);
  const live = new Live(root, tournament, match, app);
  const stop = watch(path`/api/v1/tournaments/${tournament}/matches/${match}/events`, {
    show: (data, event) => live.show(data, event),
    problem: (problem) => live.fail(problem),
  });
  const tick = setInterval(() => live.tick(), 500);
  return () => {
    stop();
    clearInterval(tick);
    live.gone = true;
  };
}

class Live {
  /**
   * @param {HTMLElement} root @param {string} tournament @param {string} match
   * @param {import("../lib/types.js").App} app
   */
  constructor(root, tournament, match, app) {
    this.root = root;
    this.app = app;
    this.tournament = tournament;
    this.match = match;
    this.gone = false;
    /** @type {typeof import("../tournament/series.js").series | null} */
    this.series = null;
    /** @type {any} */
    this.data = null;
    /**
     * The number of the shown game, and its latest view.
     * @type {{ number: number, view: any } | null}
     */
    this.shown = null;
    /**
     * The moves on the ice, which its views do not list.
     * @type {Move[]}
     */
    this.moves = [];
    /** The head of the match's log, once it is over. */
    this.logHead = "";
    this.headAsked = false;
    /** A timer, while a catch-up request is scheduled. */
    this.soon = 0;
    /** When the shown position was reached, by this machine's clock. */
    this.since = Date.now();
    this.limits = { answer_ms: 0 };
    /** @type {import("../boards/board.js").Board | null} */
    this.board = null;
    this.boardAsked = false;
    this.time = h("span", { class: "clock" });
    // The parts stay the same elements, so that focus and animations stay too.
    this.head = h(
      "div",
      {},
      h("h1", {}, `${tournament}, ${match}`),
      h("p", { role: "status" }, "Loading …"),
    );
    this.waited = h("div", {});
    this.stage = h("div", { class: "card stage" });
    this.caption = h("p", { class: "caption", "aria-live": "polite" });
    this.place = h("div", { class: "place" });
    this.stage.append(this.place);
    this.side = h("div", { class: "stack" });
    // The sum of a long match needs the whole width: below the board, and above it at the end.
    this.sum = h("div", { class: "sum-of-match" });
    root.append(this.head);
    get(path`/api/v1/tournaments/${tournament}`).then(
      ({ plan }) => {
        this.limits = plan?.policy?.match?.time ?? this.limits;
        this.tick();
      },
      () => {},
    );
  }

  /** Fetches the head of the log, which events do not include. */
  async askHead() {
    this.headAsked = true;
    const { tournament, match } = this;
    const { head } = await get(path`/api/v1/tournaments/${tournament}/matches/${match}`);
    this.logHead = head ?? "";
    if (!this.gone) this.draw();
  }

  /** @param {Problem} problem */
  fail(problem) {
    if (!this.data)
      render(
        this.head,
        h("h1", {}, `${this.tournament}, ${this.match}`),
        h("p", { class: "complaint" }, problem.message),
      );
  }

  /**
   * The view of the running game, or of the latest.
   * @param {any} data
   */
  game(data) {
    const running = data.in_progress;
    if (running)
      return { number: running.game, view: running.view, seats: running.seats, result: null };
    if (!data.latest) return null;
    const { result, view } = data.latest;
    return { number: result.game, view, seats: result.seats, result };
  }

  /** @param {any} data @param {string} event */
  show(data, event) {
    this.data = data;
    if (data.standing === "over" && !this.headAsked) this.askHead();
    const now = this.game(data);
    if (now) {
      const old = this.shown;
      const before = old && old.number === now.number ? old.view : null;
      const changed = !equal(before, now.view);
      if (changed) {
        this.since = Date.now() - (data.behind_ms ?? 0);
        this.follow(data.game, now, before, event);
      }
      this.shown = now;
    }
    this.draw();
  }

  /**
   * Keeps the moves up to date.
   * @param {string} game @param {any} now @param {any} before @param {string} event
   */
  follow(game, now, before, event) {
    if (game !== "fish") {
      this.moves = movesIn(game, now.view);
      if (event !== "change" && !now.result) this.catchUp(now.number, 1_000_000);
      return;
    }
    if (!before) this.moves = [];
    const fresh = before ? slid(before, now.view) : [];
    this.moves.push(...fresh);
    // Several moves at once may hide one of them, so fetch the missed ones.
    if (event !== "change") this.catchUp(now.number, 0);
    else if (fresh.length !== 1) this.catchUpSoon(now.number);
  }

  /**
   * Catches up a little later, so that spectators do not all send requests at once or for every
   * move.
   * @param {number} number
   */
  catchUpSoon(number) {
    this.soon ||= window.setTimeout(
      () => {
        this.soon = 0;
        if (!this.gone && this.shown?.number === number) this.catchUp(number, 0);
      },
      500 + 2_000 * Math.random(),
    );
  }

  /**
   * Fetches the earlier positions.
   * @param {number} number @param {number} after
   */
  async catchUp(number, after) {
    try {
      const game = path`${this.tournament}/matches/${this.match}/games/${number}`;
      const so = await get(`/api/v1/tournaments/${game}/positions?after=${after}&changes=true`);
      const positions = unfold(so.positions);
      if (this.gone || this.shown?.number !== number) return;
      if (so.changed_at) this.since = Math.min(this.since, Date.now() - (so.now - so.changed_at));
      if (so.game === "fish" && after === 0) {
        // The game went on during the request, so fetch again.
        if (!equal(positions.at(-1)?.view, this.shown?.view)) return this.catchUpSoon(number);
        this.moves = slidAll(positions);
      }
      this.draw();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
    }
  }

  draw() {
    const { data } = this;
    const now = this.game(data);
    const names = now?.seats ?? data.match.players;
    if (!this.side.isConnected)
      this.root.append(
        h("div", { class: "turn-line" }, this.waited, this.caption),
        h("div", { class: "columns" }, this.stage, this.side),
        this.sum,
      );
    this.app.title(`${data.match.players.join(" – ")}, ${this.tournament} ${this.match}`);
    this.drawBoard(data, now, names);
    const last = this.moves.at(-1);
    const words = now?.result ? ending(now.result) : last ? `${names[last.seat]} ${last.what}` : "";
    if (this.caption.textContent !== words) this.caption.textContent = words;
    render(
      this.head,
      h("div", { class: "head" }, h("h1", {}, isolated(data.match.players, " – ")), this.badge(data)),
      h(
        "p",
        { class: "soft", "data-key": "place" },
        h("a", { href: `#/tournament/${encodeURIComponent(this.tournament)}` }, this.tournament),
        `, match ${this.match}: ${data.reason}`,
      ),
      standing(data.match, data.standing === "over"),
      data.paused
        ? h(
            "p",
            { class: "paused", "data-key": "paused" },
            h("strong", {}, `Paused by ${data.paused.by}: `),
            `${ended(data.paused.why)} No clock runs.`,
          )
        : null,
      data.in_progress?.voided
        ? h(
            "p",
            { class: "paused", "data-key": "voided" },
            h("strong", {}, `Game ${data.in_progress.game} is void. `),
            `Ruled by ${data.in_progress.voided.by}: ${data.in_progress.voided.why}`,
          )
        : null,
    );
    this.place.parentElement?.classList.toggle("still", Boolean(data.paused));
    render(this.waited, data.paused ? null : this.waitedNow(data, now, names));
    const isLong = (data.match.games ?? []).length >= SERIES_MIN;
    if (isLong && data.standing === "over" && this.sum.previousSibling !== this.head)
      this.head.after(this.sum);
    render(this.sum, isLong ? this.over(data) : null);
    render(this.side, isLong ? null : this.over(data), moveList(data.game, this.moves, names));
    this.tick();
    const top = this.stage.getBoundingClientRect().top + scrollY;
    this.stage.style.setProperty("--above", `${Math.round(top)}px`);
  }

  /**
   * Loads the board of the game.
   * @param {string} game
   */
  async load(game) {
    this.boardAsked = true;
    try {
      this.board = await loadBoard(game);
      const none = h("p", { class: "soft" }, `This page cannot show the game ${game}.`);
      this.place.replaceChildren(this.board ?? none);
      if (!this.gone) this.draw();
    } catch (problem) {
      // The server does not answer: the next event tries again.
      if (!(problem instanceof TypeError)) throw problem;
      this.boardAsked = false;
    }
  }

  /** @param {any} data @param {any} now @param {string[]} names */
  drawBoard(data, now, names) {
    if (now && !this.boardAsked) this.load(data.game);
    if (!this.board) {
      const words =
        data.standing === "waiting"
          ? "The match starts in a moment."
          : "The match waits for its players.";
      if (!now) this.place.replaceChildren(h("p", { class: "soft" }, words));
      return;
    }
    if (now)
      this.board.shown = {
        view: now.view,
        names,
        over: Boolean(now.result),
        result: now.result?.end === "played" ? now.result : null,
      };
  }

  /** @param {any} data */
  badge(data) {
    if (data.standing === "over") return h("span", { class: "tag" }, "over");
    if (data.paused) return h("span", { class: "tag warn" }, "paused");
    return h(
      "span",
      { class: "tag good" },
      data.standing === "waiting" ? "starting soon" : "live",
    );
  }

  /** @param {any} data @param {any} now @param {string[]} names */
  waitedNow(data, now, names) {
    if (!now || now.result || data.standing === "over") return null;
    const seats = waitedFor(data.game, now.view);
    return h(
      "p",
      { class: "waited" },
      "Waiting for ",
      seats.map((seat) => h("strong", {}, h("bdi", {}, names[seat]))),
      this.time,
    );
  }

  tick() {
    const ms = Date.now() - this.since;
    const limit = this.limits.answer_ms;
    const words = limit ? `${clock(ms)} of ${clock(limit)} per move` : clock(ms);
    if (this.time.textContent !== words) this.time.textContent = words;
  }

  /**
   * The sum of a long match; its code is loaded with the first one.
   * @param {any} data @param {import("../lib/types.js").GameResult[]} games
   */
  sumUp(data, games) {
    const { tournament, match, series } = this;
    if (series) return series(tournament, match, data.match.players, games, data.standing === "over");
    styled("/web/replay/analysis.css");
    import("../tournament/series.js").then((loaded) => {
      this.series = loaded.series;
      if (!this.gone) this.draw();
    });
    return h("p", { class: "soft" }, "Loading …");
  }

  /**
   * The result, and a link to the replay.
   * @param {any} data
   */
  over(data) {
    const games = data.match.games ?? [];
    if (!games.length && !data.result) return null;
    const link = (/** @type {any} */ result) => {
      const place = [this.tournament, this.match, result.game].map(encodeURIComponent);
      const address = `#/replay/${place.join("/")}`;
      const words = `Game ${result.game}: ${ending(result)}`;
      return h(
        "li",
        {},
        words,
        " ",
        data.standing === "over" ? h("a", { href: address }, "Replay") : null,
      );
    };
    const { winners, how, faults } = data.result ?? {
      winners: /** @type {string[]} */ ([]),
      how: "",
      faults: /** @type {any[]} */ ([]),
    };
    return h(
      "section",
      { class: "card", "data-key": "results" },
      h("h2", {}, "Results"),
      data.result
        ? h(
            "p",
            {},
            h(
              "strong",
              {},
              winners.length ? `${together(winners)} won the match` : "Nobody won the match",
            ),
            decided(how) ? ` (${decided(how)})` : "",
          )
        : null,
      games.length < SERIES_MIN
        ? h("ul", {}, games.map(link))
        : this.sumUp(data, games),
      this.logHead
        ? h("p", { class: "soft small chain-head" }, "Head of the log: ", h("code", {}, this.logHead))
        : null,
      faults.length
        ? h(
            "ul",
            { class: "faults" },
            faults.map((/** @type {any} */ { player, fault: { kind, code } }) =>
              h("li", {}, h("bdi", {}, player), `: ${fault(kind)} `, h("code", {}, code)),
            ),
          )
        : null,
    );
  }
}
