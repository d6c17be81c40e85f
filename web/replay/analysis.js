// Why a game ended as it did: luck and skill of every player, the costliest decisions, the time per
// move, and the faults. The numbers are those of `agon analyse`.

import { h, render } from "../lib/dom.js";
import { fault as faultWords, signed } from "../lib/words.js";
import { graph, moveCursor } from "./graph.js";
import { StderrPanel } from "./stderr.js";
import { median, moveTimes, took } from "./times.js";

/**
 * @typedef {object} AnalysedStep a draw or a decision
 * @property {number} answer the answer it belongs to, from 1; 0 is the set-up
 * @property {number} seat @property {string} place @property {string} what
 * @property {"luck" | "decision"} kind
 * @property {number} [luck] @property {number} [cost] @property {string} [better]
 * @property {number} error
 *
 * @typedef {object} PlayerAnalysis
 * @property {string} player @property {number} score
 * @property {number} [luck] @property {number} [adjusted]
 * @property {number} cost @property {number} error
 * @property {number} decisions @property {number} mistakes
 * @property {AnalysedStep[]} costliest
 *
 * @typedef {{ model: string, complete: boolean, players: PlayerAnalysis[], steps: AnalysedStep[] }}
 *   Analysis the response of `…/analysis`
 *
 * @typedef {import("../lib/replayer.js").Replay} Replay
 * @typedef {import("../lib/types.js").Fault} Fault
 */

/** The part of a replay that explains the game. */
export class AnalysisPanel {
  /**
   * @param {Replay} replay @param {string} log the match's log
   * @param {(at: number) => void} go shows a step
   * @param {Element} element where it goes
   */
  constructor(replay, log, go, element) {
    this.replay = replay;
    this.go = go;
    this.last = replay.steps.length - 1;
    this.times = moveTimes(replay);
    /** @type {Analysis | null} */
    this.analysis = null;
    /** @type {Fault[]} */
    this.faults = [];
    this.stderr = new StderrPanel(replay, log, go);
    this.words = "The server analyses the game …";
    this.at = 0;
    this.element = element;
    this.draw();
  }

  /**
   * Shows an analysis.
   * @param {Analysis} analysis
   */
  take(analysis) {
    this.analysis = analysis;
    this.draw();
  }

  /**
   * Says why there is no analysis.
   * @param {string} words
   */
  fail(words) {
    this.words = words;
    this.draw();
  }

  /**
   * Shows the faults of this game.
   * @param {Fault[]} faults
   */
  takeFaults(faults) {
    this.faults = faults.filter(({ game }) => game === this.replay.number);
    this.draw();
  }

  /**
   * Marks the step that is shown.
   * @param {number} at
   */
  mark(at) {
    this.at = at;
    moveCursor(this.element, at, this.last);
    this.stderr.mark(at);
  }

  /** The step of every answer: answers are numbered from 1 over all seats. */
  stepOf(/** @type {number} */ answer) {
    if (answer === 0) return 0;
    const answers = this.replay.steps.flatMap(({ event }, at) =>
      event === "answer-accepted" ? [at] : [],
    );
    return answers[answer - 1] ?? this.last;
  }

  draw() {
    const { analysis } = this;
    render(
      this.element,
      h("h2", {}, "Why did it end like this?"),
      analysis ? this.verdict(analysis) : h("p", { class: "soft", role: "status" }, this.words),
      analysis ? this.sums(analysis) : null,
      graph(this.graphData(analysis), this.go),
      analysis ? this.decisions(analysis) : null,
      this.faultList(),
      this.stderr.element,
      analysis ? h("p", { class: "soft small" }, capital(analysis.model), ".") : null,
    );
    moveCursor(this.element, this.at, this.last);
  }

