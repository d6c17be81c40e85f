// Yahtzee: the dice of each player, and both cards.

import { h, render, svg } from "../lib/dom.js";
import { LOWER, UPPER, open, worth } from "../rules/yahtzee.js";
import { Board, move } from "./board.js";

/**
 * @typedef {import("../rules/yahtzee.js").View} View
 * @typedef {import("../rules/yahtzee.js").Play} Play
 */

const WORDS = /** @type {Record<string, string>} */ ({
  "three-of-a-kind": "Three of a kind",
  "four-of-a-kind": "Four of a kind",
  "full-house": "Full house",
  "small-straight": "Small straight",
  "large-straight": "Large straight",
});

/**
 * The display name of a box.
 * @param {string} box
 */
export const boxName = (box) => WORDS[box] ?? box[0].toUpperCase() + box.slice(1);

/** Where pips are, by what a die shows: places of a grid of three by three. */
const PIPS = [[], [4], [0, 8], [0, 4, 8], [0, 2, 6, 8], [0, 2, 4, 6, 8], [0, 2, 3, 5, 6, 8]];

/** @param {number} value */
function face(value) {
  const pips = PIPS[value].map((place) => {
    return svg("circle", {
      cx: 13 + 17 * (place % 3),
      cy: 13 + 17 * Math.floor(place / 3),
      r: 5.2,
      class: "pip",
    });
  });
  return svg(
    "svg",
    { viewBox: "0 0 60 60", "aria-hidden": "true" },
    svg("rect", { x: 1.5, y: 1.5, width: 57, height: 57, rx: 12, class: "side" }),
    pips,
  );
}

class YahtzeeBoard extends Board {
  constructor() {
    super();
    /**
     * The places selected to keep.
     * @type {boolean[]}
     */
    this.kept = [false, false, false, false, false];
    this.addEventListener("keydown", (event) => this.key(event));
  }

  forget() {
    this.kept = [false, false, false, false, false];
  }

  asked() {
    return /** @type {{ ask: string, roll?: number, dice: number[] } | undefined} */ (
      this.now?.question
    );
  }

  /**
   * Number keys select dice, R rolls.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (this.asked()?.ask !== "keep" || event.ctrlKey || event.metaKey || event.altKey) return;
    if ("12345".includes(event.key)) this.toggle(Number(event.key) - 1);
    else if (event.key === "r") this.roll();
    else return;
    event.preventDefault();
  }

  /** @param {number} place */
  toggle(place) {
    this.kept[place] = !this.kept[place];
    this.again();
  }

  roll() {
    this.answer({ keep: [...this.kept] });
  }

  /** @param {import("./board.js").Shown} now @param {import("./board.js").Shown | null} before */
  draw(now, before) {
    const view = /** @type {View} */ (now.view);
    const over = view.unfinished.length === 0;
    const trays = view.cards.map((_, seat) => this.tray(now, seat, over));
    render(this, h("div", { class: "trays" }, trays), this.card(now));
    if (before && before !== now) this.tumble(view, before.view);
  }

  /**
   * The dice of a player.
   * @param {import("./board.js").Shown} now @param {number} seat @param {boolean} over
   */
  tray(now, seat, over) {
    const view = /** @type {View} */ (now.view);
    const asked = seat === now.seat ? this.asked() : undefined;
    const last = view.history.at(-1)?.[seat];
    // The last scored turn stays visible until there is something new.
    const play = view.now[seat] ?? last ?? null;
    const past = play !== null && play === last;
    const dice = asked?.dice ?? play?.rolls.at(-1);
    const row = dice
      ? this.dice(dice, asked?.ask === "keep", past)
      : h("div", { class: "dice none" }, h("span", {}, "?"));
    return h(
      "section",
      {
        class: `tray seat-${seat + 1}${asked ? " asked" : ""}`,
        "data-key": `tray-${seat}`,
        "aria-label": now.names[seat],
      },
      h("h3", {}, h("span", { class: "badge" }, seat + 1), now.names[seat]),
      row,
      play && !asked ? rolls(play) : null,
      asked
        ? this.orders(asked)
        : h("p", { class: "soft small" }, said(view, seat, play, past, over)),
    );
  }

