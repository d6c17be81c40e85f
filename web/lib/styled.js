// Styles that only some views need, loaded when the first of them is shown.

/**
 * @param {string[]} addresses
 * @returns {HTMLLinkElement[]} the styles that are not there yet
 */
export function styled(...addresses) {
  return addresses.flatMap((href) => {
    if (document.querySelector(`link[href="${href}"]`)) return [];
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = href;
    document.head.append(link);
    return [link];
  });
}
