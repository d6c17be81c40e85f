// Trains: the map, who holds which connection, and what each player has left.

import { h, render, svg } from "../lib/dom.js";
import { counted } from "../lib/words.js";
import { COLORS, acquirable, connections, joins, key, longest } from "../rules/trains.js";
import { Board, move } from "./board.js";
import { badge, strip } from "./strip.js";

/**
 * @typedef {import("../rules/trains.js").View} View
 * @typedef {import("../rules/trains.js").Connection} Connection
 * @typedef {import("../rules/trains.js").Pair} Pair
 * @typedef {import("./board.js").Shown} Shown
 */

/** Room around the cities, for their names. */
const MARGIN = 46;
/** How far parallel connections lie apart, and how far they keep from cities. */
const APART = 15;
const CLEAR = 13;

/** @param {Connection} connection */
const inWords = ([from, to, color, length]) => `${from} – ${to}, ${color}, ${length}`;

/**
 * Where each connection lies: parallel ones side by side.
 * @param {View["map"]} map
 */
function layout(map) {
  const cities = new Map(map.cities);
  const all = connections(map);
  const beside = (/** @type {Connection} */ [from, to]) =>
    all.filter((other) => other[0] === from && other[1] === to);
  return all.map((connection) => {
    const twins = beside(connection);
    const shift = (twins.indexOf(connection) - (twins.length - 1) / 2) * APART;
    const [from, to] = [cities.get(connection[0]) ?? [0, 0], cities.get(connection[1]) ?? [0, 0]];
    const [dx, dy] = [to[0] - from[0], to[1] - from[1]];
    const length = Math.hypot(dx, dy) || 1;
    const [ux, uy] = [dx / length, dy / length];
    const clear = Math.min(CLEAR, length / 4);
    const start = [from[0] + ux * clear - uy * shift, from[1] + uy * clear + ux * shift];
    return { connection, start, ux, uy, length: length - 2 * clear };
  });
}

/** @typedef {ReturnType<typeof layout>[0]} Way */

class TrainsBoard extends Board {
  constructor() {
    super();
    /**
     * The destinations selected to keep.
     * @type {Set<string>}
     */
    this.keeping = new Set();
    /**
     * The connection under the pointer.
     * @type {string | null}
     */
    this.pointed = null;
    this.sizes = new ResizeObserver(() => this.fit());
  }

  connectedCallback() {
    super.connectedCallback();
    this.sizes.observe(this);
  }

  disconnectedCallback() {
    super.disconnectedCallback();
    this.sizes.disconnect();
  }

  /** Keeps names readable and connections easy to hit, however small the map is drawn. */
  fit() {
    const map = /** @type {SVGSVGElement | null} */ (this.querySelector(".map"));
    if (!map?.clientWidth) return;
    const { width, height } = map.viewBox.baseVal;
    const scale = Math.min(map.clientWidth / width, map.clientHeight / height);
    map.style.setProperty("--pixel", `${(1 / scale).toFixed(3)}px`);
    placeNames(map, /** @type {View} */ (this.now?.view).map.cities);
  }

  first() {
    const [goal, cards] = [".goal-choice", "button.cards"].map((one) => this.querySelector(one));
    return /** @type {HTMLElement | null} */ (goal ?? cards);
  }

  /**
   * C takes cards; number keys select destinations.
   * @param {string} key
   */
  key(key) {
    const ask = this.now?.question?.ask;
    if (ask === "play" && key.toLowerCase() === "c") this.drawCards();
    else if (ask === "pick" && /^[1-9]$/.test(key)) {
      const pair = this.now?.question.destinations[Number(key) - 1];
      if (pair) this.toggle(String(pair));
    } else return false;
    return true;
  }

  /**
   * Selects a destination, or deselects it.
   * @param {string} name
   */
  toggle(name) {
    if (!this.keeping.delete(name) && this.keeping.size < 2) this.keeping.add(name);
    this.again();
  }

  forget() {
    this.keeping.clear();
    this.pointed = null;
  }

