// Actions of buttons for the logged-in user, and their feedback.

import { session } from "./api.js";

/**
 * Wraps button actions: asks users to log in if necessary, and reports errors.
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
