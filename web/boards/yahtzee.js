// Yahtzee: the dice of each player, and both cards.

import { h, render, svg } from "../lib/dom.js";
import { LOWER, UPPER, open, worth } from "../rules/yahtzee.js";
import { options } from "../play/options.js";
import { Board, move } from "./board.js";
import { badge, strip } from "./strip.js";

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

/** The names of boxes where there is little room. */
const BRIEF = /** @type {Record<string, string>} */ ({
  "three-of-a-kind": "3 of a kind",
  "four-of-a-kind": "4 of a kind",
  "small-straight": "Sm. straight",
  "large-straight": "Lg. straight",
});

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
    this.kept = [];
  }

  /** Dice that were kept in the previous roll stay selected. */
  forget() {
    const { view, seat, question } = this.now ?? {};
    const rolled = question?.ask === "keep" && seat !== undefined ? view.now[seat] : null;
    this.kept = [...(rolled?.kept.at(-1) ?? [false, false, false, false, false])];
  }

  asked() {
    return /** @type {{ ask: string, roll?: number, dice: number[] } | undefined} */ (
      this.now?.question
    );
  }

  first() {
    const [roll, box] = ["button.roll", "button.box"].map((one) => this.querySelector(one));
    return /** @type {HTMLElement | null} */ (roll ?? box);
  }

  /**
   * Number keys select dice, R rolls.
   * @param {string} key @param {boolean} free
   */
  key(key, free) {
    if (this.asked()?.ask !== "keep") return false;
    if (key.length === 1 && "12345".includes(key)) this.toggle(Number(key) - 1);
    else if (key === "r" || key === "R" || (key === "Enter" && free)) this.roll();
    else return false;
    return true;
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
    const seats = view.cards.map((_, seat) => seat);
    // The dice of the person come first.
    const own = now.seat ?? 0;
    const trays = seats.map((seat) => this.tray(now, seat, over));
    render(
      this,
      this.players(now),
      trays[own],
      this.card(now),
      trays.filter((_, seat) => seat !== own),
    );
    if (before && before !== now) this.tumble(view, before.view);
  }

  /** @param {import("./board.js").Shown} now */
  players(now) {
    const view = /** @type {View} */ (now.view);
    const entries = view.cards.map((card, seat) => ({
      sign: badge(seat),
      name: now.names[seat],
      score: card.total,
      unit: "points",
      turn: !now.over && view.unfinished.includes(seat) && !view.now[seat]?.scored,
      tag: view.removed.includes(seat) ? "out" : "",
      winner: now.result?.winners.includes(now.names[seat]),
    }));
    return strip(entries, this.clocks);
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
    const role = now.seat === undefined ? "watched" : seat === now.seat ? "own" : "other";
    const row = dice
      ? this.dice(dice, asked?.ask === "keep", past)
      : h("div", { class: "dice none" }, h("span", {}, "?"));
    return h(
      "section",
      {
        class: `tray ${role} seat-${seat + 1}${asked ? " asked" : ""}`,
        "data-key": `tray-${seat}`,
        "aria-label": now.names[seat],
      },
      h("h3", {}, badge(seat), h("bdi", { class: "name" }, now.names[seat])),
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
    if (asked.ask === "score")
      return (
        this.confirmation() ??
        h(
          "p",
          { class: "order" },
          "Choose a box on your score card.",
          h("span", { class: "soft small keys" }, " Keys: arrows and Enter."),
        )
      );
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
      h(
        "button",
        { type: "button", class: "roll", "data-key": "roll", onclick: () => this.roll() },
        words,
      ),
      h(
        "span",
        { class: "soft small" },
        `Roll ${asked.roll ?? 1} of 3.`,
        h("span", { class: "more" }, " Choose the dice to keep."),
        h("span", { class: "keys" }, " Keys: 1 to 5, R to roll."),
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
    const dice = now.seat !== undefined ? (asked?.dice ?? null) : null;
    const scoring = asked?.ask === "score";
    const seats = view.cards.map((_, seat) => seat);
    const allowed =
      dice && now.seat !== undefined ? open(view.cards[now.seat].boxes, dice, view.rule) : [];
    const row = (/** @type {string} */ box) => {
      const cells = seats.map((seat) => {
        const points = view.cards[seat].boxes[box];
        const open = dice && seat === now.seat && allowed.includes(box);
        if (open && scoring) return this.choice(view, seat, box, dice);
        if (open && options().hints) return hint(view, seat, box, dice);
        const fresh =
          view.history.at(-1)?.[seat].scored?.box === box || view.now[seat]?.scored?.box === box;
        return h(
          "td",
          { class: fresh ? "number fresh" : "number" },
          points ?? h("span", { class: "soft" }, "–"),
        );
      });
      return h("tr", { "data-key": box }, label(boxName(box), BRIEF[box]), cells);
    };
    const sum = (
      /** @type {string} */ words,
      /** @type {string} */ brief,
      /** @type {(card: View["cards"][0]) => any} */ of,
      name = "sum",
    ) =>
      h(
        "tr",
        { class: name, "data-key": words },
        label(words, brief),
        view.cards.map((card) => h("td", { class: "number" }, of(card))),
      );
    const head = (/** @type {string} */ words, /** @type {string} */ brief) =>
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          label(words, brief, "col"),
          seats.map((seat) =>
            h(
              "th",
              { scope: "col", class: "number" },
              h("span", { class: `badge seat-${seat + 1}` }, seat + 1),
              " ",
              h("bdi", { class: "who", title: now.names[seat] }, now.names[seat].replace(/^house:/, "")),
            ),
          ),
        ),
      );
    const half = (
      /** @type {string} */ name,
      /** @type {HTMLElement} */ head,
      /** @type {Node[]} */ ...rows
    ) => h("table", { class: "cards", "data-key": name }, head, h("tbody", {}, rows));
    const turn = Math.min(view.turn, 13);
    return h(
      "div",
      { class: "halves-of-card", "data-key": "cards", role: "group", "aria-label": "Score cards" },
      half(
        "upper",
        head(`Turn ${turn} of 13`, `Turn ${turn}`),
        ...UPPER.map(row),
        sum("Upper section", "Upper", (card) => card.upper),
        sum("Bonus (35 from 63)", "Bonus", (card) => card.upper_bonus),
      ),
      half(
        "lower",
        head("Lower section", "Lower"),
        ...LOWER.map(row),
        sum("Yahtzee bonuses", "Bonuses", (card) => card.yahtzee_bonuses * 100),
        sum("Total", "Total", (card) => h("strong", {}, card.total), "total"),
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
    const answer = { score: box };
    const button = h(
      "button",
      {
        type: "button",
        class: "plain box",
        "data-key": `box-${box}`,
        "data-box": box,
        "aria-label": label,
        "aria-pressed": String(this.isPending(answer)),
        onclick: () => this.choose(answer, `${label}?`),
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
 * The head of a row, with a brief name for narrow boards.
 * @param {string} words @param {string} [brief] @param {string} [scope]
 */
const label = (words, brief, scope = "row") =>
  h(
    "th",
    { scope },
    brief
      ? [h("span", { class: "in-full" }, words), h("span", { class: "brief" }, brief)]
      : words,
  );

/**
 * The points that a box would give for the dice as they are.
 * @param {View} view @param {number} seat @param {string} box @param {number[]} dice
 */
function hint(view, seat, box, dice) {
  const { points, bonus } = worth(view.cards[seat].boxes, dice, box, view.rule);
  const words = `would give ${points}${bonus ? " and a bonus of 100" : ""} now`;
  return h(
    "td",
    { class: "number" },
    h("span", { class: "hint", title: words }, `(${points + bonus})`),
    h("span", { class: "hidden" }, ` ${words}`),
  );
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