  /** @param {Shown} now @param {Shown | null} before */
  draw(now, before) {
    const view = /** @type {View} */ (now.view);
    const playing = now.question?.ask === "play" && now.seat !== undefined;
    const open = playing && now.seat !== undefined ? acquirable(view, now.seat) : [];
    render(
      this,
      this.players(now),
      this.map(now, open),
      this.beside(now, open),
      this.details(now),
      now.seat === undefined ? this.legend() : null,
    );
    this.fit();
    if (before && before !== now) this.lay(view, /** @type {View} */ (before.view));
  }

  /** @param {Shown} now @param {Connection[]} open */
  map(now, open) {
    const view = /** @type {View} */ (now.view);
    const holders = new Map(
      view.players.flatMap((player, seat) => player.acquired.map((held) => [key(held), seat])),
    );
    const allowed = new Set(open.map(key));
    const mine = new Set(
      now.seat === undefined ? [] : (view.players[now.seat].destinations ?? []).flat(),
    );
    const ways = layout(view.map).map((way) =>
      this.way(way, holders.get(key(way.connection)), allowed.has(key(way.connection))),
    );
    const size = view.map.cities.length > 60 ? "many" : "";
    const cities = view.map.cities.map(([name, [x, y]]) => city(name, x, y, mine.has(name)));
    const held = view.players
      .map((player, seat) => `${now.names[seat]} ${player.acquired.length}`)
      .join(", ");
    const map = svg(
      "svg",
      {
        class: `map ${size}`,
        viewBox: around(view.map),
        role: "img",
        "aria-label": `Map of ${view.map.cities.length} cities. Tracks held: ${held}`,
      },
      ways,
      cities,
    );
    return h("div", { class: "land", "data-key": "map" }, map);
  }

  /** @param {Way} way @param {number | undefined} holder @param {boolean} open */
  way({ connection, start, ux, uy, length }, holder, open) {
    const [, , color, count] = connection;
    const gap = 3.5;
    const piece = length / count;
    const at = (/** @type {number} */ far) =>
      `${(start[0] + ux * far).toFixed(1)} ${(start[1] + uy * far).toFixed(1)}`;
    const rails = Array.from(
      { length: count },
      (_, n) => `M${at(n * piece + gap / 2)}L${at((n + 1) * piece - gap / 2)}`,
    ).join("");
    const [x, y] = [start[0] + (ux * length) / 2, start[1] + (uy * length) / 2];
    const name = key(connection);
    const classes = [
      "way",
      color,
      holder === undefined ? "" : `held seat-${holder + 1}`,
      open ? "open" : "",
      this.pointed === name || this.isPending({ acquire: connection }) ? "pointed" : "",
    ];
    const mark = holder === undefined ? color[0].toUpperCase() : holder + 1;
    return svg(
      "g",
      {
        class: classes.join(" "),
        "data-key": name,
        onclick: open ? () => this.buy(connection) : null,
      },
      svg(
        "title",
        {},
        inWords(connection) + (holder === undefined ? "" : `, held by player ${holder + 1}`),
      ),
      open ? svg("path", { class: "touch", d: `M${at(0)}L${at(length)}` }) : null,
      svg("path", { class: "bed", d: rails }),
      svg("path", { class: "rail", d: rails }),
      holder === undefined ? null : svg("path", { class: "pattern", d: `M${at(0)}L${at(length)}` }),
      svg("circle", { class: "spot", cx: x, cy: y, r: 8.5 }),
      svg("text", { class: "mark", x, y: y + 4.2 }, mark),
    );
  }

  /** @param {Connection} connection */
  buy(connection) {
    const [from, to, color, length] = connection;
    this.choose({ acquire: connection }, `Take ${from} – ${to} for ${counted(length, `${color} card`)}?`);
  }

  /** Chooses to draw cards in place of taking a track. */
  drawCards() {
    const deck = /** @type {View} */ (this.now?.view).deck;
    this.choose("more-cards", deck < 2 ? "Pass? The deck is empty." : "Draw two cards?");
  }

