// The emblem of a player: a painted shield, drawn from the name alone, so that it is the same on
// every server and in every saved replay.

import { svg } from "./dom.js";

/** How many grounds the style sheet has: `.emblem-1` and so on. */
const GROUNDS = 8;

/** Drawings for a shield, in a square of 24 around its middle. */
const DEVICES = [
  "M12 5l2 5h5l-4 3 2 6-5-4-5 4 2-6-4-3h5z",
  "M7 12a5 5 0 1 0 10 0 6 6 0 0 1-10 0z",
  "M12 5v14M5 12h14M7 7l10 10M17 7L7 17",
  "M6 16h12L12 6z",
  "M6 8h12v3h-4v7h-4v-7H6z",
  "M6 15c2-6 4-6 6 0s4 6 6 0M6 10c2-6 4-6 6 0s4 6 6 0",
  "M12 6l6 6-6 6-6-6z",
  "M7 7h4v4H7zM13 7h4v4h-4zM7 13h4v4H7zM13 13h4v4h-4z",
  "M6 12c3-5 7-5 10-1l3-3v8l-3-3c-3 4-7 4-10-1z",
  "M7 17V7h10v10h-7v-7h4v4",
  "M12 6c3 3 5 5 5 8a5 5 0 0 1-10 0c0-3 2-5 5-8z",
  "M6 7l6 4 6-4v4l-6 4-6-4zM6 13l6 4 6-4v3l-6 4-6-4z",
];

/** Devices that are lines: their numbers in `DEVICES`. */
const LINES = new Set([2, 5, 9]);

/** The rims: dashes of the circle around the device. */
const RIMS = ["1 2", "4 2", "9 0"];

/**
 * A number from a name (FNV-1a with a final mix): the same everywhere.
 * @param {string} name
 */
export function digest(name) {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(name)) hash = Math.imul(hash ^ byte, 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * The emblem of a player.
 * @param {string} name
 */
export function emblem(name) {
  const number = digest(name);
  const ground = number % GROUNDS;
  const device = Math.floor(number / GROUNDS) % DEVICES.length;
  const rim = Math.floor(number / GROUNDS / DEVICES.length) % RIMS.length;
  return svg(
    "svg",
    { class: `emblem emblem-${ground + 1}`, viewBox: "0 0 24 24", "aria-hidden": "true" },
    svg("circle", { cx: 12, cy: 12, r: 12 }),
    svg("circle", { class: "rim", cx: 12, cy: 12, r: 10, "stroke-dasharray": RIMS[rim] }),
    svg("path", { class: LINES.has(device) ? "lines" : "device", d: DEVICES[device] }),
  );
}
