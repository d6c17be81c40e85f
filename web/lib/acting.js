// What a button does for whoever is logged in, and how it is told.

import { session } from "./api.js";

/**
 * Makes buttons do things: who is not logged in is asked to, and what goes wrong is said.
 * @param {import("./types.js").App} app @param {() => void} after
 * @param {string} [back] the view to come back to after logging in
 */
export function acting(app, after, back = "") {
  /** @param {() => Promise<unknown>} what @param {string} done @param {string} [then] */
  return (what, done, then) => async () => {
    if (!session()) return app.go(back ? `#/account?then=${back}` : "#/account");
    try {
      await what();
      app.say(done);
      if (then) return app.go(then);
    } catch (problem) {
      app.say(problem instanceof Error ? problem.message : String(problem), "bad");
    }
    after();
  };
}
