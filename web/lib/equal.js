// Equality of JSON values.

/**
 * Tells whether two values are the same JSON, whatever the order of their fields.
 * @param {any} a @param {any} b @returns {boolean}
 */
export function equal(a, b) {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || !a || !b)
    return (a ?? null) === (b ?? null);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].every((name) =>
    equal(a[name], b[name]),
  );
}
