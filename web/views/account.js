// The user's account: log in, register, log out, change the password, or use a token. A guest chooses
// a name and a password.

import {
  changePassword,
  claim,
  logIn,
  logOut,
  path,
  register,
  session,
  sessions,
  useToken,
} from "../lib/api.js";
import { takeIntended } from "../lib/acting.js";
import { h, render } from "../lib/dom.js";
import { complaint, sentence } from "../lib/show.js";

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  /**
   * Errors, by form.
   * @type {Record<string, unknown>} */
  let problems = {};
  /**
   * The part for operators; its code is loaded for them.
   * @type {import("../account/staff.js").Staff | null}
   */
  let staff = null;
  let isAsked = false;
  let gone = false;

  async function askStaff() {
    isAsked = true;
    const { Staff } = await import("../account/staff.js");
    staff = new Staff(app, show);
    show();
  }

  /**
   * Submits a form, one request at a time, and shows errors beside it.
   * @param {string} name @param {(fields: Record<string, string>) => Promise<void>} what
   */
  const sent = (name, what) => async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
    if (button.disabled) return;
    button.disabled = true;
    problems = {};
    try {
      const fields = Object.fromEntries(new FormData(form));
      // Keyboards of phones add a space after a name.
      if (fields.account) fields.account = String(fields.account).trim();
      await what(/** @type {Record<string, string>} */ (fields));
      form.reset();
    } catch (problem) {
      problems[name] = problem;
    }
    button.disabled = false;
    show();
  };

  // Back to the view that asked for the login, and on with what the user wanted there.
  const back = () => {
    app.go(app.query.then ? `#/${app.query.then}` : "#/");
    takeIntended()?.();
  };

  const visitor = () => [
    h("h1", {}, "Log in"),
    h(
      "div",
      { class: "halves" },
      h(
        "section",
        { class: "card", "aria-labelledby": "log-in" },
        h("h2", { id: "log-in" }, "You have an account"),
        form(
          "log-in-form",
          sent("log-in", async ({ account, password }) => {
            await logIn(account, password);
            app.say(`Hello, ${account}.`);
            back();
          }),
          [
            field("Name", "account", { autocomplete: "username", maxlength: 50 }),
            field("Password", "password", { type: "password", autocomplete: "current-password" }),
          ],
          "Log in",
          problems["log-in"],
        ),
      ),
      h(
        "div",
        { class: "stack" },
        h(
          "section",
          { class: "card", "aria-labelledby": "register" },
          h("h2", { id: "register" }, "You need an account"),
          form(
            "register-form",
            sent("register", async ({ account, password }) => {
              await register(account, password);
              app.say(`Welcome, ${account}.`);
              back();
            }),
            [
              field("Name", "account", { autocomplete: "username", maxlength: 50 }),
              field("Password, at least 8 characters", "password", {
                type: "password",
                autocomplete: "new-password",
                minlength: 8,
              }),
            ],
            "Register and log in",
            problems.register,
          ),
        ),
        h(
          "details",
          { class: "card" },
          h("summary", {}, "Log in with a token"),
          h(
            "p",
            { class: "small soft" },
            "The server prints the operator's token at its first start.",
          ),
          form(
            "token-form",
            sent("token", async ({ token }) => {
              await useToken(token.trim());
              back();
            }),
            [field("Token", "token", { type: "password", autocomplete: "off" })],
            "Log in with it",
            problems.token,
          ),
        ),
      ),
    ),
  ];

  /** @param {import("../lib/types.js").Session} now */
  const known = (now) => [
    h(
      "h1",
      {},
      now.account,
      now.role === "operator" ? h("span", { class: "tag accent" }, "operator") : null,
      now.guest ? h("span", { class: "tag accent" }, "guest") : null,
    ),
    h(
      "div",
      { class: "card row" },
      h("a", { class: "button plain", href: path`#/player/${now.account}` }, "My games"),
      h(
        "button",
        {
          class: "plain",
          type: "button",
          id: "log-out",
          onclick: async () => {
            try {
              await logOut();
              app.say("You logged out.");
            } catch (problem) {
              app.say(sentence(problem), "bad");
            }
          },
        },
        now.guest ? "Log out and give up this account" : "Log out",
      ),
    ),
    now.guest ? claiming(now) : changing(),
    now.role === "operator" ? staff?.draw() : null,
  ];

  /**
   * The form with which a guest keeps the account.
   * @param {import("../lib/types.js").Session} now
   */
  const claiming = (now) =>
    h(
      "section",
      { class: "card", "aria-labelledby": "claim" },
      h("h2", { id: "claim" }, "Keep this account"),
      h(
        "p",
        {},
        "You are a guest, and only this browser knows you. ",
        "Choose a name and a password, and your games stay yours.",
      ),
      form(
        "claim-form",
        sent("claim", async ({ account, password }) => {
          await claim(account, password);
          app.say(`Welcome, ${account}. Your games are kept.`);
          back();
        }),
        [
          field("Name", "account", {
            autocomplete: "username",
            maxlength: 50,
            value: now.account,
          }),
          field("Password, at least 8 characters", "password", {
            type: "password",
            autocomplete: "new-password",
            minlength: 8,
          }),
        ],
        "Keep my account",
        problems.claim,
      ),
    );

  const changing = () =>
    h(
      "section",
      { class: "card", "aria-labelledby": "password" },
      h("h2", { id: "password" }, "Change your password"),
      form(
        "password-form",
        sent("password", async ({ old, fresh }) => {
          await changePassword(old, fresh);
          app.say("Your password is changed. All your other sessions are logged out.");
        }),
        [
          field("Current password", "old", { type: "password", autocomplete: "current-password" }),
          field("New password, at least 8 characters", "fresh", {
            type: "password",
            autocomplete: "new-password",
            minlength: 8,
          }),
        ],
        "Change password",
        problems.password,
      ),
    );

  function show() {
    if (gone) return;
    const now = session();
    if (now?.role === "operator" && !isAsked) askStaff();
    app.title(now ? now.account : "Log in");
    render(
      root,
      h(
        "div",
        { class: "stack", "data-key": now ? "known" : "visitor" },
        now ? known(now) : visitor(),
      ),
    );
  }

  show();
  sessions.addEventListener("session", show);
  return () => {
    gone = true;
    sessions.removeEventListener("session", show);
    // A visitor who leaves without logging in has changed their mind.
    if (!session()) takeIntended();
  };
}

/**
 * @param {string} id @param {(event: SubmitEvent) => void} onsubmit @param {Node[]} fields
 * @param {string} does @param {unknown} problem
 */
function form(id, onsubmit, fields, does, problem) {
  return h(
    "form",
    { id, onsubmit },
    fields,
    problem ? complaint(problem) : null,
    h("div", {}, h("button", {}, does)),
  );
}

/** @param {string} label @param {string} name @param {import("../lib/dom.js").Props} more */
function field(label, name, more) {
  return h("label", {}, label, h("input", { name, required: true, ...more }));
}
