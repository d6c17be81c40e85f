// Playing as a person: `#/play`. All state is on the server: after a reload, or on another device,
// the same request is waiting.

import { boardOf } from "../boards/all.js";
import { Problem, get, path, session } from "../lib/api.js";
import { OwnMatches } from "../lib/matches.js";
import { h, render } from "../lib/dom.js";
import { equal } from "../lib/equal.js";
import { slidAll, waitedFor } from "../lib/moves.js";
import { watch } from "../lib/stream.js";
import { styled } from "../lib/styled.js";
import { clock, ending, moveList, standing } from "../lib/table.js";
import { Receipt } from "../lib/receipt.js";
import { download } from "../lib/saved.js";
import { Wire } from "../lib/wire.js";
import { waiting } from "../start/waiting.js";

/** @typedef {import("../lib/matches.js").Seat} Seat */

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  styled("/web/boards/boards.css", "/web/boards/games.css");
  app.title("Play");
  const now = session();
  if (!now) {
    render(
      root,
      h("h1", {}, "Play"),
      h(
        "p",
        {},
        "You need an account to play. ",
        h("a", { href: "#/account", class: "button" }, "Log in or register"),
      ),
    );
    return () => {};
  }
  const play = new Play(root, now, app);
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
   * @param {import("../lib/types.js").Session} who
   * @param {import("../lib/types.js").App} app
   */
  constructor(root, who, app) {
    this.who = who;
    this.app = app;
    this.own = new OwnMatches(who.account);
    /**
     * The match on display.
     * @type {Seat | null}
     */
    this.here = null;
    this.state = "connecting";
    this.why = "";
    /** @type {Map<string, any>} */
    this.invitations = new Map();
    /**
     * The faults in the match on display.
     * @type {any[]}
     */
    this.faults = [];
    /** The request whose time was found to be over. */
    this.late = "";
    /**
     * The receipts by tournament, and the result of their comparison with the logs.
     * @type {Map<string, { receipt: Receipt, words: string, bad: boolean }>}
     */
    this.receipts = new Map();
    this.unwatch = () => {};
    /** @type {ReturnType<typeof boardOf>} */
    this.board = null;
    this.head = h("div", {});
    this.time = h("div", { class: "deadline" });
    this.news = h("div", { class: "stack" });
    this.told = h("p", { class: "told", "aria-live": "polite" });
    this.place = h("div", {});
    this.side = h("div", { class: "stack" });
    root.append(
      this.head,
      this.news,
      h(
        "div",
        { class: "columns" },
        h("div", { class: "card stage" }, this.time, this.told, this.place),
        this.side,
      ),
    );
    this.connect();
  }

  connect() {
    this.wire = new Wire(this.who.token, {
      message: (message) => this.take(message),
      state: (state, why) => {
        if (state === "away" && this.state === "here")
          for (const { receipt } of this.receipts.values()) receipt.note({ type: "lost" });
        [this.state, this.why] = [state, why];
        this.draw();
      },
    });
  }

  close() {
    this.unwatch();
    this.wire?.end("");
  }

  /** @param {any} message */
  take(message) {
    if (message.type === "request") {
      const due = this.here?.request?.id === message.id ? this.here?.due : undefined;
      const asked = this.own.asked(message);
      // The server repeats a request after its deadline, so find out what the delay cost.
      if (due !== undefined && due < Date.now() + 500) this.findFaults(asked);
      if (!this.here?.request) this.look(asked);
      else if (asked !== this.here) this.app.say(`It is also your turn in ${asked.tournament}.`);
    } else if (message.type === "notice") this.notice(message);
    else if (message.type === "error") this.error(message);
    this.draw();
  }

  /**
   * The receipt of a tournament.
   * @param {string} tournament
   */
  receipt(tournament) {
    let kept = this.receipts.get(tournament);
    if (!kept) {
      kept = { receipt: new Receipt(this.who.account, tournament), words: "", bad: false };
      this.receipts.set(tournament, kept);
      const { account } = this.who;
      kept.receipt.note({ type: "hello", player: account, nonce: this.wire?.nonce });
    }
    return kept;
  }

  /**
   * Compares the receipt with the logs, once the tournament is over.
   * @param {string} tournament
   */
  async compare(tournament) {
    const kept = this.receipt(tournament);
    const at = path`/api/v1/tournaments/${tournament}`;
    const text = async (/** @type {string} */ address) => {
      const response = await fetch(address, { cache: "no-store" });
      if (!response.ok) throw new Error(`the server could not send the log (status ${response.status})`);
      return response.text();
    };
    try {
      const cup = await text(`${at}/log`);
      const { wrong, answers } = await kept.receipt.compare(cup, (match) =>
        text(`${at}/matches/${encodeURIComponent(match)}/log`),
      );
      kept.bad = wrong !== null;
      kept.words = wrong
        ? `The log of ${tournament} contradicts your receipt: ${wrong}.`
        : `The log of ${tournament} agrees with your receipt: ${answers} answers.`;
    } catch (problem) {
      kept.words = `The log of ${tournament} could not be compared: ${
        problem instanceof Error ? problem.message : problem
      }`;
    }
    this.draw();
  }

  receiptsNow() {
    const compared = [...this.receipts.values()].filter(({ words }) => words);
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

  /** @param {any} error */
  error(error) {
    const of = error.id?.split(":")[0];
    if (of && this.receipts.has(of))
      this.receipt(of).receipt.note({ type: "refused", id: error.id, code: error.code });
    const late = error.code === "late";
    this.app.say(late ? "Your answer came too late." : error.detail, "bad");
    if (late && this.here) this.findFaults(this.here);
  }

  /** @param {any} notice */
  notice({ about, tournament, match, data }) {
    switch (about) {
      case "tournament":
        this.own.games.set(data.tournament, data.game);
        this.receipt(data.tournament).receipt.note({
          type: "tournament",
          tournament: data.tournament,
          commitment: data.commitment,
        });
        return;
      case "tournament-ended":
        this.receipt(data.tournament).receipt.note({ ...data, type: "tournament-ended" });
        this.compare(data.tournament);
        return;
      case "told":
        return this.own.told(tournament, match, data);
      case "match-over": {
        const over = this.own.at(data.tournament, data.match);
        over.request = null;
        this.receipt(data.tournament).receipt.note({ ...data, type: "match-over" });
        this.findFaults(over);
        if (!this.here) this.look(over);
        return this.app.say(data.won ? "You won the match." : "The match is over.", "good");
      }
      case "tournament-over":
        return this.app.say(
          `${data.tournament}: ${data.won ? "you won" : `you finished in place ${data.rank}`}.`,
        );
      case "invitation":
      case "ready-asked":
        return this.invited(about, data);
      case "invitation-over":
      case "called-off":
        this.invitations.delete(data.tournament);
        return this.app.say(`${data.tournament}: ${data.reason}`, "bad");
      case "stopping":
        return this.app.say("The server is stopping. Your games continue when it is back.");
      default:
        if (data?.why)
          this.app.say(
            `${data.tournament}: ${about.replaceAll("-", " ")}, by ${data.by}: ${data.why}`,
          );
    }
  }

  /** @param {string} about @param {any} data */
  invited(about, data) {
    const { tournament } = data;
    this.invitations.set(tournament, { ...data, about });
    // A user with this page visible is present and has accepted, so confirm for them.
    if (about === "ready-asked" && document.visibilityState === "visible")
      this.reply("ready", tournament);
  }

  /** @param {string} word @param {string} tournament */
  reply(word, tournament) {
    this.wire?.send({ type: word, tournament });
    this.invitations.delete(tournament);
    this.draw();
  }

  /**
   * Shows a match.
   * @param {Seat} seat
   */
  look(seat) {
    if (this.here === seat) return;
    this.unwatch();
    this.here = seat;
    this.faults = [];
    this.board = null;
    this.place.replaceChildren();
    const events = path`/api/v1/tournaments/${seat.tournament}/matches/${seat.match}/events`;
    this.unwatch = watch(events, {
      show: (data, event) => {
        this.own.seen(seat, data);
        if (event !== "change" && data.game === "fish") this.catchUp(seat, data.in_progress?.game);
        if (seat.end) this.findFaults(seat);
        this.draw();
      },
    });
    this.draw();
  }

  /**
   * Fetches the moves that were made before the player joined.
   * @param {Seat} seat @param {number | undefined} number
   */
  async catchUp(seat, number) {
    if (number === undefined) return;
    const game = path`${seat.tournament}/matches/${seat.match}/games/${number}`;
    try {
      const so = await get(`/api/v1/tournaments/${game}/positions`);
      if (seat !== this.here || !equal(so.positions.at(-1)?.view, seat.open)) return;
      seat.moves = slidAll(so.positions);
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
    if (!here?.request) return;
    const { id } = here.request;
    this.own.answered(here, answer);
    this.receipt(here.tournament).receipt.note({ type: "answer", id, answer });
    this.wire?.answer(id, answer);
    // Switch to another match that waits for an answer.
    const next = [...this.own.matches.values()].find((other) => other.request);
    if (next) this.look(next);
    this.draw();
  }

  tick() {
    const { here } = this;
    const request = here?.request;
    if (!here || !request) {
      if (this.time.firstChild) this.time.replaceChildren();
      return;
    }
    const left = here.due - Date.now();
    const short = left < Math.min(10_000, request.deadline_ms / 3);
    render(
      this.time,
      h(
        "div",
        { class: "row" },
        h("strong", {}, "Your turn"),
        h("span", { class: short ? "clock short" : "clock", role: "timer" }, clock(left)),
        h("span", { class: "soft small" }, left > 0 ? "left for your move" : "your time is up"),
      ),
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

  draw() {
    const { here } = this;
    render(
      this.head,
      h(
        "div",
        { class: "head" },
        h("h1", {}, here ? `${this.own.names(here).join(" – ")}` : "Play"),
        this.badge(),
      ),
      here ? this.about(here) : null,
      this.tabs(),
    );
    render(
      this.news,
      this.connection(),
      this.invitationsNow(),
      this.faultsNow(),
      this.receiptsNow(),
    );
    render(
      this.side,
      here?.end ? this.after(here) : null,
      here ? moveList(here.game, here.moves, this.own.names(here)) : null,
    );
    this.drawBoard();
    this.tick();
  }

  badge() {
    const words = {
      connecting: "connecting …",
      here: "you are connected",
      away: "no connection; reconnecting …",
      ended: "not connected",
    }[this.state];
    return h(
      "span",
      { class: this.state === "here" ? "tag good" : "tag bad", role: "status" },
      words,
    );
  }

  /** @param {Seat} here */
  about(here) {
    const address = `#/tournament/${encodeURIComponent(here.tournament)}`;
    return [
      h(
        "p",
        { class: "soft" },
        h("a", { href: address }, here.tournament),
        `, match ${here.match}`,
      ),
      standing(here.about),
    ];
  }

  /**
   * Links for after the end.
   * @param {Seat} here
   */
  after(here) {
    const address = (/** @type {number} */ game) =>
      `#/replay/${[here.tournament, here.match, game].map(encodeURIComponent).join("/")}`;
    const games = here.end.match?.games ?? [];
    return h(
      "section",
      { class: "card", "data-key": "after" },
      h("h2", {}, "Game over"),
      h(
        "ul",
        {},
        games.map((/** @type {any} */ result) =>
          h(
            "li",
            {},
            `Game ${result.game}: ${ending(result)} `,
            h("a", { href: address(result.game) }, "Replay"),
          ),
        ),
      ),
      h("p", {}, h("a", { href: "#/" }, "Go to the lobby")),
    );
  }

  /** The matches, if there are several. */
  tabs() {
    const all = [...this.own.matches.values()];
    if (all.length < 2) return null;
    const one = (/** @type {Seat} */ seat) =>
      h(
        "button",
        {
          type: "button",
          class: "plain",
          "aria-pressed": String(seat === this.here),
          onclick: () => this.look(seat),
        },
        `${seat.tournament} ${seat.match}`,
        seat.request ? h("span", { class: "tag accent" }, "your turn") : null,
      );
    return h("div", { class: "row", role: "group", "aria-label": "Your matches" }, all.map(one));
  }

  connection() {
    if (this.state !== "ended" || !this.why) return null;
    const again = () => {
      this.wire?.end("");
      this.connect();
    };
    return h(
      "div",
      { class: "complaint row", role: "alert", "data-key": "connection" },
      WHY[this.why] ?? this.why,
      this.why === "wrong-credentials"
        ? h("a", { href: "#/account" }, "Log in")
        : h("button", { type: "button", onclick: again }, "Continue here"),
    );
  }

  invitationsNow() {
    const one = (/** @type {any} */ { tournament, game, by, about, reply, players = [] }) => {
      const button = (/** @type {string} */ word, /** @type {string} */ words, name = "") =>
        h(
          "button",
          { type: "button", class: name, onclick: () => this.reply(word, tournament) },
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
    return [...this.invitations.values()].map(one);
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
    const one = (/** @type {any} */ { kind, code, game, evidence }) =>
      h(
        "li",
        {},
        h(
          "strong",
          {},
          `Game ${game ?? "–"}: ${/** @type {Record<string, string>} */ (cost)[kind] ?? kind}`,
        ),
        evidence?.detail ? ` (${evidence.detail}).` : ` (${code}).`,
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
    if (!here || !shown) {
      const words =
        this.state === "here"
          ? "No game is waiting for you. Join one in the lobby; it starts here."
          : "";
      if (!this.board)
        this.place.replaceChildren(
          waiting(),
          h("p", {}, words, " ", h("a", { href: "#/" }, "Go to the lobby")),
        );
      this.say("");
      return;
    }
    if (!this.board) {
      this.board = boardOf(here.game);
      this.board?.addEventListener("answer", (event) =>
        this.answer(/** @type {CustomEvent} */ (event).detail),
      );
      this.place.replaceChildren(
        this.board ?? h("p", {}, `This page cannot show the game ${here.game}.`),
      );
    }
    if (this.board) this.board.shown = shown;
    this.say(this.words(here, shown));
  }

  /** @param {Seat} here @param {import("../boards/board.js").Shown} shown */
  words(here, shown) {
    if (here.end) {
      const won = here.end.result?.winners.includes(this.who.account);
      const game = here.end.latest ? ending(here.end.latest.result) : "";
      return `${game} ${won ? "You won the match." : "The match is over."}`;
    }
    if (here.request) return "";
    const waited = waitedFor(here.game, shown.view)
      .map((seat) => shown.names[seat])
      .filter((name) => name !== this.who.account);
    return waited.length ? `Waiting for ${waited.join(" and ")} …` : "";
  }

  /** @param {string} words */
  say(words) {
    if (this.told.textContent !== words) this.told.textContent = words;
  }
}
