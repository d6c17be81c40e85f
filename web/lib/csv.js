// Tables as files for a spreadsheet (RFC 4180).

import { h } from "./dom.js";
import { download } from "./saved.js";

/** @typedef {(string | number | null | undefined)[]} Row */

/**
 * One cell. A text that a spreadsheet would take for a formula begins with an apostrophe.
 * @param {Row[number]} value
 */
function cell(value) {
  const text = value === null || value === undefined ? "" : String(value);
  const plain = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/**
 * @param {string[]} head @param {Row[]} rows
 */
export const csv = (head, rows) =>
  [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");

/**
 * A button that saves a table.
 * @param {string} name the file's name, without its ending
 * @param {() => { head: string[], rows: Row[] }} table
 */
export function csvButton(name, table) {
  const onclick = () => {
    const { head, rows } = table();
    download(`${name}.csv`, "text/csv", csv(head, rows));
  };
  const label = `Save ${name} as CSV`;
  return h("button", { type: "button", class: "quiet", "aria-label": label, onclick }, "CSV");
}
