// For operators: all accounts of the server, to find one, and a form that registers another.

import { get, post } from "../lib/api.js";
import { h } from "../lib/dom.js";
import { complaint, player } from "../lib/show.js";
import { counted } from "../lib/words.js";

/** @typedef {import("../lib/types.js").Account} Account */

/** How many are fetched with one request, and how many are listed at once. */
const [PAGE, LISTED_MAX] = [1_000, 50];

/** All accounts of the server, by name. */
async function everybody() {
  const all = /** @type {Account[]} */ ([]);
  for (let after = ""; ; ) {
    const page = await get(`/api/v1/accounts?limit=${PAGE}${after}`);
    all.push(...page.accounts);
    if (!page.next) return all;
    after = `&after=${encodeURIComponent(page.next)}`;
  }
}

/** The accounts, once they are fetched, and the search. */
export class Staff {
  /** @param {import("../lib/types.js").App} app @param {() => void} show draws the view again */
  constructor(app, show) {
    this.app = app;
    this.show = show;
    /** @type {Account[] | null} */
    this.all = null;
    this.search = "";
    /** @type {unknown} */
    this.problem = null;
    this.look();
  }

  async look() {
    try {
      this.all = await everybody();
    } catch (wrong) {
      this.problem = wrong;
    }
    this.show();
  }

  draw() {
    return [this.list(), this.registration()];
  }

  list() {
    const wanted = this.search.toLowerCase();
    const found = (this.all ?? []).filter(({ account }) => account.toLowerCase().includes(wanted));
    const beyond = found.length - LISTED_MAX;
    const oninput = (/** @type {Event} */ event) => {
      this.search = /** @type {HTMLInputElement} */ (event.target).value;
      this.show();
    };
    return h(
      "section",
      { class: "card operator", "aria-label": "Accounts", "data-key": "accounts" },
      h("h2", {}, this.all ? counted(this.all.length, "account") : "Accounts"),
      h(
        "p",
        {},
        h("input", {
          type: "search",
          placeholder: "Search accounts",
          "aria-label": "Search accounts",
          autocomplete: "off",
          oninput,
        }),
      ),
      h(
        "ul",
        { class: "chips" },
        found.slice(0, LISTED_MAX).map(({ account, kind, blacklisted }) =>
          h(
            "li",
            { "data-key": account },
            player(account, kind),
            blacklisted === null ? null : h("span", { class: "tag bad" }, "blacklisted"),
          ),
        ),
      ),
      beyond > 0 ? h("p", { class: "soft small" }, `and ${beyond} more; search for a name`) : null,
      this.all && !found.length ? h("p", { class: "soft" }, "No account has such a name.") : null,
    );
  }

  registration() {
    const onsubmit = async (/** @type {SubmitEvent} */ event) => {
      event.preventDefault();
      const form = /** @type {HTMLFormElement} */ (event.currentTarget);
      const { password, kind, account: name } = Object.fromEntries(new FormData(form));
      const account = String(name).trim();
      this.problem = null;
      try {
        await post("/api/v1/accounts", { account, password, kind });
        form.reset();
        this.app.say(`${account} is registered.`);
        await this.look();
      } catch (wrong) {
        this.problem = wrong;
        this.show();
      }
    };
    const field = (/** @type {string} */ label, /** @type {Node} */ input) =>
      h("label", {}, label, input);
    const text = { required: true, autocomplete: "off" };
    return h(
      "section",
      { class: "card operator", "aria-label": "Register an account", "data-key": "registration" },
      h("h2", {}, "Register an account for somebody"),
      h(
        "form",
        { id: "staff-form", onsubmit },
        field("Name", h("input", { ...text, name: "account", maxlength: 50 })),
        field(
          "Password, at least 8 characters",
          h("input", {
            ...text,
            name: "password",
            type: "password",
            minlength: 8,
            autocomplete: "new-password",
          }),
        ),
        field(
          "Plays as",
          h(
            "select",
            { name: "kind" },
            h("option", { value: "person" }, "a person"),
            h("option", { value: "program" }, "a program"),
          ),
        ),
        this.problem ? complaint(this.problem) : null,
        h("div", {}, h("button", {}, "Register the account")),
      ),
    );
  }
}
