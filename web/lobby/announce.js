// A new tournament, announced by an operator.

import { post } from "../lib/api.js";
import { ask } from "../lib/ask.js";
import { h } from "../lib/dom.js";

/**
 * Asks for the settings of a tournament, and announces it.
 * @param {import("../lib/types.js").App} app @param {import("../lib/types.js").Games} games
 */
export async function announce(app, games) {
  const number = (
    /** @type {string} */ label,
    /** @type {string} */ name,
    /** @type {number} */ value,
    /** @type {number} */ min,
    /** @type {number} */ max,
  ) => h("label", {}, label, h("input", { name, type: "number", min, max, value, required: true }));
  const done = await ask({
    title: "New tournament",
    does: "Create it",
    fields: [
      h(
        "label",
        {},
        "Name",
        h("input", {
          name: "id",
          required: true,
          pattern: "[a-z0-9\\-]{1,60}",
          title: "a-z, 0-9 and -",
          autocomplete: "off",
        }),
      ),
      h(
        "label",
        {},
        "Preset",
        h(
          "select",
          { name: "preset" },
          games.presets.map((one) =>
            h("option", { value: one.preset }, `${one.preset}: ${one.about}`),
          ),
        ),
      ),
      number("Maximum number of players", "most", 8, 2, 1024),
      number("Minutes for sign-ups", "minutes", 10, 1, 10_000),
    ],
    act: (fields) => {
      const selection = {
        by: "sign-up",
        at_least: 2,
        at_most: Number(fields.get("most")),
        wait_ms: Number(fields.get("minutes")) * 60_000,
        second_wait_ms: 0,
        second_at_least: 2,
      };
      return post("/api/v1/tournaments", {
        id: fields.get("id"),
        preset: fields.get("preset"),
        selection,
      });
    },
  });
  if (done) app.say("The tournament is open for sign-ups.");
}
