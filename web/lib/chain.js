// The hash chain of a stream, as docs/protocol/log.md defines it: one head covers all earlier
// lines.

import { joined, sha256, toHex, utf8 } from "./fair.js";

/** @typedef {import("./verify.js").Line} Line */

/** The events that hold the head of the lines before them. */
const ENDS = ["match-ended", "tournament-ended", "tournament-aborted"];

/**
 * The head before each line of a stream, and after the last.
 * @param {Line[]} lines with their text, exactly as it is in the log
 * @returns {string[]}
 */
export function headsOf(lines) {
  let head = sha256(utf8(`agon chain 1\n${lines[0]?.stream ?? ""}`));
  const heads = [toHex(head)];
  for (const { text } of lines) {
    head = sha256(joined(head, utf8(text)));
    heads.push(toHex(head));
  }
  return heads;
}

/**
 * Finds an error in the numbering, the times or the heads of a stream; `null` if there is none.
 * @param {Line[]} lines @param {string[]} heads
 * @returns {{ line: Line, what: string } | null}
 */
export function broken(lines, heads) {
  for (const [at, line] of lines.entries()) {
    const before = lines[at - 1];
    const wrong = (/** @type {string} */ what) => ({ line, what });
    if (line.v !== 1) return wrong(`this page does not know format version ${line.v}`);
    if (line.seq !== at + 1) return wrong(`its number is ${line.seq} and should be ${at + 1}`);
    if (line.stream !== lines[0].stream) return wrong("it belongs to another stream");
    if (before && before.more > 0 && line.more !== before.more - 1)
      return wrong(`${before.more - 1} more events of its decision are due, not ${line.more}`);
    if (before && line.at < before.at) return wrong("its time is earlier than the time before it");
    if (before && before.more > 0 && line.at !== before.at)
      return wrong("its time differs from the time of its decision");
    if (ENDS.includes(line.type) && line.data.head && line.data.head !== heads[at])
      return wrong(
        `the head of the lines before it is ${heads[at]}, not ${line.data.head}: ` +
          "a line was changed after it was written",
      );
  }
  return null;
}

/**
 * Tells whether an older version without a chain wrote the end of a stream.
 * @param {Line[]} lines
 */
export const predatesChain = (lines) =>
  lines.some((line) => ENDS.includes(line.type) && !line.data.head);

