// Fish: the ice, the penguins on it, and the fish they have eaten.

import { h, render, svg } from "../lib/dom.js";
import { placements, same, slides } from "../rules/fish.js";
import { options } from "../play/options.js";
import { Board, move } from "./board.js";
import { strip } from "./strip.js";

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

/** Below this width of the board, a wide field of ice is drawn from top to bottom. */
const NARROW = 480;

/**
 * Where tiles are drawn: along rows, or turned so that columns go down.
 * @typedef {{ turned: boolean, width: number, height: number, left: number, top: number,
 *   middle: (at: Position) => { x: number, y: number }, corners: (size: number) => string }} Field
 */

/**
 * @param {number} rows @param {number} columns @param {boolean} turned @returns {Field}
 */
function field(rows, columns, turned) {
  const along = (/** @type {Position} */ [row, column]) =>
    SIDE + SIDE * (3 * column + (row % 2 ? 1.5 : 0));
  const across = (/** @type {Position} */ [row]) => HALF + HALF * row;
  const [long, short] = [SIDE * (3 * columns + (rows > 1 ? 0.5 : -1)), HALF * (rows + 1)];
  return {
    turned,
    // Coordinates stand to the left of the rows and above the columns.
    left: turned ? 34 : 26,
    top: turned ? 26 : 24,
    width: turned ? short : long,
    height: turned ? long : short,
    middle: (at) => (turned ? { x: across(at), y: along(at) } : { x: along(at), y: across(at) }),
    corners: (size) => corners(size, turned ? 30 : 0),
  };
}

/**
 * A tile's corners around 0.
 * @param {number} size @param {number} turn in degrees
 */
