// Where every view of the history was left: Back and Forward find it there again.
//
// The browser cannot do this itself, because a view gets its height only when its data arrives.

const KEY = "agon.scroll";
/** After this time a view that stays short is left as it is. */
const PATIENCE_MS = 5_000;
/** The same while the server computes what the view is about. */
const LONG_MS = 60_000;
/** Events that show that the user scrolls: from then on the position is theirs. */
const GESTURES = ["wheel", "touchstart", "keydown", "mousedown"];

/** Positions by the number of an entry of the history. @type {Record<string, number>} */
const left = read();
/** The entry that is shown. */
let entry = history.state?.entry ?? "";
let stop = () => {};

history.scrollRestoration = "manual";
addEventListener("pagehide", () => {
  note();
  try {
    sessionStorage.setItem(KEY, JSON.stringify(left));
  } catch {
    // Without storage a reload begins at the top.
  }
});

/** @returns {Record<string, number>} */
function read() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "{}");
  } catch {
    return {};
  }
}

/** Notes where the shown view is left. Call it before the view changes. */
export function note() {
  stop();
  if (entry) left[entry] = scrollY;
}

/** Scrolls a mounted view to where it was left, or to its top if it is new in the history. */
export function arrive() {
  const known = history.state?.entry;
  entry = known ?? `${Date.now()}-${Math.random()}`;
  if (!known) history.replaceState({ ...history.state, entry }, "");
  const wanted = left[entry] ?? 0;
  scrollTo(0, wanted);
  if (scrollY >= wanted) return;
  untilTheUserScrolls(PATIENCE_MS, () => {
    scrollTo(0, wanted);
    if (scrollY >= wanted) stop();
  });
}

/**
 * Scrolls to an element, and keeps it there while it and the parts of the view above it get their
 * height.
 * @param {Element} element
 */
export function keepInSight(element) {
  untilTheUserScrolls(LONG_MS, () => element.scrollIntoView());
}

/**
 * Scrolls whenever the height of the page changes, until the user does or some time has passed.
 * @param {number} patience in milliseconds
 * @param {() => void} scroll
 */
function untilTheUserScrolls(patience, scroll) {
  stop();
  const observer = new ResizeObserver(scroll);
  const timer = setTimeout(() => stop(), patience);
  const ended = new AbortController();
  stop = () => {
    observer.disconnect();
    clearTimeout(timer);
    ended.abort();
    stop = () => {};
  };
  const options = { passive: true, signal: ended.signal };
  for (const gesture of GESTURES) addEventListener(gesture, () => stop(), options);
  observer.observe(document.body);
}
