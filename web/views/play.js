// Playing as a person: `#/play`. All state is on the server: after a reload, or on another device,
// the same request is waiting. The connection belongs to the tab (play/session.js), so this view
// only shows what it has received.

import { loadBoard } from "../boards/load.js";
import { Problem, casual, del, get, isCasual, path } from "../lib/api.js";
import { ask } from "../lib/ask.js";
import { unfold } from "../lib/changes.js";
import { h, render } from "../lib/dom.js";
import { equal } from "../lib/equal.js";
import { slidAll, waitedFor } from "../lib/moves.js";
import { download } from "../lib/saved.js";
import { capital, ended, sentence } from "../lib/show.js";
import { watch } from "../lib/stream.js";
import { styled } from "../lib/styled.js";
import { clock, ending, moveList, standing } from "../lib/table.js";
import { celebrate, laurel } from "../play/celebration.js";
import { changes, options, setOptions } from "../play/options.js";
import { connect } from "../play/session.js";
import { allowNotifications, chime } from "../play/signals.js";
import { waiting } from "../start/waiting.js";
import { together } from "../lib/words.js";

/** @typedef {import("../lib/matches.js").Seat} Seat */
/** @typedef {import("../play/session.js").PlaySession} PlaySession */

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  styled("/web/boards/boards.css", "/web/boards/games.css", "/web/play/play.css");
  app.title("Play");
  const playing = connect(app);
  if (!playing) {
    render(
      root,
      h("h1", {}, "Play"),
      h(
        "section",
        { class: "card nothing-yet", "aria-label": "Before you play" },
        h("p", {}, "Play at once as a guest, or log in to keep your rating and your games."),
        h(
          "p",
          { class: "row" },
          h("a", { href: "#/", class: "button" }, "Play as a guest"),
          h("a", { href: "#/account", class: "button plain" }, "Log in or register"),
        ),
      ),
    );
    return () => {};
  }
  const play = new Play(root, playing, app);
  const tick = setInterval(() => play.tick(), 250);
  return () => {
    clearInterval(tick);
    play.close();
  };
}

const WHY = /** @type {Record<string, string>} */ ({
  "taken-over": "You continued playing in another window, or on another device.",
  "logged-in-elsewhere": "You are logged in elsewhere, and this server allows one connection per account.",
  "wrong-credentials": "Your login has expired. Log in again.",
  "logged-out": "An operator logged you out.",
  flood: "The server closed the connection because it received too many messages.",
});

class Play {
  /**
   * @param {HTMLElement} root
   * @param {PlaySession} playing
   * @param {import("../lib/types.js").App} app
   */
  constructor(root, playing, app) {
    this.playing = playing;
    this.who = playing.who;
    this.own = playing.own;
    this.app = app;
    /**
     * The match on display.
     * @type {Seat | null}
     */
    this.here = null;
    /** When its position was reached, by this machine's clock, and its time limits. */
    this.since = Date.now();
    this.limits = { answer_ms: 0, bank_ms: 0 };
    /**
     * The faults in the match on display.
     * @type {any[]}
     */
    this.faults = [];
    /** The request whose time was found to be over. */
    this.late = "";
    this.unwatch = () => {};
    /** @type {import("../boards/board.js").Board | null} */
    this.board = null;
    /**
     * The match whose board was asked for.
     * @type {Seat | null}
     */
    this.loading = null;
    this.head = h("div", { class: "play-head" });
    this.time = h("div", { class: "deadline" });
    this.news = h("div", { class: "stack news-here" });
    this.caption = h("p", { class: "caption", "aria-live": "polite" });
    this.badge = h("div", {});
    this.line = h("div", { class: "turn-line" }, this.time, this.caption, this.badge, this.choices());
    this.place = h("div", { class: "place" });
    this.stage = h("div", { class: "card stage" }, this.place);
    this.side = h("div", { class: "stack" });
    root.append(
      this.head,
      this.news,
      this.line,
      h("div", { class: "columns" }, this.stage, this.side),
    );
    /** True if the person has pressed anything in this view. */
    this.touched = false;
    this.gone = new AbortController();
    const { signal } = this.gone;
    for (const press of ["pointerdown", "keydown"])
      addEventListener(press, () => (this.touched = true), { signal });
    const on = (/** @type {string} */ type, /** @type {(seat: Seat) => void} */ act) =>
      playing.addEventListener(
        type,
        (event) => act(/** @type {CustomEvent<Seat>} */ (event).detail),
        { signal },
      );
    on("change", () => this.draw());
    on("asked", (seat) => this.asked(seat));
    on("began", (seat) => this.began(seat));
    on("late", (seat) => this.findFaults(seat));
    on("over", (seat) => this.findFaults(seat));
    changes.addEventListener("change", () => this.board?.again(), { signal });
    addEventListener("resize", () => this.measure(), { signal });
    this.draw();
  }

