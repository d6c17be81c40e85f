// The graph of a finished game: luck, the cost of decisions, and the time per move, over its steps.

import { h, svg } from "../lib/dom.js";
import { signed } from "../lib/words.js";
import { took } from "./times.js";

/**
 * @typedef {object} Curve one player's sum over the steps of a replay
 * @property {number} seat
 * @property {{ at: number, value: number }[]} points the sum after each step at which it changed
 *
 * @typedef {object} Marker a costly decision
 * @property {number} at the step @property {number} seat @property {string} words
 *
 * @typedef {object} GraphData
 * @property {string[]} names the players by seat
 * @property {number} last the number of the last step
 * @property {Curve[]} luck empty if the analysis does not measure luck
 * @property {Curve[]} costs
 * @property {Marker[]} markers
 * @property {import("./times.js").MoveTime[]} times
 */

const [WIDTH, LEFT, RIGHT] = [900, 60, 26];
/** The heights of the panels, and the room above each for its name. */
const [TALL, SHORT, HEAD] = [120, 70, 22];

/**
 * The graph. `go` is called with the step that the user chose.
 * @param {GraphData} data @param {(at: number) => void} go
 */
export function graph(data, go) {
  const panels = [
    ...(data.luck.length
      ? [{ name: "Luck: points above or below the expected value", curves: data.luck, down: false }]
      : []),
    { name: "Skill: points lost by decisions", curves: data.costs, down: true },
  ];
  const x = (/** @type {number} */ at) =>
    LEFT + (at / Math.max(1, data.last)) * (WIDTH - LEFT - RIGHT);
  const height = panels.length * (TALL + HEAD) + SHORT + HEAD + 4;
  const choose = (/** @type {MouseEvent} */ event) => {
    const box = /** @type {Element} */ (event.currentTarget).getBoundingClientRect();
    const place = ((event.clientX - box.left) / box.width) * WIDTH;
    const at = Math.round(((place - LEFT) / (WIDTH - LEFT - RIGHT)) * data.last);
    go(Math.max(0, Math.min(data.last, at)));
  };
  return h(
    "figure",
    { class: "chart graph" },
    h(
      "div",
      { class: "wide", tabindex: 0, role: "group", "aria-label": "Graph" },
      svg(
        "svg",
        {
          viewBox: `0 0 ${WIDTH} ${height}`,
          role: "img",
          "aria-label": "Luck, cost of decisions and time per move over the game",
          onclick: choose,
        },
        panels.map((panel, index) => curves(panel, index * (TALL + HEAD) + HEAD, data, x)),
        bars(data, panels.length * (TALL + HEAD) + HEAD, x),
        svg("line", { class: "cursor", x1: x(0), x2: x(0), y1: 0, y2: height }),
      ),
    ),
    h(
      "figcaption",
      { class: "soft small legend" },
      data.names.map((name, seat) =>
        h("span", {}, swatch(seat), " ", h("bdi", {}, name)),
      ),
      h("span", {}, "Select a place in the graph to go to its step."),
    ),
  );
}

/**
 * Moves the cursor of a graph to a step.
 * @param {Element} figure @param {number} at @param {number} last
 */
export function moveCursor(figure, at, last) {
  const place = String(LEFT + (at / Math.max(1, last)) * (WIDTH - LEFT - RIGHT));
  const cursor = figure.querySelector(".cursor");
  cursor?.setAttribute("x1", place);
  cursor?.setAttribute("x2", place);
}

/**
 * A short piece of a player's line.
 * @param {number} seat
 */
const swatch = (seat) =>
  svg(
    "svg",
    { viewBox: "0 0 28 10", width: 28, height: 10, "aria-hidden": "true" },
    svg("line", { class: `line seat-${seat + 1}`, x1: 1, x2: 27, y1: 5, y2: 5 }),
  );

/**
 * A panel of lines: one for each player.
 * @param {{ name: string, curves: Curve[], down: boolean }} panel @param {number} top
 * @param {GraphData} data @param {(at: number) => number} x
 */
