// The lines of a log, each with its text.

/**
 * The lines of a log.
 * @param {string} text @returns {import("./verify.js").Line[]}
 */
export const linesOf = (text) =>
  text
    .split("\n")
    .filter((line) => line)
    .map((line) => ({ ...JSON.parse(line), text: line }));
