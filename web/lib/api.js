// Requests to the server, and the session of this browser.
//
// Responses are JSON; errors are `Problem`s. All tabs of this browser share the token. It is
// deleted as soon as the server rejects it.

/** @typedef {import("./types.js").Session} Session */

const KEY = "agon.session";

/** An error, in the server's words (RFC 9457); status 0 if the server did not answer. */
export class Problem extends Error {
  /** @param {number} status @param {string} type @param {string} detail */
  constructor(status, type, detail) {
    super(detail);
    this.name = "Problem";
    this.status = status;
    /** The last word of its type: `not-found`, `conflict`, … */
    this.type = type;
  }
}

/**
 * Tells whether to retry after a while: the server did not answer, or was too busy.
 * @param {unknown} problem
 */
export const passes = (problem) =>
  problem instanceof Problem && (problem.status === 0 || problem.status >= 500);

/** Dispatches `session` when the user logs in or out, in this tab or another. */
export const sessions = new EventTarget();

/**
 * The session of this browser.
 * @returns {Session | null} */
export function session() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return kept && kept.expires_at > Date.now() ? kept : null;
  } catch {
    return null;
  }
}

/** @param {Session | null} now */
function keep(now) {
  if (now) localStorage.setItem(KEY, JSON.stringify(now));
  else localStorage.removeItem(KEY);
  sessions.dispatchEvent(new Event("session"));
}

addEventListener("storage", (event) => {
  if (event.key === KEY) sessions.dispatchEvent(new Event("session"));
});

/** The path of something with names in it: `path` of a template. Names are escaped.
 * @param {TemplateStringsArray} pieces @param {(string | number)[]} names */
export function path(pieces, ...names) {
  const escaped = names.map((name) => encodeURIComponent(name));
  return pieces.reduce((whole, piece, index) => whole + (escaped[index - 1] ?? "") + piece);
}

/**
 * The error that a response describes.
 * @param {Response} response @returns {Promise<Problem>} */
export async function problemOf(response) {
  try {
    const { type, detail } = await response.json();
    return new Problem(response.status, String(type).split(":").pop() ?? "", String(detail));
  } catch {
    return new Problem(response.status, "failed", "the server failed; try again later");
  }
}

/**
 * The headers of a request, with the session's token.
 * @returns {Record<string, string>} */
export function headers() {
  const now = session();
  return now ? { authorization: `Bearer ${now.token}` } : {};
}

/** @param {string} method @param {string} path @param {unknown} [body]
 * @param {Record<string, string>} [by] the headers, if they are not those of the current session
 * @returns {Promise<any>} */
async function send(method, path, body, by = headers()) {
  /** @type {RequestInit} */
  const request = { method, headers: by, cache: "no-store" };
  if (body !== undefined) {
    request.body = JSON.stringify(body);
    request.headers = { ...by, "content-type": "application/json" };
  }
  const sent = session()?.token;
  let response;
  try {
    response = await fetch(path, request);
  } catch {
    throw new Problem(0, "no-answer", "the server does not answer; try again in a moment");
  }
  if (response.ok) return [202, 204].includes(response.status) ? null : response.json();
  const problem = await problemOf(response);
  const refused = response.status === 401 && path !== "/api/v1/sessions";
  if (refused && sent && sent === session()?.token) keep(null);
  throw problem;
}

/** @param {string} path */
export const get = (path) => send("GET", path);
/** @param {string} path @param {unknown} [body] */
export const post = (path, body) => send("POST", path, body);
/** @param {string} path @param {unknown} [body] */
export const put = (path, body) => send("PUT", path, body);
/** @param {string} path @param {unknown} [body] */
export const del = (path, body) => send("DELETE", path, body);

/** @param {string} account @param {string} password */
export async function logIn(account, password) {
  const { token, expires_at } = await post("/api/v1/sessions", { account, password });
  await useToken(token, expires_at);
}

/**
 * Registers a person, and logs them in.
 * @param {string} account @param {string} password */
export async function register(account, password) {
  await post("/api/v1/accounts", { account, password, kind: "person" });
  await logIn(account, password);
}

/** Logs in with a token, however it came here: that of the operator is printed by the server.
 * @param {string} token @param {number} [expires_at] */
export async function useToken(token, expires_at = Number.MAX_SAFE_INTEGER) {
  const authorization = `Bearer ${token}`;
  const { account, role, kind, guest } = await send("GET", "/api/v1/sessions", undefined, {
    authorization,
  });
  keep({ account, token, expires_at, role, kind, guest });
}

/**
 * The session of this browser; a stranger becomes a guest.
 * @returns {Promise<Session>}
 */
async function someone() {
  const now = session();
  if (now) return now;
  const { token, expires_at } = await post("/api/v1/guests");
  await useToken(token, expires_at);
  return /** @type {Session} */ (session());
}

/**
 * Does something as somebody, as a guest if need be. A guest whom the server has forgotten becomes a
 * new one.
 * @template T
 * @param {(account: string) => Promise<T>} what @returns {Promise<T>}
 */
export async function asSomeone(what) {
  const { account, guest } = await someone();
  try {
    return await what(account);
  } catch (problem) {
    if (!guest || !(problem instanceof Problem) || problem.status !== 401) throw problem;
    return what((await someone()).account);
  }
}

/**
 * Gives a guest a name and a password.
 * @param {string} account @param {string} password
 */
export async function claim(account, password) {
  const { token, expires_at } = await put("/api/v1/accounts/me/claim", { account, password });
  await useToken(token, expires_at);
}

/**
 * Starts a casual game of these players, in the order of their seats; people are invited.
 * @param {string} game @param {string[]} players @returns {Promise<{ id: string }>}
 */
export const casual = (game, players) => post("/api/v1/casual", { game, players });

/**
 * Returns whether a tournament is a casual game, by its name: `fish-casual-7`. One with the time
 * limits of such games is none.
 * @param {string} id
 */
export const isCasual = (id) => /-casual-\d+$/.test(id);

export async function logOut() {
  try {
    await del("/api/v1/sessions");
  } catch (problem) {
    // With an invalid token the user is already logged out.
    if (!(problem instanceof Problem) || problem.status !== 401) throw problem;
  }
  keep(null);
}

/** @param {string} old @param {string} fresh */
export const changePassword = (old, fresh) =>
  put("/api/v1/accounts/me/password", { old, new: fresh });
