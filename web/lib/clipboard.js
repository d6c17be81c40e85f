// Copies text to the clipboard.

/**
 * Copies a text. Browsers offer their interface for this only on pages that came over https or from
 * this machine, so on a server in a local network an older command does it.
 * @param {string} text
 * @returns {Promise<boolean>} whether the text was copied
 */
export async function copied(text) {
  try {
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(text);
      return true;
    }
  } catch {
    // The browser does not allow it; the older command may still work.
  }
  const field = document.createElement("textarea");
  field.value = text;
  field.setAttribute("readonly", "");
  field.className = "hidden";
  // A dialog keeps the focus inside, so the field has to be in it.
  const place = document.querySelector("dialog[open]") ?? document.body;
  const before = document.activeElement;
  place.append(field);
  field.select();
  const isDone = document.execCommand("copy");
  field.remove();
  if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  return isDone;
}