  /** @param {number[]} dice @param {boolean} choose @param {boolean} past */
  dice(dice, choose, past) {
    const one = (/** @type {number} */ value, /** @type {number} */ place) => {
      if (!choose)
        return h(
          "span",
          { class: "die", role: "img", "aria-label": value, "data-key": `die-${place}` },
          face(value),
        );
      const kept = this.kept[place];
      const label = `Die ${place + 1}: ${value}, ${kept ? "kept" : "rolled again"}`;
      return h(
        "button",
        {
          type: "button",
          class: "die",
          "aria-pressed": String(kept),
          "aria-label": label,
          "data-key": `pick-${place}`,
          onclick: () => this.toggle(place),
        },
        face(value),
        h("span", { class: "kept", "aria-hidden": "true" }, kept ? "keep" : ""),
      );
    };
    return h(
      "div",
      { class: past ? "dice past" : "dice", role: "group", "aria-label": "Dice" },
      dice.map(one),
    );
  }

  /** @param {{ ask: string, roll?: number }} asked */
  orders(asked) {
    if (asked.ask === "score") return h("p", { class: "order" }, "Choose a box on your score card.");
    const again = this.kept.filter((kept) => !kept).length;
    const words =
      again === 0
        ? "Keep all and score"
        : again === 5
          ? "Roll all five again"
          : `Roll ${again} again`;
    return h(
      "div",
      { class: "order row" },
      h("button", { type: "button", class: "roll", onclick: () => this.roll() }, words),
      h(
        "span",
        { class: "soft small" },
        `Roll ${asked.roll ?? 1} of 3. Choose the dice to keep. Keys: 1 to 5, R to roll.`,
      ),
    );
  }

  /**
   * Both cards.
   * @param {import("./board.js").Shown} now
   */
  card(now) {
    const view = /** @type {View} */ (now.view);
    const asked = this.asked();
    const dice = asked?.ask === "score" && now.seat !== undefined ? asked.dice : null;
    const seats = view.cards.map((_, seat) => seat);
    const allowed =
      dice && now.seat !== undefined ? open(view.cards[now.seat].boxes, dice, view.rule) : [];
    const row = (/** @type {string} */ box) => {
      const cells = seats.map((seat) => {
        const points = view.cards[seat].boxes[box];
        if (dice && seat === now.seat && allowed.includes(box))
          return this.choice(view, seat, box, dice);
        const fresh =
          view.history.at(-1)?.[seat].scored?.box === box || view.now[seat]?.scored?.box === box;
        return h(
          "td",
          { class: fresh ? "number fresh" : "number" },
          points ?? h("span", { class: "soft" }, "–"),
        );
      });
      return h("tr", { "data-key": box }, h("th", { scope: "row" }, boxName(box)), cells);
    };
    const sum = (
      /** @type {string} */ words,
      /** @type {(card: View["cards"][0]) => any} */ of,
      name = "sum",
    ) =>
      h(
        "tr",
        { class: name, "data-key": words },
        h("th", { scope: "row" }, words),
        view.cards.map((card) => h("td", { class: "number" }, of(card))),
      );
    return h(
      "div",
      {
        class: "wide",
        "data-key": "cards",
        role: "region",
        "aria-label": "Score cards",
        tabindex: "0",
      },
      h(
        "table",
        { class: "cards" },
        h(
          "thead",
          {},
          h(
            "tr",
            {},
            h("th", { scope: "col" }, `Turn ${Math.min(view.turn, 13)} of 13`),
            seats.map((seat) =>
              h(
                "th",
                { scope: "col", class: "number" },
                h("span", { class: `badge seat-${seat + 1}` }, seat + 1),
                " ",
                h("span", { class: "who" }, now.names[seat]),
              ),
            ),
          ),
        ),
        h(
          "tbody",
          {},
          UPPER.map(row),
          sum("Bonus (from 63 points)", (card) => `${card.upper} → ${card.upper_bonus}`),
          LOWER.map(row),
          sum("Yahtzee bonuses", (card) => card.yahtzee_bonuses * 100),
          sum("Total", (card) => h("strong", {}, card.total), "total"),
        ),
      ),
    );
  }

