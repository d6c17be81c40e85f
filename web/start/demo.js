// A great game on the start page, which plays by itself and begins again: the best recent one of this
// server, or else one that the page brings along. It stands still for users who prefer that, and
// while it cannot be seen.

import { still } from "../boards/board.js";
import { h, render } from "../lib/dom.js";
import { bundledGame } from "./game.js";
import { ice } from "./pictures.js";
import { recentGame } from "./recent.js";
import { together } from "../lib/words.js";

const STEP_MS = 900;
/** How many steps the end stays on display. */
const END_STEPS = 5;

/** An element that replays the game for as long as it is on the page. */
class Demo extends HTMLElement {
  constructor() {
    super();
    /** @type {import("./game.js").Game | null} */
    this.game = null;
    this.at = 0;
    this.isPaused = still();
    this.timer = 0;
  }

  connectedCallback() {
    clearInterval(this.timer);
    this.timer = window.setInterval(() => this.step(), STEP_MS);
    if (this.game) this.draw();
    else this.load();
  }

  async load() {
    this.game = (await recentGame().catch(() => null)) ?? bundledGame();
    this.at = still() ? this.game.positions.length - 1 : placed(this.game);
    this.draw();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  step() {
    if (!this.game || this.isPaused || document.hidden) return;
    this.at = this.at >= this.game.positions.length - 1 + END_STEPS ? 0 : this.at + 1;
    this.draw();
  }

  draw() {
    if (!this.game) return;
    const { names, positions, link } = this.game;
    const last = positions.length - 1;
    const now = positions[Math.min(this.at, last)];
    const isOver = this.at >= last;
    const pause = () => {
      this.isPaused = !this.isPaused;
      if (isOver && !this.isPaused) this.at = 0;
      this.draw();
    };
    const name = (/** @type {number} */ seat) =>
      h(
        "span",
        { class: `side seat-${seat + 1}` },
        h("bdi", {}, names[seat]),
        " ",
        h("strong", {}, now.players[seat].score),
      );
    render(
      this,
      h("p", { class: "sides" }, name(0), name(1)),
      ice(now.board, now.players, `A game of Fish between ${together(names)}`, now),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", class: "quiet small", onclick: pause },
          this.isPaused ? "▶ Play" : "❚❚ Pause",
        ),
        link ? h("a", { class: "small", href: link }, "Replay") : null,
      ),
    );
  }
}

/**
 * The position in which all penguins are on the ice: the first one that a visitor sees.
 * @param {import("./game.js").Game} game
 */
function placed({ positions }) {
  const count = (/** @type {import("./game.js").Position} */ { players }) =>
    players.reduce((sum, { places }) => sum + places.length, 0);
  const most = Math.max(...positions.map(count));
  return positions.findIndex((position) => count(position) === most);
}

customElements.define("agon-demo", Demo);