  close() {
    this.gone.abort();
    this.unwatch();
  }

  /** @param {Seat} seat */
  asked(seat) {
    if (!this.here?.request) this.look(seat);
    else if (seat !== this.here) this.app.say(`It is also your turn in ${seat.tournament}.`);
  }

  /**
   * Shows a match that begins before the person has done anything here: it is what they came for.
   * @param {Seat} seat
   */
  began(seat) {
    if (!this.touched) this.look(seat);
  }

  /** Chooses the match to show, if there is none on display. */
  chooseMatch() {
    const all = [...this.own.matches.values()];
    const next = this.playing.turns.at(-1) ?? all.find((seat) => !seat.over) ?? all.at(-1);
    if (!this.here && next) this.look(next);
  }

  /** The options of playing. */
  choices() {
    const one = (
      /** @type {keyof import("../play/options.js").Options} */ name,
      /** @type {string} */ words,
      /** @type {(box: HTMLInputElement) => void} */ then = () => {},
    ) => {
      const box = h("input", { type: "checkbox", name, checked: options()[name] });
      box.onchange = () => {
        setOptions({ [name]: box.checked });
        then(box);
      };
      return h("label", { class: "line" }, box, words);
    };
    return h(
      "details",
      { class: "play-options" },
      h("summary", {}, "Options"),
      h(
        "div",
        { class: "card" },
        one("confirm", "Ask before sending a move"),
        one("hints", "Show hints"),
        one("sound", "Play a tone at your turn", (box) => {
          if (box.checked) chime();
        }),
        one("notify", "Notify me while this tab is hidden", async (box) => {
          if (!box.checked || (await allowNotifications())) return;
          box.checked = false;
          setOptions({ notify: false });
          this.app.say("Your browser does not allow notifications from this page.", "bad");
        }),
      ),
    );
  }

  /**
   * The results of the comparisons: contradictions are news, agreements stand aside.
   * @param {boolean} wrong
   */
  receiptsNow(wrong) {
    const compared = [...this.playing.receipts.values()].filter(
      ({ receipt, words, bad }) =>
        words && bad === wrong && (bad || receipt.tournament === this.here?.tournament),
    );
    return compared.map(({ receipt, words, bad }) =>
      h(
        "div",
        {
          class: bad ? "complaint row receipt" : "card row receipt",
          role: bad ? "alert" : "status",
          "data-key": `receipt-${receipt.tournament}`,
        },
        h("p", {}, words),
        h(
          "button",
          {
            type: "button",
            class: "plain",
            onclick: () =>
              download(`${receipt.tournament}-receipt.jsonl`, "application/jsonl", receipt.text),
          },
          "Download my receipt",
        ),
      ),
    );
  }

