// A finished game, step by step: its board, a scrubber, the moves, and a check of all of it.
//
// It needs only its data, so that it works both in a file on a disk and on a server.

import { boardOf } from "../boards/all.js";
import { h, render, svg } from "./dom.js";
import { linesOf } from "./lines.js";
import { victory } from "./words.js";

/**
 * @typedef {import("./verify.js").Step & { at: number, tells?: string }} Step
 * @typedef {{ tournament: string, match: string, game: string, number: number,
 *   seats: string[], result: any, steps: Step[] }} Replay
 * @typedef {object} Data
 * @property {Replay} replay the response of `…/replay`
 * @property {string} log the match's log
 * @property {string} tournament the tournament's log; empty if it was not over
 * @property {import("../replay/analysis.js").Analysis} [analysis] once the server has made it
 * @property {import("../lib/types.js").Fault[]} [faults] those of the match
 *
 * @typedef {object} Options
 * @property {() => Promise<typeof import("./verify.js")>} verifier loads the verifier on demand
 * @property {() => Promise<typeof import("../replay/analysis.js")>} analyst loads the analysis
 * @property {number} [at] the step to begin with, from 0; the last one otherwise
 * @property {(at: number) => void} [moved] called when another step is shown
 * @property {() => Node[]} [extras] more buttons
 * @property {boolean} [isExample] true for a game without a log: there is nothing to check or analyse
 *
 * @typedef {object} Replaying a replay that is shown
 * @property {() => void} end ends it
 * @property {Element} place where the analysis goes
 * @property {() => Promise<import("../replay/analysis.js").AnalysisPanel>} explain loads the
 *   analysis and shows what is known of it
 */

const SPEEDS = [0.5, 1, 2, 4, 8];
const STEP_MS = 1_200;
/** The labels of the buttons. */
const SIGNS = /** @type {Record<string, string>} */ ({
  first: "M5 5h3v14H5zM20 5v14L9 12z",
  back: "M17 5v14L6 12z",
  play: "M7 4v16l13-8z",
  pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  on: "M7 5v14l11-7z",
  last: "M16 5h3v14h-3zM4 5v14l11-7z",
});

/**
 * Shows a game.
 * @param {HTMLElement} root @param {Data} data @param {Options} options @returns {Replaying}
 */
export function replayer(root, data, options) {
  const player = new Player(root, data, options);
  const key = (/** @type {KeyboardEvent} */ event) => player.key(event);
  addEventListener("keydown", key);
  player.show(options.at ?? data.replay.steps.length - 1);
  const end = () => {
    removeEventListener("keydown", key);
    player.stop();
  };
  return { end, place: player.place, explain: () => player.explain() };
}

class Player {
  /** @param {HTMLElement} root @param {Data} data @param {Options} options */
  constructor(root, data, options) {
    this.data = data;
    this.replay = data.replay;
    this.options = options;
    this.at = 0;
    this.speed = 1;
    this.timer = 0;
    /** @type {import("./verify.js").Findings | null} */
    this.findings = null;
    /** The limits of the check, in a sentence. */
    this.leftOut = "";
    this.board = boardOf(this.replay.game);
    this.last = this.replay.steps.length - 1;
    this.controls = h("div", { class: "replay-controls" });
    this.caption = h("p", { class: "caption", "aria-live": "polite" });
    this.moves = h("ol", { class: "moves", "aria-label": "Moves", tabindex: "0" });
    this.check = h("section", { class: "card", "aria-labelledby": "check-head" });
    const board = this.board ?? h("p", {}, `This page cannot show the game ${this.replay.game}.`);
    const stage = h(
      "div",
      { class: "stack" },
      h("div", { class: "card stage" }, this.controls, this.caption, board),
    );
    const side = h(
      "div",
      { class: "stack" },
      h("section", { class: "card" }, h("h2", {}, "Moves"), this.moves),
    );
    /** @type {import("../replay/analysis.js").AnalysisPanel | null} */
    this.panel = null;
    this.place = h(
      "section",
      { class: "card analysis", "aria-label": "Analysis" },
      h("h2", {}, "Why did it end like this?"),
    );
    root.append(h("div", { class: "columns replay" }, stage, side));
    if (!options.isExample) root.append(this.check, this.place);
    this.list();
  }

  async explain() {
    const { AnalysisPanel } = await this.options.analyst();
    const panel = new AnalysisPanel(this.replay, this.data.log, (at) => this.go(at), this.place);
    this.panel = panel;
    panel.mark(this.at);
    if (this.data.faults) panel.takeFaults(this.data.faults);
    if (this.data.analysis) panel.take(this.data.analysis);
    return panel;
  }

