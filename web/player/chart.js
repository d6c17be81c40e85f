// A line chart of ratings over time, with their 95 % intervals.

import { h, svg } from "../lib/dom.js";

const WIDTH = 640;
const HEIGHT = 220;
const LEFT = 60;
const BELOW = 24;

/** @typedef {{ value: number, deviation: number, tournament: string, round: number }} Point */

/** Half of the 95 % interval. @param {Point} point */
const reach = ({ deviation }) => 1.96 * deviation;

/** @param {Point} point */
const words = (point) => `${Math.round(point.value)} ± ${Math.round(reach(point))}`;

/**
 * The points, connected; and as a table for screen readers.
 * @param {string} title @param {Point[]} points
 */
export function chart(title, points) {
  if (points.length === 0) return h("p", { class: "soft" }, "This player is not rated yet.");
  const low =
    Math.floor(Math.min(...points.map((point) => point.value - reach(point))) / 100) * 100;
  const high =
    Math.ceil(Math.max(...points.map((point) => point.value + reach(point))) / 100) * 100;
  const x = (/** @type {number} */ index) =>
    LEFT + 8 + (points.length === 1 ? 0.5 : index / (points.length - 1)) * (WIDTH - LEFT - 24);
  const y = (/** @type {number} */ value) =>
    8 + (1 - (value - low) / Math.max(1, high - low)) * (HEIGHT - BELOW - 8);
  const corner = (/** @type {number} */ index, /** @type {number} */ value) =>
    `${x(index).toFixed(1)},${y(value).toFixed(1)}`;
  const upper = points.map((point, index) => corner(index, point.value + reach(point)));
  const lower = points
    .map((point, index) => corner(index, point.value - reach(point)))
    .reverse();
  const step = Math.max(100, Math.ceil((high - low) / 400) * 100);
  const lines = Array.from(
    { length: Math.floor((high - low) / step) + 1 },
    (_, index) => low + index * step,
  );
  const last = points[points.length - 1];
  const [began, stands] = [Math.round(points[0].value), Math.round(last.value)];
  const label = `${title}: ${began} at first, ${stands} now, after ${points.length} rounds.`;
  return h(
    "figure",
    { class: "chart" },
    svg(
      "svg",
      { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label },
      lines.map((value) =>
        svg(
          "g",
          {},
          svg("line", { class: "grid", x1: LEFT, x2: WIDTH, y1: y(value), y2: y(value) }),
          svg("text", { x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, value),
        ),
      ),
      svg("polygon", { class: "band", points: [...upper, ...lower].join(" ") }),
      points.length === 1
        ? svg("line", {
            class: "reach",
            x1: x(0),
            x2: x(0),
            y1: y(last.value - reach(last)),
            y2: y(last.value + reach(last)),
          })
        : null,
      svg("polyline", {
        class: "line",
        points: points.map((point, index) => corner(index, point.value)).join(" "),
      }),
      points.map((point, index) =>
        svg(
          "circle",
          { class: "dot", cx: x(index), cy: y(point.value), r: points.length > 40 ? 2 : 4 },
          svg("title", {}, `${point.tournament}, round ${point.round}: ${words(point)}`),
        ),
      ),
    ),
    h(
      "details",
      {},
      h("summary", {}, "As a table"),
      h(
        "div",
        { class: "wide", tabindex: 0, role: "group", "aria-label": title },
        h(
          "table",
          {},
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, "Tournament"),
              h("th", { scope: "col" }, "Round"),
              h("th", { scope: "col", class: "number" }, "Rating"),
            ),
          ),
          h(
            "tbody",
            {},
            points.map((point) =>
              h(
                "tr",
                {},
                h("td", {}, point.tournament),
                h("td", {}, point.round),
                h("td", { class: "number" }, words(point)),
              ),
            ),
          ),
        ),
      ),
    ),
  );
}
