// Fish: the ice, the penguins on it, and the fish they have eaten.

import { h, render, svg } from "../lib/dom.js";
import { placements, same, slides } from "../rules/fish.js";
import { Board, move } from "./board.js";

/**
 * @typedef {import("../rules/fish.js").View} View
 * @typedef {import("../rules/fish.js").Position} Position
 */

/** The side of a tile, and half its height. */
const SIDE = 40;
const HALF = (SIDE * Math.sqrt(3)) / 2;
/** The letters of colours; black is K, because B is brown. */
const LETTERS = /** @type {Record<string, string>} */ ({
  red: "R",
  white: "W",
  brown: "B",
  black: "K",
});

/**
 * The middle of a tile.
 * @param {Position} at
 */
const middle = ([row, column]) => ({
  x: SIDE + SIDE * (3 * column + (row % 2 ? 1.5 : 0)),
  y: HALF + HALF * row,
});

/**
 * A tile's corners around 0.
 * @param {number} size
 */
const corners = (size) =>
  [0, 1, 2, 3, 4, 5]
    .map((corner) =>
      [Math.cos((corner * Math.PI) / 3) * size, Math.sin((corner * Math.PI) / 3) * size]
        .map((x) => x.toFixed(1))
        .join(),
    )
    .join(" ");

/** Where fish lie on a tile, by how many there are. */
const SHOALS = [
  [],
  [[0, 0]],
  [
    [0, -9],
    [0, 9],
  ],
  [
    [0, -14],
    [0, 0],
    [0, 14],
  ],
  [
    [-12, -9],
    [12, -9],
    [-12, 9],
    [12, 9],
  ],
  [
    [-13, -13],
    [13, -13],
    [0, 0],
    [-13, 13],
    [13, 13],
  ],
];
const FISH = "M-10 0C-6-6 3-6 7-1L11-4V4L7 1C3 6-6 6-10 0Z";

const BODY =
  "M0-27c9 0 12 7 13 14 6 5 8 15 6 22-3-1-4-4-5-7 0 14-5 23-14 23" +
  "s-14-9-14-23c-1 3-2 6-5 7-2-7 0-17 6-22 1-7 4-14 13-14Z";

/** @param {Position} at */
const named = (at) => `row ${at[0]}, column ${at[1]}`;

class FishBoard extends Board {
  constructor() {
    super();
    /**
     * The penguin that is to move.
     * @type {Position | null}
     */
    this.from = null;
    this.addEventListener("keydown", (event) => this.key(event));
  }

  forget() {
    this.from = null;
  }

