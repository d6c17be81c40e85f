// Elements from descriptions, and a page that updates in place.
//
// A view describes its whole content every time; `render` changes only what differs, so that focus,
// selection, scroll position and open details stay as they are. Text is never parsed as HTML.

/** @typedef {Node | string | number | null | undefined | false} One */
/** @typedef {One | One[]} Few */
/** @typedef {One | Few[]} Many */
/** @typedef {One | Many[]} Child */
/** @typedef {Record<string, any>} Props attributes, and handlers such as `onclick` */

const SVG = "http://www.w3.org/2000/svg";
const HANDLERS = ["onclick", "onsubmit", "oninput", "onchange", "onkeydown", "ontoggle"];

/** An element of HTML.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Props} [props] @param {Child[]} children
 * @returns {HTMLElementTagNameMap[T]} */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** An element of SVG.
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag @param {Props} [props] @param {Child[]} children
 * @returns {SVGElementTagNameMap[T]} */
export function svg(tag, props = {}, ...children) {
  return fill(
    /** @type {SVGElementTagNameMap[T]} */ (document.createElementNS(SVG, tag)),
    props,
    children,
  );
}

/**
 * @template {Element} E
 * @param {E} element @param {Props} props @param {Child[]} children
 * @returns {E}
 */
function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (HANDLERS.includes(name)) /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...nodes(children));
  return element;
}

/** @param {Child[]} children @returns {(Node | string)[]} */
function nodes(children) {
  const flat = /** @type {One[]} */ (children.flat(Infinity));
  const here = flat.filter((child) => child !== null && child !== undefined && child !== false);
  return here.map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Makes `root` contain these children, changing only what differs.
 * @param {Element} root @param {Child[]} children */
export function render(root, ...children) {
  const wanted = document.createElement("div");
  wanted.append(...nodes(children));
  match(root, wanted);
}

/** @param {Node} node */
const key = (node) => (node instanceof Element ? node.getAttribute("data-key") : null);

/** @param {Element} old @param {Element} wanted */
function match(old, wanted) {
  const keyed = new Map();
  // Remove obsolete nodes first: moving the others past them would cost them the focus.
  const stay = new Set([...wanted.childNodes].map(key));
  for (const child of [...old.childNodes]) {
    if (key(child) && !stay.has(key(child))) child.remove();
    else if (key(child)) keyed.set(key(child), child);
  }
  let place = old.firstChild;
  for (const next of [...wanted.childNodes]) {
    let found = key(next) ? keyed.get(key(next)) : place;
    if (found && !key(next) && key(found)) found = null;
    if (!found || !alike(found, next)) {
      old.insertBefore(next, place);
      continue;
    }
    if (found === place) place = place?.nextSibling ?? null;
    else old.insertBefore(found, place);
    change(found, next);
  }
  while (place) {
    const gone = place;
    place = place.nextSibling;
    old.removeChild(gone);
  }
}

/** @param {Node} one @param {Node} other */
const alike = (one, other) => one.nodeName === other.nodeName && key(one) === key(other);

/** @param {Node} old @param {Node} next */
function change(old, next) {
  if (!(old instanceof Element) || !(next instanceof Element)) {
    if (old.nodeValue !== next.nodeValue) old.nodeValue = next.nodeValue;
    return;
  }
  for (const { name } of [...old.attributes]) {
    // The user decides whether details or a dialog are open.
    if (!next.hasAttribute(name) && name !== "open") old.removeAttribute(name);
  }
  for (const { name, value } of next.attributes) {
    if (old.getAttribute(name) !== value) old.setAttribute(name, value);
  }
  for (const handler of HANDLERS) {
    /** @type {any} */ (old)[handler] = /** @type {any} */ (next)[handler];
  }
  // A custom element manages its own content.
  if (old.localName.includes("-")) return;
  // Options that move between lists keep their selection.
  const chosen = next.querySelector(":scope > option[selected]")?.getAttribute("value");
  match(old, next);
  if (chosen && old instanceof HTMLSelectElement) old.value = chosen;
}
