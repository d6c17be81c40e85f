// Server-sent events: subscribes to a resource of the server and delivers its changes.
//
// Every event holds the whole state, and its id identifies that state. After a disconnect the
// stream reconnects with the last id, and the server sends the missed changes as one event. Retries
// of an unreachable server slow down over time. A hidden tab closes its stream, because browsers
// allow only six connections to one server, and reconnects when it is visible again.

import { Problem, headers, problemOf } from "./api.js";

/** After this long without data the connection counts as lost; a keep-alive arrives every 15 s. */
const SILENCE_MS = 40_000;
const BACK_MS = [250, 500, 1_000, 2_000, 4_000];
/** How long a tab may be hidden before it closes its stream. */
const HIDDEN_MS = 20_000;

/**
 * @typedef {object} Watcher
 * @property {(data: any, event: string) => void} show every event: `snapshot`, `change`, `lagged`,
 *   `end`
 * @property {(problem: Problem) => void} [problem] it cannot be watched; nothing more comes
 * @property {() => void} [end] nothing more comes, for it is over
 */

/** Dispatches `status` when the state of a stream changes. */
export const streams = new EventTarget();

/**
 * Tells whether a stream is connected; `null` while that is not known yet.
 * @typedef {{ live: boolean | null }} Stream
 */

/** @type {Set<Stream>} */
const open = new Set();

/**
 * The state of all streams: `idle` if there is none.
 * @returns {"idle" | "live" | "away"} */
export function status() {
  const all = [...open].map((stream) => stream.live);
  if (all.includes(false)) return "away";
  return all.includes(true) ? "live" : "idle";
}

/**
 * Watches `path`, the address of events; returns a function that ends it.
 * @param {string} path @param {Watcher} watcher */
export function watch(path, watcher) {
  /** @type {Stream} */
  const stream = { live: null };
  const stopped = new AbortController();
  open.add(stream);
  tell();
  run(path, watcher, stream, stopped.signal).finally(() => {
    open.delete(stream);
    tell();
  });
  return () => stopped.abort();
}

function tell() {
  streams.dispatchEvent(new Event("status"));
}

/**
 * @param {string} path @param {Watcher} watcher @param {Stream} stream
 * @param {AbortSignal} stopped
 */
async function run(path, watcher, stream, stopped) {
  let last = "";
  let failures = 0;
  const heard = (/** @type {boolean} */ live) => {
    if (stream.live === live) return;
    stream.live = live;
    tell();
  };
  /** @param {Message} message */
  const show = ({ event, id, data }) => {
    failures = 0;
    last = id || last;
    watcher.show(JSON.parse(data), event);
    return event === "end";
  };
  while (!stopped.aborted) {
    await seen(stopped);
    if (stopped.aborted) return;
    const came = await once(path, last, show, () => heard(true), stopped);
    if (stopped.aborted) return;
    if (came === "end") return watcher.end?.();
    if (came instanceof Problem) return watcher.problem?.(came);
    if (came === "hidden") continue;
    heard(false);
    const back = BACK_MS[Math.min(failures++, BACK_MS.length - 1)];
    await pause(back * (0.75 + Math.random() / 2), stopped);
  }
}

/**
 * Runs one connection until it ends: finished, failed, hidden, or cut.
 * @param {string} path @param {string} last @param {(message: Message) => boolean} show
 * @param {() => void} opened @param {AbortSignal} stopped
 * @returns {Promise<"end" | "cut" | "hidden" | Problem>}
 */
async function once(path, last, show, opened, stopped) {
  const cut = new AbortController();
  const stop = () => cut.abort();
  stopped.addEventListener("abort", stop);
  let hidden = false;
  const unhide = whenHidden(() => ((hidden = true), cut.abort()));
  let timer = setTimeout(stop, SILENCE_MS);
  const ended = () => (hidden ? "hidden" : "cut");
  try {
    const request = { ...headers(), ...(last ? { "last-event-id": last } : {}) };
    const asked = fetch(path, { headers: request, cache: "no-store", signal: cut.signal });
    const response = await asked.catch(() => null);
    if (!response || response.status >= 500 || response.status === 429) return ended();
    if (response.status === 204) return "end";
    if (!response.ok || !response.body) return await problemOf(response);
    opened();
    const reader = response.body.getReader();
    const messages = new Messages();
    const decoder = new TextDecoder();
    for (;;) {
      const piece = await reader.read().catch(() => null);
      if (!piece || piece.done) return ended();
      clearTimeout(timer);
      timer = setTimeout(stop, SILENCE_MS);
      for (const message of messages.take(decoder.decode(piece.value, { stream: true }))) {
        if (cut.signal.aborted) return ended();
        if (show(message)) return "end";
      }
    }
  } finally {
    clearTimeout(timer);
    unhide();
    stopped.removeEventListener("abort", stop);
    cut.abort();
  }
}

/** @typedef {{ event: string, id: string, data: string }} Message */

/** Decodes server-sent events from pieces of text. */
export class Messages {
  #rest = "";

  /** @param {string} piece @returns {Message[]} */
  take(piece) {
    const blocks = (this.#rest + piece).replaceAll("\r\n", "\n").split("\n\n");
    this.#rest = blocks.pop() ?? "";
    return blocks.map(message).filter((message) => message.data !== "");
  }
}

/** @param {string} block @returns {Message} */
function message(block) {
  const message = { event: "message", id: "", data: "" };
  for (const line of block.split("\n")) {
    const [, field, value] = /^(event|id|data): ?(.*)$/.exec(line) ?? [];
    if (field === "data") message.data += message.data ? `\n${value}` : value;
    else if (field === "event" || field === "id") message[field] = value;
  }
  return message;
}

/** @param {number} ms @param {AbortSignal} stopped @returns {Promise<void>} */
function pause(ms, stopped) {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      for (const event of ["online", "abort"]) removeEventListener(event, done);
      stopped.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    addEventListener("online", done);
    stopped.addEventListener("abort", done);
  });
}

/**
 * Resolves when the tab is visible.
 * @param {AbortSignal} stopped @returns {Promise<void>} */
function seen(stopped) {
  return new Promise((resolve) => {
    const look = () => {
      if (document.hidden && !stopped.aborted) return;
      document.removeEventListener("visibilitychange", look);
      stopped.removeEventListener("abort", look);
      resolve();
    };
    document.addEventListener("visibilitychange", look);
    stopped.addEventListener("abort", look);
    look();
  });
}

/**
 * Calls back after the tab was hidden for a while; returns a function that cancels it.
 * @param {() => void} then */
function whenHidden(then) {
  let timer = 0;
  const look = () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(then, HIDDEN_MS);
  };
  document.addEventListener("visibilitychange", look);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", look);
  };
}