const corners = (size, turn) =>
  [0, 60, 120, 180, 240, 300]
    .map((corner) => ((corner + turn) * Math.PI) / 180)
    .map((angle) =>
      [Math.cos(angle) * size, Math.sin(angle) * size].map((x) => x.toFixed(1)).join(),
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
    /** Where everything is drawn. */
    this.field = field(1, 1, false);
    this.sizes = new ResizeObserver(() => this.fit());
    for (const event of ["focusin", "pointerover"])
      this.addEventListener(event, ({ target }) => this.hint(target));
  }

  connectedCallback() {
    super.connectedCallback();
    this.sizes.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
  }

  /** Turns the field when the board becomes narrow or wide. */
  fit() {
    if (this.now && this.narrow() !== this.field.turned) this.again();
  }

  narrow() {
    const { board } = this.now?.view ?? { board: [[]] };
    const wide = SIDE * 3 * board[0].length > HALF * board.length;
    return wide && this.clientWidth > 0 && this.clientWidth < NARROW;
  }

  forget() {
    this.from = null;
  }

  first() {
    const own = this.querySelector(".penguin.open");
    return /** @type {SVGElement | null} */ (own ?? this.querySelector(".tile.open"));
  }

  /**
   * Shows where the penguin under the pointer, or with the focus, may slide to.
   * @param {EventTarget | null} target
   */
  hint(target) {
    const own = target instanceof Element ? target.closest(".penguin.open") : null;
    const at = own?.getAttribute("data-at")?.split(",").map(Number);
    const hints = at && !this.from && this.now && options().hints;
    const reach = hints ? slides(this.now?.view, /** @type {Position} */ (at)) : [];
    const keys = new Set(reach.map((tile) => `tile-${tile}`));
    for (const tile of this.querySelectorAll(".tile"))
      tile.classList.toggle("reach", keys.has(tile.getAttribute("data-key") ?? ""));
  }

  /**
   * Escape puts the chosen penguin down.
   * @param {string} key
   */
  key(key) {
    if (key !== "Escape" || !this.from) return false;
    const back = this.from;
    this.from = null;
    this.again();
    this.focusOn(back);
    return true;
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

  /**
   * The answer that a tile stands for.
   * @param {Position} at
   */
  meant(at) {
    return this.from ? { move: [this.from, at] } : { place: at };
  }

  /** @param {Position} at */
  pickTile(at) {
    const { from } = this;
    const eaten = from ? this.now?.view.board[from[0]][from[1]] : 0;
    const words = from
      ? `Slide ${from} → ${at} for ${eaten} fish?`
      : `Place a penguin at ${at}?`;
    this.choose(this.meant(at), words);
  }

  /** @param {Position} at */
  pick(at) {
    this.pending = null;
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
    this.field = field(view.board.length, view.board[0].length, this.narrow());
    const { left, top, width, height } = this.field;
    const choosing = Boolean(now.question);
    const all = view.board.flatMap((row, r) => row.map((_, c) => /** @type {Position} */ ([r, c])));
    const board = svg(
      "svg",
      {
        class: "ice",
        viewBox: `${-left} ${-top} ${width + left + 6} ${height + top + 6}`,
        role: choosing ? "group" : "img",
        "aria-label": this.inWords(view),
        "data-key": "ice",
      },
      this.coordinates(view),
      all.map((at) =>
        this.tile(
          view,
          at,
          tiles.some((tile) => same(tile, at)),
        ),
      ),
      this.trail(view),
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
      this.preview(now),
    );
    render(this, this.players(now), board, this.order(now));
    if (before && before !== now) this.animateFrom(/** @type {View} */ (before.view), view);
  }

  /**
   * The numbers of rows and columns. A column's number stands beside its first tile, because odd
   * rows are shifted.
   * @param {View} view
   */
  coordinates(view) {
    const { turned, middle } = this.field;
    const label = (
      /** @type {string} */ name,
      /** @type {number} */ x,
      /** @type {number} */ y,
      /** @type {number} */ number,
    ) => svg("text", { class: "coordinate", "data-key": name, x, y }, number);
    const rows = view.board.map((_, row) => {
      const { x, y } = middle([row, 0]);
      return turned ? label(`row-${row}`, x, -10, row) : label(`row-${row}`, -14, y + 6, row);
    });
    const columns = view.board.slice(0, 2).flatMap((tiles, row) =>
      tiles.map((_, column) => {
        const { x, y } = middle([row, column]);
        const name = `column-${row}-${column}`;
        return turned
          ? label(name, row ? x - HALF - 8 : -14, y + 6, column)
          : label(name, x, row ? y - HALF - 6 : -7, column);
      }),
    );
    return svg("g", { "aria-hidden": "true", "data-key": "coordinates" }, rows, columns);
  }

  /**
   * The penguin where the chosen answer would put it.
   * @param {import("./board.js").Shown} now
   */
  preview(now) {
    const { answer } = this.pending ?? {};
    const to = answer?.move?.[1] ?? answer?.place;
    if (!to || now.seat === undefined) return null;
    const { x, y } = this.field.middle(to);
    const { color } = now.view.players[now.seat];
    return svg(
      "g",
      {
        class: `preview ${color}`,
        "data-key": "preview",
        transform: `translate(${x} ${y})`,
        "aria-hidden": "true",
      },
      bird(color),
    );
  }

  /** @param {import("./board.js").Shown} now */
  order(now) {
    const ask = now.question?.ask;
    if (ask !== "place" && ask !== "move") return null;
    const words =
      ask === "place"
        ? "Put a penguin on a free tile."
        : this.from
          ? "Choose a tile to slide to, or another penguin."
          : `Choose a penguin to move.`;
    return (
      this.confirmation() ??
      h(
        "p",
        { class: "order", "data-key": "order" },
        words,
        h("span", { class: "soft small keys" }, " Keys: arrows, Enter, Escape."),
      )
    );
  }

  /**
   * The paths of the moves since the person's last one; the latest is the strongest.
   * @param {View} view
   */
  trail(view) {
    return view.since.map((ends, at) => {
      const [from, to] = ends.map(this.field.middle);
      const latest = at === view.since.length - 1;
      return svg("line", {
        class: latest ? "trail" : "trail earlier",
        "data-key": `trail-${at}`,
        x1: from.x,
        y1: from.y,
        x2: to.x,
        y2: to.y,
      });
    });
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
    const { x, y } = this.field.middle(at);
    const { corners } = this.field;
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
          "aria-pressed": String(this.isPending(this.meant(at))),
          onclick: () => this.pickTile(at),
          onkeydown: pressed(() => this.pickTile(at)),
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
        taken ? { class: "count", ...this.aside() } : { class: "count", y: HALF - 6 },
        fish,
      ),
    );
  }

  /** Where the number of fish stands beside a penguin. */
  aside() {
    return this.field.turned ? { x: -25, y: 24 } : { x: 12 - SIDE, y: 4 };
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
    const { x, y } = this.field.middle(at);
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
      bird(color),
    );
  }

  /** @param {import("./board.js").Shown} now */
  players(now) {
    const view = /** @type {View} */ (now.view);
    const entries = view.players.map((player, seat) => ({
      sign: flag(player.color),
      name: now.names[seat],
      about: `${player.color}${
        player.places.length ? `; penguins at ${player.places.map(named).join("; ")}` : ""
      }`,
      score: player.score,
      unit: "fish",
      turn: !now.over && view.turn === seat,
      tag: player.removed ? "out" : "",
      winner: now.result?.winners.includes(now.names[seat]),
    }));
    return strip(entries, this.clocks);
  }

  /**
   * Animates sliding penguins and sinking tiles, one move after another.
   * @param {View} before @param {View} view
   */
  animateFrom(before, view) {
    const known =
      before.board.length === view.board.length && before.players.length === view.players.length;
    if (!known) return;
    for (const { seat, number, from, to } of moved(before, view)) {
      const wait = this.queued();
      const bird = this.querySelector(`[data-key="penguin-${seat}-${number}"] .bird`);
      const start = this.field.middle(from ?? to);
      const end = this.field.middle(to);
      const frames = from
        ? [
            { transform: `translate(${start.x - end.x}px, ${start.y - end.y}px)` },
            { transform: "none" },
          ]
        : [
            { transform: "translateY(-40px)", opacity: 0 },
            { transform: "none", opacity: 1 },
          ];
      move(bird, frames, from ? 450 : 300, wait);
      if (from) this.sink(from, before.board[from[0]][from[1]], wait);
    }
  }

  /** @param {Position} at @param {number} fish @param {number} wait */
  sink(at, fish, wait) {
    const polygon = svg("polygon", { points: this.field.corners(SIDE - 2) });
    const ghost = svg("g", { class: `tile sinking fish-${fish}` }, polygon);
    const hole = this.querySelector(`[data-key="tile-${at}"]`);
    const sinking = move(
      polygon,
      [
        { transform: "none", opacity: 1 },
        { transform: "translateY(10px) scale(0.55)", opacity: 0 },
      ],
      700,
      wait + 200,
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
 * The penguins that were placed or moved between two views, in the order of the moves.
 * @param {View} before @param {View} view
 */
function moved(before, view) {
  const all = view.players.flatMap((player, seat) =>
    player.places.flatMap((to, number) => {
      const from = before.players[seat].places[number] ?? null;
      return from && same(from, to) ? [] : [{ seat, number, from, to }];
    }),
  );
  const since = (/** @type {Position} */ to) => view.since.findIndex(([, end]) => same(end, to));
  // The seat that was to move first comes first.
  const players = view.players.length;
  const turn = (/** @type {number} */ seat) => (seat - (before.turn ?? 0) + players) % players;
  return all.sort((a, b) => since(a.to) - since(b.to) || turn(a.seat) - turn(b.seat));
}

/**
 * The symbol of a player.
 * @param {string} color
 */
const flag = (color) =>
  h("span", { class: `flag ${color}`, "aria-hidden": "true" }, LETTERS[color]);

/** @param {string} color */
const bird = (color) =>
  svg(
    "g",
    { class: "bird" },
    svg("ellipse", { class: "ring", cy: 3, rx: 27, ry: 29 }),
    svg("path", { class: "feet", d: "M-11 23l-5 5h13zM11 23l5 5H3z" }),
    svg("path", { class: "body", d: BODY }),
    svg("ellipse", { class: "belly", cy: 8, rx: 9.5, ry: 14 }),
    svg("path", { class: "beak", d: "M-4-12h8l-4 6z" }),
    svg("circle", { class: "eye", cx: -4.5, cy: -17, r: 2.4 }),
    svg("circle", { class: "eye", cx: 4.5, cy: -17, r: 2.4 }),
    svg("text", { class: "letter", y: 14 }, LETTERS[color]),
  );

customElements.define("agon-fish", FishBoard);