function curves({ name, curves: all, down }, top, data, x) {
  const values = all.flatMap(({ points }) => points.map(({ value }) => value));
  const [low, high] = [Math.min(0, ...values), Math.max(1, ...values)];
  const part = (/** @type {number} */ value) => (value - low) / (high - low);
  const y = (/** @type {number} */ value) =>
    top + (down ? part(value) : 1 - part(value)) * (TALL - 6) + 3;
  const label = (/** @type {number} */ value) =>
    down ? (value ? `−${value.toFixed(0)}` : "0") : signed(value, 0);
  const marks = [...new Set([low, 0, high])].filter(
    (value, at, some) => at === 0 || Math.abs(y(value) - y(some[at - 1])) > 14,
  );
  return svg(
    "g",
    { class: "panel" },
    svg("text", { class: "name", x: LEFT, y: top - 7 }, name),
    svg("rect", { class: "ground", x: LEFT, y: top, width: WIDTH - LEFT - RIGHT, height: TALL }),
    marks.map((value) => [
      svg("line", { class: "grid", x1: LEFT, x2: WIDTH - RIGHT, y1: y(value), y2: y(value) }),
      svg("text", { x: LEFT - 6, y: y(value) + 4, "text-anchor": "end" }, label(value)),
    ]),
    all.map(({ seat, points }) => line(seat, points, data.last, x, y)),
    down ? data.markers.map((marker) => dot(marker, all, x, y)) : null,
  );
}

/**
 * One player's line. It changes only at steps, so it has corners.
 * @param {number} seat @param {{ at: number, value: number }[]} points @param {number} last
 * @param {(at: number) => number} x @param {(value: number) => number} y
 */
function line(seat, points, last, x, y) {
  let value = 0;
  const corners = [`${x(0)},${y(0)}`];
  for (const point of points) {
    corners.push(`${x(point.at)},${y(value)}`, `${x(point.at)},${y(point.value)}`);
    value = point.value;
  }
  corners.push(`${x(last)},${y(value)}`);
  return [
    svg("polyline", { class: `line seat-${seat + 1}`, points: corners.join(" ") }),
    svg("text", { class: `end seat-${seat + 1}`, x: x(last) + 6, y: y(value) + 4 }, seat + 1),
  ];
}

/**
 * A costly decision on its player's line.
 * @param {Marker} marker @param {Curve[]} all
 * @param {(at: number) => number} x @param {(value: number) => number} y
 */
function dot({ at, seat, words }, all, x, y) {
  const own = all.find((curve) => curve.seat === seat)?.points ?? [];
  const value = own.filter((point) => point.at <= at).at(-1)?.value ?? 0;
  return svg(
    "circle",
    { class: `costly seat-${seat + 1}`, cx: x(at), cy: y(value), r: 5 },
    svg("title", {}, words),
  );
}

/**
 * The time of every move as a bar.
 * @param {GraphData} data @param {number} top @param {(at: number) => number} x
 */
function bars({ times, names, last }, top, x) {
  const most = Math.max(1, ...times.map(({ ms }) => ms));
  const wide = Math.max(1, Math.min(10, (x(1) - x(0)) * 0.7));
  return svg(
    "g",
    { class: "panel" },
    svg("text", { class: "name", x: LEFT, y: top - 7 }, "Time per move"),
    svg("rect", { class: "ground", x: LEFT, y: top, width: WIDTH - LEFT - RIGHT, height: SHORT }),
    svg("text", { x: LEFT - 6, y: top + 10, "text-anchor": "end" }, took(most)),
    times.map(({ at, seat, ms }) => {
      const tall = Math.max(1, (ms / most) * (SHORT - 4));
      return svg(
        "rect",
        {
          class: `bar seat-${seat + 1}`,
          x: x(Math.min(at, last)) - wide / 2,
          y: top + SHORT - tall,
          width: wide,
          height: tall,
        },
        svg("title", {}, `Step ${at}: ${names[seat]}, ${took(ms)}`),
      );
    }),
  );
}
