// Positions from changes: the server sends the first position of a game whole, and of every later
// one what is different (a JSON Patch, RFC 6902).

/** @typedef {{ op: "add" | "remove" | "replace", path: string, value?: any }} Change */

/**
 * Gives every step its position, in place of its changes.
 * @template {{ view?: any, changes?: Change[] }} S
 * @param {S[]} steps @returns {S[]}
 */
export function unfold(steps) {
  /** @type {any} */
  let view = null;
  return steps.map((step) => {
    const { changes, ...rest } = step;
    view = changes ? changed(view, changes) : step.view;
    return /** @type {S} */ ({ ...rest, view });
  });
}

/**
 * A value after some changes. Unchanged parts are shared with the value before.
 * @param {any} value @param {Change[]} changes
 */
function changed(value, changes) {
  return changes.reduce((now, change) => {
    const names = change.path.split("/").slice(1).map(unescaped);
    return changedAt(now, names, change);
  }, value);
}

/** @param {any} value @param {string[]} names @param {Change} change */
function changedAt(value, [name, ...deeper], change) {
  if (name === undefined) return change.value;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (deeper.length || (change.op === "replace" && Array.isArray(copy)))
    copy[name] = changedAt(copy[name], deeper, change);
  else if (Array.isArray(copy))
    copy.splice(Number(name), ...(change.op === "add" ? [0, change.value] : [1]));
  else if (change.op === "remove") delete copy[name];
  else copy[name] = change.value;
  return copy;
}

/** @param {string} name a name in a path (RFC 6901) */
const unescaped = (name) => name.replaceAll("~1", "/").replaceAll("~0", "~");
