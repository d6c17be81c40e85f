// Numbers in sentences.

/**
 * A number and its noun, in the singular or the plural: 1 rail, 2 rails.
 * @param {number} count @param {string} noun
 */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/**
 * A number with its sign: +3.2, −1.4.
 * @param {number} value @param {number} [digits]
 */
export function signed(value, digits = 1) {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}
