// Actions of buttons for the logged-in user, and their feedback. An action of a visitor waits until
// they have logged in.

import { session } from "./api.js";
import { sentence } from "./show.js";

/**
 * The action that a visitor started before the page asked them to log in.
 * @type {(() => Promise<void>) | null}
 */
let intended = null;

/**
 * Takes the action that waits for a login; nobody can take it twice.
 * @returns {(() => Promise<void>) | null}
 */
export function takeIntended() {
  const action = intended;
  intended = null;
  return action;
}

/**
 * Wraps button actions: asks users to log in if necessary, and reports errors.
 * @param {import("./types.js").App} app @param {() => void} after
 * @param {string} [back] the view to come back to after logging in
 */
export function acting(app, after, back = "") {
  /** @param {() => Promise<unknown>} what @param {string} done @param {string} [then] */
  return (what, done, then) => {
    const run = async () => {
      try {
        await what();
        app.say(done);
        if (then) return app.go(then);
      } catch (problem) {
        app.say(sentence(problem), "bad");
      }
      after();
    };
    return async () => {
      if (session()) return run();
      intended = run;
      app.go(back ? `#/account?then=${back}` : "#/account");
    };
  };
}
