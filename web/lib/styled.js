// Styles that only some views need, loaded when the first of them is shown.

/** @param {string} href */
export function styled(href) {
  if (document.querySelector(`link[href="${href}"]`)) return;
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = href;
  document.head.append(link);
}