  /**
   * Shows a match.
   * @param {Seat} seat
   */
  look(seat) {
    if (this.here === seat) return;
    this.unwatch();
    this.here = seat;
    this.since = Date.now();
    this.faults = [];
    [this.board, this.loading] = [null, null];
    this.place.replaceChildren();
    this.findLimits(seat);
    const events = path`/api/v1/tournaments/${seat.tournament}/matches/${seat.match}/events`;
    this.unwatch = watch(events, {
      show: (data, event) => {
        const before = seat.open;
        this.own.seen(seat, data);
        if (!equal(before, seat.open)) this.since = Date.now() - (data.behind_ms ?? 0);
        if (event !== "change" && data.game === "fish") this.catchUp(seat, data.in_progress?.game);
        if (seat.end) this.findFaults(seat);
        this.draw();
      },
    });
    this.draw();
  }

  /**
   * Fetches the time limits of the match, and whether it can be played again.
   * @param {Seat} seat
   */
  async findLimits(seat) {
    try {
      const found = await get(path`/api/v1/tournaments/${seat.tournament}`);
      if (seat !== this.here) return;
      this.limits = found.plan?.policy?.match?.time ?? this.limits;
      this.draw();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
    }
  }

  /**
   * Fetches the moves that were made before the player joined.
   * @param {Seat} seat @param {number | undefined} number
   */
  async catchUp(seat, number) {
    if (number === undefined) return;
    const game = path`${seat.tournament}/matches/${seat.match}/games/${number}`;
    try {
      const so = await get(`/api/v1/tournaments/${game}/positions?changes=true`);
      const positions = unfold(so.positions);
      if (seat !== this.here || !equal(positions.at(-1)?.view, seat.open)) return;
      seat.moves = slidAll(positions);
      this.draw();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
    }
  }

  /**
   * Fetches the faults charged to the player, to explain them.
   * @param {Seat} seat
   */
  async findFaults(seat) {
    try {
      const { faults } = await get(
        path`/api/v1/tournaments/${seat.tournament}/matches/${seat.match}/faults`,
      );
      if (seat !== this.here) return;
      this.faults = faults.filter((/** @type {any} */ fault) => fault.player === this.who.account);
      this.draw();
    } catch (problem) {
      if (!(problem instanceof Problem)) throw problem;
    }
  }

  /** @param {any} answer */
  answer(answer) {
    const { here } = this;
    if (!here) return;
    this.since = Date.now();
    this.playing.answer(here, answer);
    // Switch to another match that waits for an answer.
    const next = this.playing.turns[0];
    if (next) this.look(next);
  }

  tick() {
    const { here } = this;
    const request = this.playing.active ? here?.request : null;
    this.board?.tell(here ? this.clocks(here) : []);
    if (!here || !request || this.own.pause(here)) {
      if (this.time.firstChild) this.time.replaceChildren();
      return;
    }
    const left = here.due - Date.now();
    render(
      this.time,
      h("strong", {}, "Your turn"),
      h("span", { class: this.isShort(here, left) ? "clock short" : "clock", role: "timer" }, clock(left)),
      h("span", { class: "soft small" }, left > 0 ? "left for your move" : "your time is up"),
      h("progress", {
        max: request.deadline_ms,
        value: Math.max(0, left),
        "aria-label": "Time left",
      }),
    );
    if (left < -500 && this.late !== request.id) {
      this.late = request.id;
      this.findFaults(here);
    }
  }

  /** @param {Seat} here @param {number} left */
  isShort(here, left) {
    return left < Math.min(10_000, (here.request?.deadline_ms ?? this.limits.answer_ms) / 3);
  }

  /**
   * The clocks by seat: the time that is left to each player whom the game waits for.
   * @param {Seat} here @returns {import("../boards/board.js").Clock[]}
   */
  clocks(here) {
    const shown = this.own.shown(here);
    if (!shown || here.end || this.own.pause(here) || !this.limits.answer_ms) return [];
    const waited = waitedFor(here.game, shown.view);
    return shown.names.map((_, seat) => {
      if (!waited.includes(seat) && !(seat === here.seat && here.request)) return null;
      const own = seat === here.seat;
      if (own && !here.request) return null;
      const ends = own ? here.due : this.since + this.limits.answer_ms + this.limits.bank_ms;
      const left = ends - Date.now();
      return { words: clock(left), short: this.isShort(here, left) };
    });
  }

