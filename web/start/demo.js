// A great game on the start page, which plays by itself and begins again. It stands still for users
// who prefer that, and while it cannot be seen.

import { still } from "../boards/board.js";
import { h, render } from "../lib/dom.js";
import { NAMES, positions } from "./game.js";
import { ice } from "./pictures.js";

const STEP_MS = 900;
/** How many steps the end stays on display. */
const END_STEPS = 5;

/** An element that replays the game for as long as it is on the page. */
class Demo extends HTMLElement {
  constructor() {
    super();
    this.all = positions();
    this.at = still() ? this.all.length - 1 : 0;
    this.isPaused = still();
    this.timer = 0;
  }

  connectedCallback() {
    clearInterval(this.timer);
    this.timer = window.setInterval(() => this.step(), STEP_MS);
    this.draw();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  step() {
    if (this.isPaused || document.hidden) return;
    this.at = this.at >= this.all.length - 1 + END_STEPS ? 0 : this.at + 1;
    this.draw();
  }

  draw() {
    const last = this.all.length - 1;
    const now = this.all[Math.min(this.at, last)];
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
        `${NAMES[seat]} `,
        h("strong", {}, now.players[seat].score),
      );
    render(
      this,
      h("p", { class: "sides" }, name(0), name(1)),
      ice(now.board, now.players, "A game of Fish between the strongest house players", now),
      h(
        "button",
        { type: "button", class: "quiet small", onclick: pause },
        this.isPaused ? "▶ Play" : "❚❚ Pause",
      ),
    );
  }
}

customElements.define("agon-demo", Demo);