  /**
   * Draws the panel beside the map: the hand, the destinations and the choices.
   * @param {Shown} now @param {Connection[]} open
   */
  beside(now, open) {
    if (now.seat === undefined) return null;
    const own = /** @type {View} */ (now.view).players[now.seat];
    return h(
      "div",
      { class: "beside", "data-key": "beside" },
      own.hand ? hand(own.hand) : null,
      own.destinations ? goals(own.acquired, own.destinations) : null,
      this.confirmation() ?? this.order(now, open),
      this.offers(now, open),
    );
  }

  /**
   * The connections that the person may buy, as a list: it needs no map.
   * @param {Shown} now @param {Connection[]} open
   */
  offers(now, open) {
    if (now.question?.ask !== "play") return null;
    const one = (/** @type {Connection} */ connection) => {
      const point = (/** @type {boolean} */ on) => () => this.point(on ? key(connection) : null);
      const button = h(
        "button",
        {
          type: "button",
          class: "plain way-choice",
          "data-key": `choice-${key(connection)}`,
          "aria-pressed": String(this.isPending({ acquire: connection })),
          onclick: () => this.buy(connection),
        },
        swatch(connection[2]),
        `${connection[0]} – ${connection[1]} (${connection[3]})`,
      );
      button.onmouseenter = button.onfocus = point(true);
      button.onmouseleave = button.onblur = point(false);
      return button;
    };
    return h(
      "div",
      { class: "choices", "data-key": "offers", role: "group", "aria-label": "Tracks" },
      open.map(one),
    );
  }

  /** @param {Shown} now @param {Connection[]} open */
  order(now, open) {
    const { question } = now;
    if (question?.ask === "pick") return this.picking(now, question.destinations);
    if (question?.ask !== "play") return null;
    const deck = /** @type {View} */ (now.view).deck;
    return h(
      "div",
      { class: "order", "data-key": "order" },
      h(
        "p",
        {},
        open.length ? "Draw cards, or take a track." : "You cannot pay for a track yet.",
        h("span", { class: "soft small keys" }, " Keys: C, arrows, Enter."),
      ),
      h(
        "button",
        {
          type: "button",
          class: "cards",
          "data-key": "cards",
          onclick: () => this.drawCards(),
        },
        deck < 2 ? "Pass (the deck is empty)" : "Draw two cards",
      ),
    );
  }

  /** @param {string | null} name */
  point(name) {
    this.pointed = name;
    for (const way of this.querySelectorAll(".way"))
      way.classList.toggle("pointed", way.getAttribute("data-key") === name);
  }

  /** @param {Shown} now @param {Pair[]} pairs */
  picking(now, pairs) {
    const view = /** @type {View} */ (now.view);
    const one = (/** @type {Pair} */ pair) => {
      const name = String(pair);
      const change = () => this.toggle(name);
      const full = this.keeping.size === 2 && !this.keeping.has(name);
      const kept = this.keeping.has(name);
      return h(
        "button",
        {
          type: "button",
          class: "plain goal-choice",
          "data-key": name,
          "aria-pressed": String(kept),
          disabled: full,
          onclick: change,
        },
        h("span", { "aria-hidden": "true" }, kept ? "✓" : "○"),
        `${pair[0]} – ${pair[1]}`,
        h("span", { class: "soft small" }, `${distance(view.map, pair)}+ rails`),
      );
    };
    const back = pairs.filter((pair) => !this.keeping.has(String(pair)));
    return h(
      "div",
      { class: "order", "data-key": "pick" },
      h(
        "p",
        {},
        "Keep two destinations. Each gives 10 points if you connect its cities, or costs 10.",
        h("span", { class: "soft small keys" }, " Keys: numbers, arrows, Enter."),
      ),
      h(
        "div",
        { class: "goals-offered", role: "group", "aria-label": "Destinations" },
        pairs.map(one),
      ),
      h(
        "button",
        {
          type: "button",
          class: "keep",
          "data-key": "keep",
          disabled: this.keeping.size !== 2,
          onclick: () => this.answer({ return: back }),
        },
        `Keep ${this.keeping.size} of 2`,
      ),
    );
  }

