// The stderr of a bot, at the step of the game to which each line belongs.
//
// The server never receives it. `agon join --receipt FILE` records it on the machine of the bot, and
// its owner opens that file here. The file stays in the browser.

import { h, render } from "../lib/dom.js";
import { linesOf } from "../lib/lines.js";

/** @typedef {import("../lib/replayer.js").Replay} Replay */

/**
 * The step of every request of a game that was answered.
 * @param {string} log the match's log @param {number} number the game
 */
function stepsByRequest(log, number) {
  /** @type {Map<string, number>} */
  const steps = new Map();
  let [inside, step] = [false, 0];
  for (const { type, data } of linesOf(log)) {
    if (type === "game-started") [inside, step] = [data.game === number, 0];
    if (!inside || (type !== "answer-accepted" && type !== "seat-removed")) continue;
    step += 1;
    if (type === "answer-accepted") steps.set(data.request, step);
  }
  return steps;
}

/**
 * The output of a bot by step. Output about a request that was never answered belongs to the end of
 * the game.
 * @param {string} receipt @param {Replay} replay @param {string} log
 * @returns {Map<number, string>}
 */
export function outputByStep(receipt, { tournament, match, number, steps }, log) {
  const known = stepsByRequest(log, number);
  /** @type {Map<number, string>} */
  const found = new Map();
  for (const line of receipt.split("\n").filter((one) => one.trim())) {
    const { type, id, text } = JSON.parse(line);
    if (type !== "stderr" || !id?.startsWith(`${tournament}:${match}.${number}.`)) continue;
    const step = known.get(id.slice(tournament.length + 1)) ?? steps.length - 1;
    found.set(step, (found.get(step) ?? "") + text);
  }
  return found;
}

/** The part of a replay that shows the output of a bot. */
export class StderrPanel {
  /** @param {Replay} replay @param {string} log @param {(at: number) => void} go shows a step */
  constructor(replay, log, go) {
    this.replay = replay;
    this.log = log;
    this.go = go;
    /** @type {Map<number, string> | null} */
    this.output = null;
    this.problem = "";
    this.at = 0;
    this.element = h("details", { class: "stderr", "data-key": "stderr" });
    this.draw();
  }

  /**
   * Marks the step that is shown.
   * @param {number} at
   */
  mark(at) {
    this.at = at;
    if (this.output) this.draw();
  }

  /** @param {File | undefined} file */
  async open(file) {
    if (!file) return;
    try {
      this.output = outputByStep(await file.text(), this.replay, this.log);
      this.problem = "";
    } catch {
      this.problem = "This file is not a receipt. Choose the file that you gave to --receipt.";
    }
    this.draw();
  }

  draw() {
    const opened = (/** @type {Event} */ { target }) =>
      this.open(/** @type {HTMLInputElement} */ (target).files?.[0]);
    render(
      this.element,
      h("summary", {}, "Stderr of your bot"),
      h(
        "label",
        {},
        "Receipt of your bot",
        h("input", { type: "file", accept: ".jsonl,.json,.txt", onchange: opened }),
      ),
      this.problem ? h("p", { class: "complaint", role: "alert" }, this.problem) : null,
      this.output
        ? this.shown(this.output)
        : h(
            "p",
            { class: "soft small" },
            "Start your bot with ",
            h("code", {}, "agon join --receipt FILE"),
            " and open that file here. It stays in your browser; the server never receives the ",
            "stderr of a bot.",
          ),
    );
  }

  /** @param {Map<number, string>} output */
  shown(output) {
    if (!output.size)
      return h("p", { class: "soft" }, "The receipt has no output of your bot in this game.");
    const here = output.get(this.at);
    const one = (/** @type {number} */ at) =>
      h(
        "button",
        {
          type: "button",
          class: "plain small",
          "aria-pressed": String(at === this.at),
          "aria-label": `Step ${at}`,
          onclick: () => this.go(at),
        },
        at,
      );
    return [
      here === undefined
        ? h("p", { class: "soft" }, `Your bot wrote nothing before step ${this.at}.`)
        : h("pre", { class: "wide", tabindex: 0, "aria-label": `Output before step ${this.at}` }, here),
      h(
        "div",
        { class: "row steps-with-output", role: "group", "aria-label": "Steps with output" },
        [...output.keys()].sort((a, b) => a - b).map(one),
      ),
    ];
  }
}