  draw() {
    this.chooseMatch();
    const { here } = this;
    if (here && (here.over || here.end)) here.seen = true;
    this.celebrateOnce();
    render(
      this.head,
      h("h1", { class: here ? "hidden" : "" }, here ? this.own.names(here).join(" – ") : "Play"),
      this.tabs(),
    );
    render(
      this.news,
      this.connection(),
      here ? this.pauseNow(here) : null,
      here?.end ? this.after(here) : null,
      this.invitationsNow(),
      this.faultsNow(),
      this.receiptsNow(true),
    );
    render(
      this.side,
      here ? moveList(here.game, here.moves, this.own.names(here)) : null,
      here ? this.about(here) : null,
      this.receiptsNow(false),
    );
    render(this.badge, this.state());
    this.drawBoard();
    this.tick();
    this.measure();
  }

  /** Lets the board use the rest of the window: it needs to know where it begins. */
  measure() {
    const top = this.stage.getBoundingClientRect().top + scrollY;
    this.stage.style.setProperty("--above", `${Math.round(top)}px`);
  }

  /** Celebrates a win when the person sees it for the first time. */
  celebrateOnce() {
    const { here } = this;
    if (!here?.end || here.celebrated) return;
    here.celebrated = true;
    if (here.end.result?.winners.includes(this.who.account)) celebrate();
  }

  state() {
    const words = {
      connecting: "connecting …",
      here: "you are connected",
      away: "no connection; reconnecting …",
      ended: "not connected",
    }[this.playing.state];
    return h(
      "span",
      { class: this.playing.state === "here" ? "tag good" : "tag bad", role: "status" },
      words,
    );
  }

  /** @param {Seat} here */
  about(here) {
    const address = `#/tournament/${encodeURIComponent(here.tournament)}`;
    return h(
      "section",
      { class: "card", "data-key": "about" },
      h("p", { class: "soft" }, h("a", { href: address }, here.tournament), `, match ${here.match}`),
      standing(here.about),
      here.over || here.end
        ? null
        : h(
            "button",
            { type: "button", class: "plain give-up", onclick: () => this.giveUp(here) },
            isCasual(here.tournament) ? "Resign" : "Leave the tournament",
          ),
    );
  }

  /**
   * Asks, and leaves the tournament of a match.
   * @param {Seat} here
   */
  async giveUp(here) {
    const { tournament } = here;
    const isGame = isCasual(tournament);
    const isDone = await ask({
      title: isGame ? "Resign this game?" : `Leave ${tournament}?`,
      tells: isGame
        ? "The game ends, and the others win."
        : "You forfeit this match and all your remaining matches of the tournament.",
      does: isGame ? "Resign" : "Leave",
      fields: [],
      act: () => del(path`/api/v1/tournaments/${tournament}/signups`),
    });
    if (isDone) this.app.say(isGame ? "You resigned." : `You left ${tournament}.`);
  }