  legend() {
    const one = (/** @type {string} */ color) => h("span", {}, swatch(color), ` ${color}`);
    return h(
      "p",
      { class: "legend soft small", "data-key": "legend" },
      COLORS.map(one),
      h("span", {}, "a number in the middle: held by that player"),
    );
  }

  /** @param {Shown} now */
  players(now) {
    const view = /** @type {View} */ (now.view);
    const entries = view.players.map((player, seat) => ({
      sign: badge(seat),
      name: now.names[seat],
      score: now.result
        ? now.result.scores[seat]
        : player.acquired.reduce((sum, held) => sum + held[3], 0),
      unit: now.result ? "points" : "segments",
      turn: !now.over && view.turn === seat,
      tag: player.out ? "out" : view.last_turns?.includes(seat) ? "last turn" : "",
      winner: now.result?.winners.includes(now.names[seat]),
    }));
    return strip(entries, this.clocks);
  }

  /**
   * Draws what each player has left, and the cards that are visible.
   * @param {Shown} now
   */
  details(now) {
    const view = /** @type {View} */ (now.view);
    const one = (/** @type {View["players"][0]} */ player, /** @type {number} */ seat) =>
      h(
        "li",
        { "data-key": `details-${seat}` },
        badge(seat),
        h(
          "span",
          { class: "small soft" },
          h("bdi", { class: "hidden" }, `${now.names[seat]}: `),
          `${counted(player.rails, "rail")} · ${counted(player.cards, "card")} · `,
          `longest path ${longest(player.acquired)}`,
        ),
        seat !== now.seat && player.hand ? hand(player.hand) : null,
        seat !== now.seat && player.destinations
          ? goals(player.acquired, player.destinations)
          : null,
      );
    return h(
      "ul",
      { class: "details", "data-key": "details" },
      view.players.map(one),
      h("li", { class: "deck soft small", "data-key": "deck" }, `${counted(view.deck, "card")} in the deck`),
    );
  }

  /**
   * Animates new connections, one after another.
   * @param {View} view @param {View} before
   */
  lay(view, before) {
    const old = before.history?.length ?? 0;
    const fresh = view.history.slice(old).flatMap(({ did }) => (did.acquired ? [did.acquired] : []));
    for (const connection of fresh.slice(-8)) {
      const way = [...this.querySelectorAll(".way")].find(
        (one) => one.getAttribute("data-key") === key(connection),
      );
      const wait = this.queued();
      move(
        way?.querySelector(".rail") ?? null,
        [{ strokeWidth: "0px", opacity: 0.2 }, { strokeWidth: "16px", opacity: 1 }, {}],
        700,
        wait,
      );
      move(way?.querySelector(".spot") ?? null, [{ r: "2px" }, { r: "15px" }, {}], 700, wait);
    }
  }
}

/** @param {import("../rules/trains.js").Hand} cards */
const hand = (cards) =>
  h(
    "p",
    { class: "hand", "aria-label": "Cards", role: "group" },
    COLORS.map((color) =>
      h(
        "span",
        {},
        swatch(color),
        h("span", { class: "hidden" }, `${color}: `),
        cards[color] ?? 0,
      ),
    ),
  );

/** @param {Connection[]} own @param {Pair[]} pairs */
const goals = (own, pairs) =>
  h("ul", { class: "goals small", "aria-label": "Destinations" }, pairs.map((pair) => goal(own, pair)));

/** @param {string} color */
const swatch = (color) =>
  h("span", { class: `swatch ${color}`, "aria-hidden": "true" }, color[0].toUpperCase());

/** @param {Connection[]} own @param {Pair} pair */
function goal(own, pair) {
  const done = joins(own, pair);
  return h(
    "li",
    { class: done ? "done" : "" },
    done ? "✓ " : "○ ",
    `${pair[0]} – ${pair[1]}`,
    h("span", { class: "hidden" }, done ? ", joined" : ", not joined"),
  );
}

