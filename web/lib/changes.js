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
 * A value after some changes. What does not change is shared with the value before.
 * @param {any} value @param {Change[]} changes
 */
function changed(value, changes) {
  return changes.reduce((now, { op, path, value: fresh }) => {
    const names = path.split("/").slice(1).map(unescaped);
    return changedAt(now, names, op === "remove" ? undefined : fresh);
  }, value);
}

/** @param {any} value @param {string[]} names @param {any} fresh nothing, if the place goes */
function changedAt(value, [name, ...deeper], fresh) {
  if (name === undefined) return fresh;
  const copy = Array.isArray(value) ? [...value] : { ...value };
  if (Array.isArray(copy) && name === "-") copy.push(fresh);
  else if (deeper.length || fresh !== undefined) copy[name] = changedAt(copy[name], deeper, fresh);
  else if (Array.isArray(copy)) copy.splice(Number(name), 1);
  else delete copy[name];
  return copy;
}

/** @param {string} name a name in a path (RFC 6901) */
const unescaped = (name) => name.replaceAll("~1", "/").replaceAll("~0", "~");