  /**
   * Arrow keys move to the nearest choice in that direction; Escape deselects the penguin.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (event.key === "Escape" && this.from) {
      const back = this.from;
      this.from = null;
      this.again();
      this.focusOn(back);
      return;
    }
    const way = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[
      event.key
    ];
    const here = document.activeElement;
    if (!way || !(here instanceof SVGElement) || !this.contains(here)) return;
    event.preventDefault();
    const place = (/** @type {Element} */ element) => {
      const { left, top, width, height } = element.getBoundingClientRect();
      return [left + width / 2, top + height / 2];
    };
    const [x, y] = place(here);
    let [best, least] = [/** @type {SVGElement | null} */ (null), Infinity];
    for (const other of /** @type {NodeListOf<SVGElement>} */ (
      this.querySelectorAll('[role="button"]')
    )) {
      const [dx, dy] = [place(other)[0] - x, place(other)[1] - y];
      const ahead = dx * way[0] + dy * way[1];
      const aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
      if (ahead > 1 && ahead + 2 * aside < least) [best, least] = [other, ahead + 2 * aside];
    }
    best?.focus();
  }

  /** @param {Position} at */
  focusOn(at) {
    const found = this.querySelector(
      `[data-key="tile-${at}"][role="button"], [data-at="${at}"][role="button"]`,
    );
    if (found instanceof SVGElement) found.focus();
  }

  /**
   * The current choices.
   * @param {import("./board.js").Shown} now @returns {{ tiles: Position[], penguins: Position[] }}
   */
  choices({ view, question, seat }) {
    if (seat === undefined || !question) return { tiles: [], penguins: [] };
    if (question.ask === "place") return { tiles: placements(view), penguins: [] };
    if (question.ask !== "move") return { tiles: [], penguins: [] };
    const own = /** @type {Position[]} */ (view.players[seat].places);
    return {
      tiles: this.from ? slides(view, this.from) : [],
      penguins: own.filter((from) => slides(view, from).length > 0),
    };
  }

  /** @param {Position} at */
  choose(at) {
    if (!this.from) return this.answer({ place: at });
    const from = this.from;
    this.from = null;
    this.answer({ move: [from, at] });
  }

  /** @param {Position} at */
  pick(at) {
    this.from = this.from && same(this.from, at) ? null : at;
    this.again();
    if (this.from && this.now) {
      const [first] = slides(this.now.view, this.from);
      if (first && this.contains(document.activeElement)) this.focusOn(first);
    }
  }

  /** @param {import("./board.js").Shown} now @param {import("./board.js").Shown | null} before */
  draw(now, before) {
    const view = /** @type {View} */ (now.view);
    const { tiles, penguins } = this.choices(now);
    const [rows, columns] = [view.board.length, view.board[0].length];
    const [width, height] = [SIDE * (3 * columns + (rows > 1 ? 0.5 : -1)), HALF * (rows + 1)];
    const choosing = Boolean(now.question);
    const all = view.board.flatMap((row, r) => row.map((_, c) => /** @type {Position} */ ([r, c])));
    const board = svg(
      "svg",
      {
        class: "ice",
        viewBox: `-6 -6 ${width + 12} ${height + 12}`,
        role: choosing ? "group" : "img",
        "aria-label": this.inWords(view),
        "data-key": "ice",
      },
      all.map((at) =>
        this.tile(
          view,
          at,
          tiles.some((tile) => same(tile, at)),
        ),
      ),
      trail(view),
      view.players.flatMap((player, seat) =>
        player.places.map((at, number) =>
          this.penguin(
            now,
            seat,
            number,
            at,
            penguins.some((own) => same(own, at)),
          ),
        ),
      ),
    );
    render(this, this.order(now, penguins), board, this.players(now));
    if (before && before !== now) this.animateFrom(/** @type {View} */ (before.view), view);
  }

  /** @param {import("./board.js").Shown} now @param {Position[]} penguins */
  order(now, penguins) {
    const ask = now.question?.ask;
    if (!ask) return null;
    const words =
      ask === "place"
        ? "Put a penguin on a free tile."
        : this.from
          ? "Choose a tile to slide to, or another penguin."
          : `Choose a penguin to move.`;
    return h(
      "p",
      { class: "order", "data-key": "order" },
      words,
      h("span", { class: "soft small" }, " Use the mouse, touch, or Tab, arrow keys and Enter."),
    );
  }

  /** @param {View} view */
  inWords(view) {
    const tiles = view.board.flat().filter((fish) => fish > 0).length;
    const flocks = view.players.map(({ color, places }) => `${color}: ${places.length} penguins`);
    return `Ice of ${tiles} tiles; ${flocks.join(", ")}`;
  }

  /** @param {View} view @param {Position} at @param {boolean} open */
  tile(view, at, open) {
    const fish = view.board[at[0]][at[1]];
    const { x, y } = middle(at);
    const taken = view.players.some((player) => player.places.some((place) => same(place, at)));
    if (!fish)
      return svg(
        "g",
        { "data-key": `tile-${at}`, transform: `translate(${x} ${y})`, class: "hole" },
        svg("polygon", { points: corners(SIDE - 4) }),
      );
    const label = `${this.from ? "Slide to" : "Place at"} ${named(at)}: ${fish} fish`;
    const button = open
      ? {
          role: "button",
          tabindex: "0",
          "aria-label": label,
          onclick: () => this.choose(at),
          onkeydown: pressed(() => this.choose(at)),
        }
      : {};
    return svg(
      "g",
      {
        "data-key": `tile-${at}`,
        transform: `translate(${x} ${y})`,
        class: `tile fish-${fish}${open ? " open" : ""}`,
        ...button,
      },
      svg("polygon", { points: corners(SIDE - 2) }),
      taken
        ? null
        : SHOALS[fish].map(([dx, dy]) =>
            svg("path", { class: "shoal", d: FISH, transform: `translate(${dx} ${dy})` }),
          ),
      svg(
        "text",
        taken ? { class: "count", x: 6 - SIDE + 6, y: 4 } : { class: "count", y: HALF - 6 },
        fish,
      ),
    );
  }

  /**
   * @param {import("./board.js").Shown} now
   * @param {number} seat
   * @param {number} number
   * @param {Position} at
   * @param {boolean} open
   */
  penguin(now, seat, number, at, open) {
    const { color } = now.view.players[seat];
    const { x, y } = middle(at);
    const chosen = this.from !== null && same(this.from, at);
    const label = `Your penguin at ${named(at)}`;
    const pick = () => this.pick(at);
    const button = open
      ? {
          role: "button",
          tabindex: "0",
          "aria-pressed": String(chosen),
          "aria-label": label,
          onclick: pick,
          onkeydown: pressed(pick),
        }
      : {};
    return svg(
      "g",
      {
        "data-key": `penguin-${seat}-${number}`,
        "data-at": at,
        transform: `translate(${x} ${y})`,
        class: `penguin ${color}${open ? " open" : ""}${chosen ? " chosen" : ""}`,
        ...button,
      },
      svg(
        "g",
        { class: "bird" },
        svg("ellipse", { class: "ring", cy: 3, rx: 27, ry: 29 }),
        svg("path", { class: "feet", d: "M-11 23l-5 5h13zM11 23l5 5H3z" }),
        svg("path", {
          class: "body",
          d: BODY,
        }),
        svg("ellipse", { class: "belly", cy: 8, rx: 9.5, ry: 14 }),
        svg("path", { class: "beak", d: "M-4-12h8l-4 6z" }),
        svg("circle", { class: "eye", cx: -4.5, cy: -17, r: 2.4 }),
        svg("circle", { class: "eye", cx: 4.5, cy: -17, r: 2.4 }),
        svg("text", { class: "letter", y: 14 }, LETTERS[color]),
      ),
    );
  }

  /** @param {import("./board.js").Shown} now */
  players(now) {
    const view = /** @type {View} */ (now.view);
    const one = (/** @type {View["players"][0]} */ player, /** @type {number} */ seat) =>
      h(
        "li",
        { class: view.turn === seat ? "turn" : "", "data-key": `player-${seat}` },
        h("span", { class: `flag ${player.color}`, "aria-hidden": "true" }, LETTERS[player.color]),
        h(
          "span",
          { class: "name" },
          now.names[seat],
          h("span", { class: "soft small" }, ` ${player.color}`),
          player.removed ? h("span", { class: "tag bad" }, "out") : null,
          view.turn === seat ? h("span", { class: "tag accent" }, "to move") : null,
        ),
        h("strong", { class: "number" }, player.score, h("span", { class: "soft small" }, " fish")),
        h(
          "span",
          { class: "hidden" },
          player.places.length ? ` Penguins at ${player.places.map(named).join("; ")}` : "",
        ),
      );
    return h("ul", { class: "players", "data-key": "players" }, view.players.map(one));
  }

  /**
   * Animates sliding penguins and sinking tiles.
   * @param {View} before @param {View} view
   */
  animateFrom(before, view) {
    const known =
      before.board.length === view.board.length && before.players.length === view.players.length;
    if (!known) return;
    view.players.forEach((player, seat) =>
      player.places.forEach((at, number) => {
        const old = before.players[seat].places[number];
        const bird = this.querySelector(`[data-key="penguin-${seat}-${number}"] .bird`);
        if (!old)
          return void move(
            bird,
            [
              { transform: "translateY(-40px)", opacity: 0 },
              { transform: "none", opacity: 1 },
            ],
            300,
          );
        if (same(old, at)) return;
        const [from, to] = [middle(old), middle(at)];
        move(
          bird,
          [
            { transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` },
            { transform: "none" },
          ],
          450,
        );
        this.sink(old, before.board[old[0]][old[1]]);
      }),
    );
  }

  /** @param {Position} at @param {number} fish */
  sink(at, fish) {
    const polygon = svg("polygon", { points: corners(SIDE - 2) });
    const ghost = svg("g", { class: `tile sinking fish-${fish}` }, polygon);
    const hole = this.querySelector(`[data-key="tile-${at}"]`);
    const sinking = move(
      polygon,
      [
        { transform: "none", opacity: 1 },
        { transform: "translateY(10px) scale(0.55)", opacity: 0 },
      ],
      700,
      200,
    );
    if (!hole || !sinking) return;
    hole.append(ghost);
    sinking.onfinish = () => ghost.remove();
    sinking.oncancel = () => ghost.remove();
  }
}

/** @param {() => void} act @returns {(event: KeyboardEvent) => void} */
function pressed(act) {
  return (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    act();
  };
}

/**
 * The path of the latest move.
 * @param {View} view
 */
function trail(view) {
  const latest = view.since.at(-1);
  if (!latest) return null;
  const [from, to] = latest.map(middle);
  return svg("line", {
    class: "trail",
    "data-key": "trail",
    x1: from.x,
    y1: from.y,
    x2: to.x,
    y2: to.y,
  });
}

customElements.define("agon-fish", FishBoard);