  /**
   * A box that may be chosen.
   * @param {View} view @param {number} seat @param {string} box @param {number[]} dice
   */
  choice(view, seat, box, dice) {
    const { points, bonus } = worth(view.cards[seat].boxes, dice, box, view.rule);
    const label = `${boxName(box)}: ${points} points${bonus ? " and a bonus of 100" : ""}`;
    const button = h(
      "button",
      {
        type: "button",
        class: "plain box",
        "data-box": box,
        "aria-label": label,
        onclick: () => this.answer({ score: box }),
      },
      bonus ? `${points} + 100` : points,
    );
    return h("td", { class: "number" }, button);
  }

  /**
   * Animates rolled dice.
   * @param {View} view @param {View} before
   */
  tumble(view, before) {
    view.cards.forEach((_, seat) => {
      const [now, old] = [latest(view, seat), latest(before, seat)];
      if (!now || (old && now.turn === old.turn && now.play.rolls.length === old.play.rolls.length))
        return;
      const kept = now.turn === old?.turn ? now.play.kept.at(-1) : null;
      this.querySelectorAll(`.tray.seat-${seat + 1} .die svg`).forEach((die, place) => {
        if (kept?.[place]) return;
        const turn = place % 2 ? 1 : -1;
        move(
          die,
          [
            { transform: `translateY(-1.5rem) rotate(${turn * 420}deg) scale(0.7)`, opacity: 0.3 },
            { transform: `translateY(0.25rem) rotate(${turn * 30}deg)`, opacity: 1, offset: 0.8 },
            { transform: "none" },
          ],
          520,
          place * 60,
        );
      });
    });
  }
}

/**
 * The visible turn of a player.
 * @param {View} view @param {number} seat
 */
function latest(view, seat) {
  const play = view.now[seat] ?? view.history.at(-1)?.[seat];
  return play ? { play, turn: view.now[seat] ? view.turn : view.turn - 1 } : null;
}

/**
 * The earlier rolls of the turn, with the dice that were kept.
 * @param {Play} play
 */
function rolls(play) {
  if (play.rolls.length < 2) return null;
  const one = (/** @type {number[]} */ dice, /** @type {number} */ at) => {
    const kept = play.kept[at] ?? [];
    const held = dice.filter((_, place) => kept[place]).join(" ");
    const words = `Roll ${at + 1}: ${dice.join(" ")}, kept ${held || "nothing"}`;
    return h(
      "li",
      {},
      h("span", { class: "hidden" }, words),
      h(
        "span",
        { "aria-hidden": "true" },
        dice.map((die, place) =>
          h("span", { class: kept[place] ? "small-die kept" : "small-die" }, die),
        ),
      ),
    );
  };
  return h(
    "ol",
    { class: "rolls", "aria-label": "Rolls before" },
    play.rolls.slice(0, -1).map(one),
  );
}

/**
 * The status text of a player.
 * @param {View} view
 * @param {number} seat
 * @param {Play | null} play
 * @param {boolean} past
 * @param {boolean} over
 */
function said(view, seat, play, past, over) {
  if (view.removed.includes(seat)) return "out of the game";
  const scored = play?.scored;
  const words = scored
    ? `${boxName(scored.box)}: ${scored.points}${scored.bonus ? ` + ${scored.bonus}` : ""}`
    : "";
  if (past)
    return over
      ? words
      : `Turn ${view.turn - 1}: ${words}. Turn ${view.turn} is hidden until both have scored.`;
  if (scored) return `${words}. Waits for the other.`;
  return play
    ? `Roll ${play.rolls.length} of 3`
    : `Turn ${view.turn} is hidden until both have scored.`;
}

customElements.define("agon-yahtzee", YahtzeeBoard);