/** @param {string} name @param {number} x @param {number} y @param {boolean} mine */
function city(name, x, y, mine) {
  return svg(
    "g",
    {
      class: mine ? "city mine" : "city",
      "data-key": `city-${name}`,
      transform: `translate(${x} ${y})`,
    },
    mine ? svg("circle", { class: "goal", r: 13 }) : null,
    svg("circle", { r: 7 }),
    svg("text", { "text-anchor": "middle" }, name),
  );
}

/** How far the name of a city is from its middle. */
const NAME_AWAY = 13;

/** @typedef {{ left: number, top: number, right: number, bottom: number }} Box */

/**
 * The area that two boxes share.
 * @param {Box} one @param {Box} other
 */
function overlap(one, other) {
  const wide = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const high = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return wide > 0 && high > 0 ? wide * high : 0;
}

/**
 * Puts the name of every city where it covers least of other names and cities: above it if possible,
 * else below it, beside it, or at one of its corners.
 * @param {SVGSVGElement} map @param {View["map"]["cities"]} cities
 */
function placeNames(map, cities) {
  const { x: left, y: top, width, height } = map.viewBox.baseVal;
  const middles = cities.map(([, [x, y]]) => ({
    left: x - 8,
    top: y - 8,
    right: x + 8,
    bottom: y + 8,
  }));
  /** @type {Box[]} */
  const taken = [];
  const texts = /** @type {NodeListOf<SVGTextElement>} */ (map.querySelectorAll(".city text"));
  texts.forEach((text, at) => {
    const size = text.getBBox();
    const [, [x, y]] = cities[at];
    const [half, line] = [size.width / 2, size.height];
    const ways = [
      [0, -1],
      [0, 1],
      [1, 0],
      [-1, 0],
      [1, -1],
      [-1, -1],
      [1, 1],
      [-1, 1],
    ];
    let best = { worst: Infinity, x: 0, y: 0, box: middles[at] };
    ways.forEach(([aside, down], order) => {
      const reach = aside && down ? NAME_AWAY * 0.4 : NAME_AWAY;
      const [cx, cy] = [x + aside * (half + reach), y + down * (line / 2 + reach - 3)];
      const box = { left: cx - half, top: cy - line / 2, right: cx + half, bottom: cy + line / 2 };
      const outside =
        Math.max(0, left - box.left) +
        Math.max(0, box.right - left - width) +
        Math.max(0, top - box.top) +
        Math.max(0, box.bottom - top - height);
      const covered =
        taken.reduce((sum, other) => sum + overlap(box, other), 0) +
        middles.reduce((sum, other, index) => sum + (index === at ? 0 : overlap(box, other)), 0);
      const worst = 4 * covered + 50 * outside + order;
      if (worst < best.worst) best = { worst, x: cx - x, y: cy - y, box };
    });
    taken.push(best.box);
    text.setAttribute("x", best.x.toFixed(1));
    text.setAttribute("y", (best.y + line * 0.3).toFixed(1));
  });
}

/**
 * The part of the map where cities are, as a view box.
 * @param {View["map"]} map
 */
function around(map) {
  const [xs, ys] = [map.cities.map(([, [x]]) => x), map.cities.map(([, [, y]]) => y)];
  const [left, top] = [Math.min(...xs) - MARGIN, Math.min(...ys) - MARGIN];
  return [left, top, Math.max(...xs) + MARGIN - left, Math.max(...ys) + MARGIN / 2 - top].join(" ");
}

/**
 * The fewest segments between two cities.
 * @param {View["map"]} map @param {Pair} pair
 */
function distance(map, [from, to]) {
  const all = connections(map);
  const far = new Map([[from, 0]]);
  const todo = new Set([from]);
  while (todo.size) {
    const city = [...todo].reduce((best, other) =>
      (far.get(other) ?? 0) < (far.get(best) ?? 0) ? other : best,
    );
    todo.delete(city);
    for (const [a, b, , length] of all) {
      const other = a === city ? b : b === city ? a : null;
      const sum = (far.get(city) ?? 0) + length;
      if (other === null || sum >= (far.get(other) ?? Infinity)) continue;
      far.set(other, sum);
      todo.add(other);
    }
  }
  return far.get(to) ?? 0;
}

customElements.define("agon-trains", TrainsBoard);