  /**
   * One sentence for each player who did not win: how much was luck, how much were decisions.
   * @param {Analysis} analysis
   */
  verdict({ players, complete }) {
    const { seats } = this.replay;
    const { winners, ranks } = this.replay.result;
    const best = players.find(({ player }) => winners.includes(player));
    if (!best || !complete) return null;
    const lost = players.filter(({ player }) => !winners.includes(player));
    return lost.map((one) => {
      const behind = best.score - one.score;
      if (ranks?.[seats.indexOf(one.player)] === null)
        return h(
          "p",
          { class: "why", "data-key": one.player },
          h("strong", {}, h("bdi", {}, one.player)),
          " is out of the game. The faults below say why.",
        );
      const cost = one.cost - best.cost;
      const luck = (best.luck ?? 0) - (one.luck ?? 0);
      const bdi = (/** @type {string} */ name) => h("bdi", {}, name);
      const points = Math.abs(cost).toFixed(1);
      return h(
        "p",
        { class: "why", "data-key": one.player },
        h("strong", {}, bdi(one.player)),
        ` lost by ${behind}`,
        one.luck === undefined
          ? [
              cost >= 0
                ? `: their decisions cost ${points} points more than those of `
                : `, although their decisions cost ${points} points less than those of `,
              bdi(best.player),
              ".",
            ]
          : [
              `: luck ${luck >= 0 ? "cost" : "gained"} ${Math.abs(luck).toFixed(1)} points, and `,
              `decisions ${cost >= 0 ? "cost" : "gained"} ${points} points compared with `,
              bdi(best.player),
              ".",
            ],
      );
    });
  }