  /** @param {number} at */
  show(at) {
    this.at = Math.max(0, Math.min(this.last, Math.trunc(at) || 0));
    const { view } = this.replay.steps[this.at];
    const result =
      this.at === this.last && this.replay.result.end === "played" ? this.replay.result : null;
    if (this.board) this.board.shown = { view, names: this.replay.seats, result };
    const words = `Step ${this.at} of ${this.last}: ${this.said(this.at)}.`;
    render(
      this.caption,
      h("span", {}, words),
      this.at === this.last ? h("strong", {}, ` ${this.outcome()}`) : null,
    );
    this.controlsNow();
    this.mark();
    this.panel?.mark(this.at);
    this.options.moved?.(this.at);
  }

  /**
   * The description of a step.
   * @param {number} at
   */
  said(at) {
    const step = this.replay.steps[at];
    if (step.event === "game-started") return "the game begins";
    const name = this.replay.seats[step.seat ?? 0];
    return step.event === "seat-removed"
      ? `${name} is out of the game`
      : `${name} ${step.tells ?? ""}`;
  }

  /** The result of the game. */
  outcome() {
    const { end, winners, scores, by, voided } = this.replay.result;
    const points = this.replay.seats
      .map((name, seat) => `${name} ${scores?.[seat] ?? 0}`)
      .join(", ");
    if (end === "void")
      return voided
        ? `The game is void, ruled by ${voided.by}: ${voided.why}.`
        : "The game is void.";
    if (end === "forfeited")
      return `Forfeited by ${[by].flat().join(", ")}. ${victory(winners)}.`;
    return `${victory(winners)}. ${points}.`;
  }

  play() {
    if (this.at === this.last) this.show(0);
    const next = () => {
      this.show(this.at + 1);
      this.timer = this.at < this.last ? window.setTimeout(next, STEP_MS / this.speed) : 0;
      this.controlsNow();
    };
    this.timer = window.setTimeout(next, STEP_MS / this.speed);
    this.controlsNow();
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.controlsNow();
  }

