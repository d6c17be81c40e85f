// The title of the tab: the name of the view, and a mark in front of it while it is the person's
// turn.

let view = "";
let mark = "";

function write() {
  const name = view ? `${view} · Agon` : "Agon";
  document.title = mark ? `${mark} · ${name}` : name;
}

/**
 * Names the view.
 * @param {string} text
 */
export function title(text) {
  view = text;
  write();
}

/**
 * Sets the mark in front of the name; an empty one removes it.
 * @param {string} text
 */
export function markTitle(text) {
  mark = text;
  write();
}
