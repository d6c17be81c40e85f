// How a win is celebrated: a laurel wreath, and falling leaves unless the person prefers reduced
// motion.

import { move, still } from "../boards/board.js";
import { h, svg } from "../lib/dom.js";

const LEAVES = 70;
const LEAF = "M0-7C5-4 5 4 0 7C-5 4-5-4 0-7Z";
const TINTS = ["accent", "good", "warn"];

/** A laurel wreath. */
export function laurel() {
  const half = (/** @type {number} */ side) =>
    Array.from({ length: 8 }, (_, at) => {
      const angle = (35 + at * 19) * (Math.PI / 180);
      const [x, y] = [32 + side * 22 * Math.sin(angle), 30 + 22 * Math.cos(angle)];
      const turn = (side * (150 - at * 19)).toFixed(0);
      return svg("path", {
        d: LEAF,
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${turn})`,
      });
    });
  return svg(
    "svg",
    { class: "laurel", viewBox: "0 0 64 60", "aria-hidden": "true", "data-key": "laurel" },
    half(-1),
    half(1),
  );
}

/** Lets leaves fall over the page once. */
export function celebrate() {
  if (still() || document.hidden) return;
  const sky = h("div", { class: "celebration", "aria-hidden": "true" });
  document.body.append(sky);
  let longest = 0;
  for (let at = 0; at < LEAVES; at++) {
    const tint = TINTS[at % TINTS.length];
    const leaf = svg(
      "svg",
      { class: `leaf ${tint}`, viewBox: "-8 -8 16 16" },
      svg("path", { d: LEAF }),
    );
    sky.append(leaf);
    const [x, spin] = [Math.random() * 100, 360 + Math.random() * 720];
    const [ms, wait] = [1_800 + Math.random() * 1_400, Math.random() * 900];
    longest = Math.max(longest, ms + wait);
    leaf.style.left = `${x}%`;
    move(
      leaf,
      [
        { transform: "translateY(-5vh) rotate(0)", opacity: 1 },
        { transform: `translate(${x / 5 - 10}vw, 105vh) rotate(${spin}deg)`, opacity: 0.6 },
      ],
      ms,
      wait,
    );
  }
  setTimeout(() => sky.remove(), longest);
}