  /**
   * The result, and what a person may do next.
   * @param {Seat} here
   */
  after(here) {
    const address = (/** @type {number} */ game) =>
      `#/replay/${[here.tournament, here.match, game].map(encodeURIComponent).join("/")}`;
    const games = here.end.match?.games ?? [];
    const winners = here.end.result?.winners ?? [];
    const won = winners.includes(this.who.account);
    const lost = winners.length > 0 && !won;
    return h(
      "section",
      { class: won ? "card call after won" : "card call after", "data-key": "after" },
      won ? laurel() : null,
      h(
        "div",
        {},
        h("h2", {}, won ? "You won" : lost ? "You lost" : "Game over"),
        h(
          "ul",
          {},
          games.map((/** @type {any} */ result) =>
            h(
              "li",
              {},
              games.length > 1 ? `Game ${result.game}: ` : null,
              `${ending(result)} `,
              h("a", { href: address(result.game) }, "Replay"),
            ),
          ),
        ),
      ),
      h(
        "div",
        { class: "row" },
        isCasual(here.tournament)
          ? h(
              "button",
              { type: "button", class: "rematch", onclick: () => this.rematch(here) },
              "Rematch",
            )
          : null,
        games.length
          ? h(
              "a",
              { class: "button plain", href: `${address(games.at(-1).game)}?why=1` },
              lost ? "Why did I lose?" : "Analysis",
            )
          : null,
        h("a", { class: "button plain", href: "#/" }, "Lobby"),
      ),
    );
  }

  /**
   * Plays the same game again, with the seats moved on by one.
   * @param {Seat} here
   */
  async rematch(here) {
    const [first, ...rest] = this.own.names(here);
    try {
      await casual(here.game, [...rest, first]);
      this.app.say("The rematch begins.");
    } catch (problem) {
      this.app.say(sentence(problem), "bad");
    }
  }

  /** The matches, if there are several. */
  tabs() {
    const all = [...this.own.matches.values()].filter((seat) => seat === this.here || !seat.over);
    if (all.length < 2) return null;
    const one = (/** @type {Seat} */ seat) => {
      const others = this.own.names(seat).filter((name) => name !== this.who.account);
      return h(
        "button",
        {
          type: "button",
          class: "plain",
          title: `${seat.tournament}, match ${seat.match}`,
          "aria-pressed": String(seat === this.here),
          "data-key": `${seat.tournament}/${seat.match}`,
          onclick: () => this.look(seat),
        },
        `${capital(seat.game || seat.tournament)} · ${others.join(", ")}`,
        seat.request ? h("span", { class: "tag accent" }, "your turn") : null,
      );
    };
    return h("div", { class: "own-matches", role: "group", "aria-label": "Your matches" }, all.map(one));
  }

  connection() {
    const { state, why } = this.playing;
    if (state !== "ended" || !why) return null;
    return h(
      "div",
      { class: "complaint row", role: "alert", "data-key": "connection" },
      WHY[why] ?? why,
      why === "wrong-credentials"
        ? h("a", { href: "#/account" }, "Log in")
        : h("button", { type: "button", onclick: () => this.playing.open() }, "Continue here"),
    );
  }

  /**
   * The pause of the match on display, with its reason.
   * @param {Seat} here
   */
  pauseNow(here) {
    const pause = this.own.pause(here);
    if (!pause) return null;
    return h(
      "p",
      { class: "paused", role: "status", "data-key": "paused" },
      h("strong", {}, `Paused by ${pause.by}: `),
      `${ended(pause.why)} No clock runs. The game continues when ${pause.by} resumes it.`,
    );
  }

  invitationsNow() {
    const one = (/** @type {any} */ { tournament, game, by, about, reply, players = [] }) => {
      const button = (/** @type {string} */ word, /** @type {string} */ words, name = "") =>
        h(
          "button",
          { type: "button", class: name, onclick: () => this.playing.reply(word, tournament) },
          words,
        );
      const open =
        about === "ready-asked"
          ? [button("ready", "I’m ready")]
          : [
              reply === "accepted" ? null : button("accept", "Accept"),
              button("reject", "Reject", "plain"),
            ];
      return h(
        "div",
        { class: "card row", role: "alert", "data-key": `invited-${tournament}` },
        h("p", {}, `${by} invites you to ${tournament} (${game}), with ${players.join(", ")}.`),
        open,
      );
    };
    return [...this.playing.invitations.values()].map(one);
  }

