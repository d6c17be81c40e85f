// Styles that only some views need, loaded when the first of them is shown.

/** @param {string[]} addresses */
export function styled(...addresses) {
  for (const href of addresses) {
    if (document.querySelector(`link[href="${href}"]`)) continue;
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    document.head.append(link);
  }
}