  /**
   * The sums of each player, as a table.
   * @param {Analysis} analysis
   */
  sums({ players }) {
    const hasLuck = players.some(({ luck }) => luck !== undefined);
    const head = [
      "Player",
      "Score",
      ...(hasLuck ? ["Luck", "Without luck"] : []),
      "Lost by decisions",
      "Mistakes",
      "Time per move",
    ];
    const row = (/** @type {PlayerAnalysis} */ one, /** @type {number} */ seat) => {
      const own = this.times.filter((time) => time.seat === seat).map(({ ms }) => ms);
      // The 95 % interval, as in the terminal.
      const reach = 1.96 * one.error;
      const error = reach >= 0.05 ? ` ± ${reach.toFixed(1)}` : "";
      const cells = [
        one.score,
        ...(hasLuck ? [signed(one.luck ?? 0), one.adjusted?.toFixed(1) ?? "–"] : []),
        `${one.cost.toFixed(1)}${error}`,
        `${one.mistakes} of ${one.decisions}`,
        `${took(median(own))}, at most ${took(Math.max(0, ...own))}`,
      ];
      return h(
        "tr",
        { "data-key": one.player },
        h("th", { scope: "row" }, h("bdi", {}, one.player)),
        cells.map((cell) => h("td", { class: "number" }, cell)),
      );
    };
    return h(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": "Luck and skill" },
      h(
        "table",
        { class: "sums" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            head.map((word, at) => h("th", { scope: "col", class: at ? "number" : "" }, word)),
          ),
        ),
        h("tbody", {}, players.map(row)),
      ),
    );
  }

  /**
   * @param {Analysis | null} analysis
   * @returns {import("./graph.js").GraphData}
   */
  graphData(analysis) {
    const { seats } = this.replay;
    const hasLuck = analysis?.players.some(({ luck }) => luck !== undefined);
    const curve = (/** @type {"luck" | "cost"} */ what) =>
      seats.map((_, seat) => {
        let value = 0;
        const own = (analysis?.steps ?? [])
          .filter((step) => step.seat === seat && step[what] !== undefined)
          .sort((one, other) => one.answer - other.answer);
        const points = own.map((step) => ({
          at: this.stepOf(step.answer),
          value: (value += step[what] ?? 0),
        }));
        return { seat, points };
      });
    const costly = analysis?.players.flatMap(({ costliest }) => costliest) ?? [];
    return {
      names: seats,
      last: this.last,
      luck: hasLuck ? curve("luck") : [],
      costs: analysis ? curve("cost") : [],
      markers: costly.map((step) => ({
        at: this.stepOf(step.answer),
        seat: step.seat,
        words: `${seats[step.seat]}, ${step.place}: ${decision(step)}`,
      })),
      times: this.times,
    };
  }

  /**
   * The costliest decisions, and the draws with the most and the least luck. Each leads to its step.
   * @param {Analysis} analysis
   */
  decisions({ players, steps }) {
    const hasLuck = players.some(({ luck }) => luck !== undefined);
    const button = (/** @type {AnalysedStep} */ step, /** @type {string} */ value, words = "") => {
      const at = this.stepOf(step.answer);
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "quiet", "data-step": at, onclick: () => this.go(at) },
          h("strong", { class: "number" }, value),
          h("span", {}, `${capital(step.place)}: ${words}`),
        ),
      );
    };
    const player = (/** @type {PlayerAnalysis} */ one, /** @type {number} */ seat) => {
      const draws = steps.filter((step) => step.seat === seat && step.luck !== undefined);
      const most = [...draws].sort((a, b) => (b.luck ?? 0) - (a.luck ?? 0));
      const extremes = one.luck === undefined || most.length < 2 ? [] : [most[0], most[most.length - 1]];
      return h(
        "div",
        { "data-key": one.player },
        h("h3", {}, h("bdi", {}, one.player)),
        one.costliest.length
          ? h(
              "ol",
              { class: "costliest" },
              one.costliest.map((step) => button(step, `−${(step.cost ?? 0).toFixed(1)}`, decision(step))),
            )
          : h("p", { class: "soft" }, one.cost < 0.05 ? "Every decision was the best one." : "No decision was clearly a mistake."),
        extremes.length
          ? h(
              "ul",
              { class: "costliest luck" },
              extremes.map((step) => button(step, signed(step.luck ?? 0), step.what)),
            )
          : null,
      );
    };
    return [
      h("h3", {}, hasLuck ? "Costliest decisions and luckiest draws" : "Costliest decisions"),
      h("div", { class: "halves" }, players.map(player)),
    ];
  }

  /** The faults of this game, with the evidence for the players who may see it. */
  faultList() {
    if (!this.faults.length) return null;
    const { steps, seats } = this.replay;
    const step = (/** @type {Fault} */ { player, evidence }) => {
      // Everybody sees when a player left the game, also without the evidence.
      const isExit = (/** @type {{ event: string, seat?: number }} */ { event, seat }) =>
        event === "seat-removed" && seat === seats.indexOf(player);
      const exit = steps.findIndex(isExit);
      if (exit >= 0) return exit;
      if (!evidence || evidence.at < steps[0].at) return this.last;
      return steps.filter((one) => one.at <= evidence.at).length - 1;
    };
    const one = (/** @type {Fault} */ fault, /** @type {number} */ index) => {
      const at = step(fault);
      const { evidence } = fault;
      return h(
        "li",
        { "data-key": `fault ${index}` },
        h("bdi", {}, fault.player),
        h("span", { class: "tag bad" }, faultWords(fault.kind)),
        " ",
        h("code", {}, fault.code),
        " ",
        h(
          "button",
          { type: "button", class: "quiet", "data-step": at, onclick: () => this.go(at) },
          `Go to step ${at}`,
        ),
        evidence
          ? h(
              "details",
              {},
              h("summary", {}, evidence.detail),
              evidence.asked
                ? h("pre", { tabindex: 0 }, JSON.stringify(evidence.asked.question, null, 1))
                : null,
              evidence.answer === undefined ? null : h("pre", { tabindex: 0 }, evidence.answer),
              evidence.sent === undefined ? null : h("pre", { tabindex: 0 }, evidence.sent),
            )
          : h("p", { class: "soft small" }, "The player and operators see the evidence."),
      );
    };
    return h(
      "div",
      { class: "game-faults" },
      h("h3", {}, "Faults in this game"),
      h("ul", {}, this.faults.map(one)),
    );
  }
}

/**
 * A decision in words, and the better one.
 * @param {AnalysedStep} step
 */
const decision = ({ what, better }) => `${what}${better ? `; better was: ${better}` : ""}`;

/** @param {string} text */
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