  faultsNow() {
    const cost = {
      timeout: "You did not answer in time",
      disconnected: "Your connection was lost for too long",
      cheat: "That is against the rules",
      illegal: "That is against the rules",
      malformed: "The server could not read your answer",
      withdrew: "You left",
      "no-show": "You did not show up",
    };
    const one = (/** @type {any} */ { kind, game, evidence }) =>
      h(
        "li",
        {},
        h(
          "strong",
          {},
          `Game ${game ?? "–"}: ${/** @type {Record<string, string>} */ (cost)[kind] ?? kind}`,
        ),
        evidence?.detail ? ` (${evidence.detail}).` : ".",
        evidence?.asked ? ` Your time limit was ${clock(evidence.asked.limit_ms)}.` : "",
      );
    return this.faults.length
      ? h(
          "div",
          { class: "complaint", role: "alert", "data-key": "faults" },
          h("ul", { class: "faults" }, this.faults.map(one)),
        )
      : null;
  }

  drawBoard() {
    const { here } = this;
    const shown = here ? this.own.shown(here) : null;
    // Another window plays: this one shows the game, but cannot answer.
    const pause = here ? this.own.pause(here) : undefined;
    this.stage.inert = !this.playing.active || Boolean(pause);
    this.stage.classList.toggle("still", Boolean(pause));
    if (shown && !this.playing.active) delete shown.question;
    this.stage.classList.toggle("idle", !shown && !this.board && this.playing.state === "here");
    if (!here || !shown) {
      const words =
        this.playing.state === "here"
          ? "No game is waiting for you. Join one in the lobby; it starts here."
          : "";
      if (!this.board)
        this.place.replaceChildren(
          waiting(),
          h("p", {}, words),
          h("p", {}, h("a", { href: "#/", class: "button" }, "Go to the lobby")),
        );
      this.say("");
      return;
    }
    if (this.board) this.board.shown = shown;
    else this.load(here);
    this.say(this.words(here, shown));
  }

  /**
   * Loads the board of a match.
   * @param {Seat} seat
   */
  async load(seat) {
    if (this.loading === seat) return;
    this.loading = seat;
    try {
      const board = await loadBoard(seat.game);
      if (this.here !== seat || this.gone.signal.aborted) return;
      this.board = board;
      board?.addEventListener("answer", (event) =>
        this.answer(/** @type {CustomEvent} */ (event).detail),
      );
      this.place.replaceChildren(
        board ?? h("p", {}, `This page cannot show the game ${seat.game}.`),
      );
      this.draw();
    } catch (problem) {
      // The server does not answer: the next message tries again.
      if (!(problem instanceof TypeError)) throw problem;
      this.loading = null;
    }
  }

  /** @param {Seat} here @param {import("../boards/board.js").Shown} shown */
  words(here, shown) {
    if (here.end) {
      const won = here.end.result?.winners.includes(this.who.account);
      const game = here.end.latest ? ending(here.end.latest.result) : "";
      return `${game} ${won ? "You won the match." : "The match is over."}`;
    }
    if (!this.playing.active) return "This window no longer plays.";
    if (this.own.pause(here)) return "The game is paused.";
    if (here.request) return this.lately(here);
    const waited = waitedFor(here.game, shown.view)
      .map((seat) => shown.names[seat])
      .filter((name) => name !== this.who.account);
    return waited.length ? `Waiting for ${together(waited)} …` : "";
  }

  /**
   * The moves of the others since the person's last move.
   * @param {Seat} here
   */
  lately(here) {
    const { moves, seat } = here;
    const names = this.own.names(here);
    const last = moves.map((move) => move.seat).lastIndexOf(seat);
    // In Yahtzee all move at once, so the others' latest turn is as old as the person's.
    const fresh = here.game === "yahtzee" ? moves.slice(-names.length) : moves.slice(last + 1);
    return fresh
      .filter((move) => move.seat !== seat)
      .map((move) => `${names[move.seat]} ${move.what}`)
      .join(" · ");
  }

  /** @param {string} words */
  say(words) {
    if (this.caption.textContent !== words) this.caption.textContent = words;
  }
}
