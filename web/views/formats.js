// Which format? Simulated tournaments between players of given strength: a plot of how often the
// best player wins against the number of games, and the same as a table.

import { get, session, sessions } from "../lib/api.js";
import { h, render, svg } from "../lib/dom.js";
import { complaint } from "../lib/show.js";

/** @typedef {{ value: number, low: number, high: number }} Estimate */
/**
 * @typedef {{ format: string, best_of: number, best_wins: Estimate, top_three: Estimate, games:
 *   Estimate, rounds: number, seconds: Estimate }} Simulated
 */
/** @typedef {{ simulated: Simulated[], recommended?: number }} Simulation */

const [WIDTH, HEIGHT, LEFT, BELOW] = [640, 300, 44, 30];

/** @param {Estimate} share */
const percent = ({ value, low, high }) =>
  `${(value * 100).toFixed(1)} (${(low * 100).toFixed(1)}–${(high * 100).toFixed(1)})`;

/**
 * An estimate with its interval, unless both bounds read the same.
 * @param {Estimate} estimate
 */
function ranged({ value, low, high }) {
  const [text, from, to] = [value, low, high].map((number) => number.toFixed(1));
  return from === to ? text : `${text} (${from}–${to})`;
}

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("Formats");
  let strengths = "150, 100, 50, 0, -50, -100, -150, -200";
  let [want, formats, seats, pairing] = ["80", "", "2", "random"];
  /** @type {Simulation | null} */
  let answer = null;
  /** @type {unknown} */
  let problem = null;
  let isBusy = false;

  async function simulate(/** @type {Event} */ event) {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.target));
    strengths = String(form.get("strengths"));
    [want, formats, seats, pairing] = ["want", "formats", "seats", "pairing"].map((name) =>
      String(form.get(name)),
    );
    [isBusy, problem] = [true, null];
    show();
    try {
      const query = new URLSearchParams({ strengths, want, formats, seats, pairing });
      // A match of more than two needs a game with so many seats.
      if (Number(seats) > 2) query.set("game", "fish");
      answer = await get(`/api/v1/formats/simulation?${query}`);
    } catch (wrong) {
      problem = wrong;
    }
    isBusy = false;
    show();
  }

  function show() {
    render(
      root,
      h("h1", {}, "Which format?"),
      h(
        "form",
        { class: "card", onsubmit: simulate },
        h(
          "label",
          {},
          "Strengths of the players in Elo, or a rating list: a line with player,rating for each",
          h("textarea", { name: "strengths", rows: 2, required: true }, strengths),
        ),
        h(
          "label",
          {},
          "Formats with their options (empty: all)",
          h("input", {
            name: "formats",
            value: formats,
            placeholder: "swiss:rounds=5, groups:size=4 -> bracket",
          }),
        ),
        h(
          "label",
          {},
          "Most players of a match",
          h("input", { name: "seats", type: "number", min: 2, max: 4, value: seats }),
        ),
        h(
          "label",
          {},
          "Pairing",
          h(
            "select",
            { name: "pairing" },
            [
              ["random", "by lot"],
              ["rating", "as seeds by strength"],
            ].map(([value, text]) => h("option", { value, selected: value === pairing }, text)),
          ),
        ),
        h(
          "label",
          {},
          "How often the best player should win, in percent",
          h("input", { name: "want", type: "number", min: 1, max: 99, value: want }),
        ),
        session()
          ? h("button", { disabled: isBusy }, isBusy ? "Simulating …" : "Simulate")
          : h("p", {}, h("a", { href: "#/account", class: "button" }, "Log in to simulate")),
      ),
      problem ? complaint(problem) : null,
      answer ? plot(answer, Number(want) / 100) : null,
      answer ? table(answer) : null,
    );
  }

  show();
  sessions.addEventListener("session", show);
  return () => sessions.removeEventListener("session", show);
}

/** @param {Simulation} simulation @param {number} want */
function plot({ simulated, recommended }, want) {
  const games = simulated.map((one) => Math.log(one.games.value));
  const [least, most] = [Math.min(...games), Math.max(...games)];
  const x = (/** @type {number} */ count) =>
    LEFT + 16 + ((Math.log(count) - least) / Math.max(0.1, most - least)) * (WIDTH - LEFT - 100);
  const y = (/** @type {number} */ share) => 8 + (1 - share) * (HEIGHT - BELOW - 8);
  const point = (/** @type {Simulated} */ one, /** @type {number} */ index) => {
    const at = x(one.games.value);
    const label = `${one.format}, best of ${one.best_of}`;
    return svg(
      "g",
      { class: index === recommended ? "recommended" : "" },
      svg("line", { class: "reach", x1: at, x2: at, y1: y(one.best_wins.low), y2: y(one.best_wins.high) }),
      svg(
        "circle",
        { class: "dot", cx: at, cy: y(one.best_wins.value), r: index === recommended ? 7 : 4 },
        svg("title", {}, `${label}: ${percent(one.best_wins)} %, ${ranged(one.games)} games`),
      ),
      index === recommended
        ? svg("text", { x: at + 10, y: y(one.best_wins.value) + 4 }, label)
        : null,
    );
  };
  const lines = [0, 0.25, 0.5, 0.75, 1];
  const label = `How often the best player wins, for ${simulated.length} formats`;
  return h(
    "figure",
    { class: "chart card" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      lines.map((share) =>
        svg(
          "g",
          {},
          svg("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(share), y2: y(share) }),
          svg("text", { x: LEFT - 8, y: y(share) + 4, "text-anchor": "end" }, `${share * 100}`),
        ),
      ),
      svg("line", { class: "line", x1: LEFT, x2: WIDTH, y1: y(want), y2: y(want) }),
      simulated.map(point),
      svg("text", { x: WIDTH, y: HEIGHT - 6, "text-anchor": "end" }, "games (logarithmic)"),
    ),
    h(
      "figcaption",
      { class: "soft small" },
      "How often the best player wins, in percent with 95 % intervals. The line is what you want.",
    ),
  );
}

/** @param {Simulation} simulation */
function table({ simulated, recommended }) {
  const head = ["Format", "Best of", "Best wins, %", "Top 3 right, %", "Games", "Rounds", "Game times"];
  const row = (/** @type {Simulated} */ one, /** @type {number} */ index) =>
    h(
      "tr",
      { "data-key": `${one.format} ${one.best_of}` },
      h(
        "th",
        { scope: "row" },
        one.format,
        index === recommended ? h("span", { class: "tag good" }, "recommended") : null,
      ),
      [
        one.best_of,
        percent(one.best_wins),
        percent(one.top_three),
        ranged(one.games),
        one.rounds.toFixed(1),
        ranged(one.seconds),
      ].map((text) => h("td", { class: "number" }, text)),
    );
  const why = "Game times: how many games one after the other, if one match is played at a time.";
  return h(
    "div",
    { class: "card wide", tabindex: 0, role: "group", "aria-label": "Table of formats" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, head.map((word) => h("th", { scope: "col" }, word)))),
      h("tbody", {}, simulated.map(row)),
    ),
    h("p", { class: "soft small" }, why),
  );
}