  /** @param {number} at */
  go(at) {
    this.stop();
    this.show(at);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const target = /** @type {Element | null} */ (
      event.target instanceof Element ? event.target : null
    );
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      target?.closest("select, textarea, input:not([type=range])")
    )
      return;
    const pressing = target?.closest("button, a, summary, [role=button]");
    const acts = /** @type {Record<string, () => void>} */ ({
      ArrowLeft: () => this.go(this.at - 1),
      ArrowRight: () => this.go(this.at + 1),
      Home: () => this.go(0),
      End: () => this.go(this.last),
    });
    if (!pressing) acts[" "] = () => (this.timer ? this.stop() : this.play());
    if (!acts[event.key]) return;
    event.preventDefault();
    acts[event.key]();
  }

  controlsNow() {
    const button = (
      /** @type {string} */ sign,
      /** @type {string} */ words,
      /** @type {() => void} */ act,
      off = false,
    ) =>
      h(
        "button",
        {
          type: "button",
          class: "plain sign",
          "aria-label": words,
          title: words,
          disabled: off,
          onclick: act,
        },
        svg(
          "svg",
          { viewBox: "0 0 24 24", width: 20, height: 20, "aria-hidden": "true" },
          svg("path", { d: SIGNS[sign], fill: "currentColor" }),
        ),
      );
    const range = h("input", {
      type: "range",
      min: 0,
      max: this.last,
      step: 1,
      "aria-label": "Step",
      "aria-valuetext": `${this.at} of ${this.last}`,
      oninput: (/** @type {Event} */ event) =>
        this.go(Number(/** @type {HTMLInputElement} */ (event.target).value)),
    });
    const speed = (/** @type {number} */ one) =>
      h("option", { value: one, selected: one === this.speed }, `${one} ×`);
    const change = (/** @type {Event} */ event) =>
      (this.speed = Number(/** @type {HTMLSelectElement} */ (event.target).value));
    render(
      this.controls,
      h(
        "div",
        { class: "row" },
        button("first", "First step (Home)", () => this.go(0), this.at === 0),
        button("back", "Step back (←)", () => this.go(this.at - 1), this.at === 0),
        this.timer
          ? button("pause", "Pause (space)", () => this.stop())
          : button("play", "Play (space)", () => this.play()),
        button("on", "Step forward (→)", () => this.go(this.at + 1), this.at === this.last),
        button("last", "Last step (End)", () => this.go(this.last), this.at === this.last),
        h(
          "label",
          { class: "line small" },
          "Speed",
          h("select", { onchange: change }, SPEEDS.map(speed)),
        ),
      ),
      range,
    );
    const shown = this.controls.querySelector("input");
    if (shown) shown.value = String(this.at);
  }

  /** The moves, and the actions on all of them. */
  list() {
    const one = (/** @type {Step} */ _, /** @type {number} */ at) =>
      h(
        "li",
        { "data-key": at },
        h(
          "button",
          { type: "button", class: "quiet", onclick: () => this.go(at) },
          h("span", { class: "soft number" }, at),
          this.said(at),
        ),
      );
    render(this.moves, this.replay.steps.map(one));
    this.checkNow();
  }

  mark() {
    this.moves.querySelector("[aria-current]")?.removeAttribute("aria-current");
    const here = /** @type {HTMLElement | undefined} */ (this.moves.children[this.at]);
    if (!here) return;
    here.firstElementChild?.setAttribute("aria-current", "step");
    // Only the list scrolls, never the page.
    this.moves.scrollTop = here.offsetTop - this.moves.clientHeight / 2;
  }

  async verify() {
    try {
      const { LEFT_OUT, verify } = await this.options.verifier();
      this.leftOut = LEFT_OUT;
      const lines = linesOf(this.data.log);
      this.findings = verify(lines, linesOf(this.data.tournament), this.replay);
    } catch (error) {
      const what = error instanceof Error ? error.message : String(error);
      this.findings = {
        checked: [],
        read: [],
        revealed: false,
        chained: false,
        head: "",
        whole: "",
        failed: { seq: 0, type: "log", what },
      };
    }
    this.checkNow();
  }

  checkNow() {
    const lines = this.data.log.split("\n");
    const of = (/** @type {string} */ type) =>
      lines.filter((line) => line.includes(`"type":"${type}"`)).map((line) => tried(line)?.data);
    const started = of("game-started").find((data) => data?.game === this.replay.number);
    // Duplicate games reveal their secret after the last game with the same luck, or at the end.
    const secret = [...of("game-ended"), ...of("match-restarted"), ...of("match-ended")].find(
      (data) => data?.secret && (data.result?.game ?? Infinity) >= this.replay.number,
    )?.secret;
    render(
      this.check,
      h("h2", { id: "check-head" }, "Fair luck"),
      h(
        "p",
        { class: "small soft" },
        "Before the game the server committed to a secret, and after the game it revealed it. ",
        "All luck follows from this secret. Your browser can compute it again.",
      ),
      h(
        "dl",
        { class: "secrets small" },
        h("dt", {}, "Commitment"),
        h("dd", {}, h("code", {}, started?.commitment ?? "?")),
        h("dt", {}, "Secret"),
        h("dd", {}, h("code", {}, secret ?? "?")),
      ),
      h(
        "div",
        { class: "row" },
        h("button", { type: "button", class: "verify", onclick: () => this.verify() }, "Verify"),
        this.options.extras?.() ?? [],
      ),
      h(
        "div",
        { role: "status", class: "findings" },
        this.findings ? this.found(this.findings) : null,
      ),
    );
  }

  /** @param {import("./verify.js").Findings} findings */
  found({ checked, read, failed, revealed, chained, head, whole }) {
    const note = (/** @type {import("./verify.js").Note} */ { seq, type, what }) =>
      h("li", {}, h("strong", {}, `${seq} ${type}`), ` ${what}`);
    const secret = revealed
      ? "The game's secret follows from the tournament's secret, to which the server had committed before."
      : "The tournament is not over, so its own secret is not revealed yet.";
    const verdict = failed
      ? h(
          "p",
          { class: "verdict complaint" },
          `Event ${failed.seq} (${failed.type}) does not follow: ${failed.what}.`,
        )
      : h(
          "p",
          { class: "verdict good" },
          `✓ Your browser recomputed ${checked.length} of ${checked.length + read.length} events, `,
          `and each follows from the ones before. The others contain nothing to recompute. ${secret} `,
          chained
            ? "The hash chain covers every event. "
            : "An older version of Agon wrote this log without a hash chain. ",
          this.leftOut,
        );
    const code = (/** @type {string} */ name, /** @type {string} */ value) =>
      value ? [h("dt", {}, name), h("dd", {}, h("code", {}, value))] : [];
    return [
      verdict,
      failed
        ? null
        : h(
            "dl",
            { class: "secrets small" },
            code("Head of the match's log", head),
            code("Head of the tournament's log", whole),
          ),
      h(
        "details",
        {},
        h("summary", {}, `The ${checked.length} events that were checked`),
        h("ol", { class: "checked small" }, checked.map(note)),
      ),
    ];
  }
}

/** @param {string} line @returns {any} */
function tried(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null;
  }
}
