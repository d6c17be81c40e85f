// Rulings of operators, each with a reason: about a tournament, a match or a game.

import { get, path, post } from "./api.js";
import { ask, why } from "./ask.js";
import { h } from "./dom.js";
import { sentence } from "./show.js";

/** @typedef {import("./types.js").App} App */
/** @typedef {import("./types.js").Pairing} Pairing */

/**
 * The orders for a tournament.
 * @type {Record<string, { does: string, tells: string, done: string }>} */
const ORDERS = {
  start: {
    does: "Start now",
    tells: "The tournament starts with the players who signed up.",
    done: "The tournament starts.",
  },
  "call-off": {
    does: "Cancel it",
    tells: "The tournament will not be played.",
    done: "The tournament is cancelled.",
  },
  pause: {
    does: "Pause",
    tells:
      "Until you resume it, nobody is asked and no clock runs. You can make rulings meanwhile.",
    done: "The tournament is paused.",
  },
  resume: {
    does: "Resume",
    tells: "Rulings take effect now and cannot be undone afterwards.",
    done: "The tournament continues.",
  },
};

/**
 * A button for an order about a tournament.
 * @param {App} app @param {string} id @param {keyof typeof ORDERS} order
 */
export function orderButton(app, id, order) {
  const { does, tells, done } = ORDERS[order];
  return button(
    app,
    does,
    order === "call-off" ? "bad" : order === "start" || order === "resume" ? "" : "plain",
    done,
    {
      title: `${does}: ${id}`,
      tells,
      does,
      fields: [why()],
      act: (fields) =>
        post(`${path`/api/v1/tournaments/${id}`}/${order}`, { why: fields.get("why") }),
    },
  );
}

/**
 * A button that ends a paused tournament.
 * @param {App} app @param {string} id @param {string[]} names
 */
export function awardButton(app, id, names) {
  return button(app, "End it now", "plain", "The tournament is over.", () => ({
    title: `End ${id} now`,
    tells:
      "Open matches become void. The ticked players win. Without a tick it counts for nobody.",
    does: "End the tournament",
    fields: [winners(names), why()],
    act: (fields) =>
      post(`${path`/api/v1/tournaments/${id}`}/award`, {
        winners: fields.getAll("winner"),
        why: fields.get("why"),
      }),
  }));
}

/**
 * A button that withdraws a player from a tournament.
 * @param {App} app @param {string} id @param {string[]} names
 */
export function withdrawButton(app, id, names) {
  if (names.length === 0) return null;
  return button(app, "Withdraw a player", "plain", "The player is withdrawn.", () => ({
    title: `Withdraw a player from ${id}`,
    tells: "In a running tournament the player forfeits all remaining matches.",
    does: "Withdraw the player",
    fields: [
      h(
        "label",
        {},
        "Player",
        h(
          "select",
          { name: "player" },
          names.map((name) => h("option", { value: name }, name)),
        ),
      ),
      why(),
    ],
    act: (fields) =>
      post(`${path`/api/v1/tournaments/${id}`}/withdraw`, {
        player: fields.get("player"),
        why: fields.get("why"),
      }),
  }));
}

/**
 * A button that enters a player into a running tournament.
 * @param {App} app @param {string} id
 */
export function enterButton(app, id) {
  return button(app, "Enter a player", "plain", "The player is in the tournament.", {
    title: `Enter a player into ${id}`,
    tells: "The player is paired from the next round on, if the format allows that.",
    does: "Enter the player",
    fields: [
      h(
        "label",
        {},
        "Player",
        h("input", {
          name: "player",
          required: true,
          // Not only spaces.
          pattern: ".*\\S.*",
          title: "The name of a player",
          maxlength: 50,
          autocomplete: "off",
        }),
      ),
      why(),
    ],
    act: (fields) =>
      post(`${path`/api/v1/tournaments/${id}`}/enter`, {
        player: fields.get("player"),
        why: fields.get("why"),
      }),
  });
}

/** @param {string[]} names */
function winners(names) {
  const line = (/** @type {string} */ name) =>
    h(
      "label",
      { class: "line" },
      h("input", { type: "checkbox", name: "winner", value: name }),
      name,
    );
  return h("fieldset", {}, h("legend", {}, "Winners"), names.map(line));
}

/**
 * The buttons for rulings about a match, in a pause.
 * @param {App} app @param {string} id @param {Pairing} pairing
 */
export function matchButtons(app, id, pairing) {
  const at = path`/api/v1/tournaments/${id}/matches/${pairing.match}`;
  const undoable = pairing.overridden || pairing.replays;
  return h(
    "div",
    { class: "row" },
    button(app, "Override", "plain", "The new result counts when the tournament resumes.", () => ({
      title: `Override the result of ${pairing.match}`,
      tells: "The ticked players win. If you tick nobody, the match is void.",
      does: "Override",
      fields: [winners(pairing.players), why()],
      act: (fields) =>
        post(`${at}/override`, { winners: fields.getAll("winner"), why: fields.get("why") }),
    })),
    pairing.over
      ? button(app, "Replay", "plain", "The match starts again when the tournament resumes.", {
          title: `Play ${pairing.match} again`,
          does: "Replay it",
          fields: [why()],
          act: (fields) => post(`${at}/replay`, { why: fields.get("why") }),
        })
      : button(
          app,
          "Void a game",
          "plain",
          "The ruling counts when the tournament resumes.",
          () => voiding(at, pairing),
        ),
    undoable
      ? button(app, "Undo", "plain", "The ruling is undone.", {
          title: `Undo the ruling about ${pairing.match}`,
          does: "Undo the ruling",
          fields: [why()],
          act: (fields) => post(`${at}/undo`, { why: fields.get("why") }),
        })
      : null,
  );
}

/**
 * Asks which game to void, or to count again.
 * @param {string} at @param {Pairing} pairing
 */
async function voiding(at, pairing) {
  const shown = await get(at);
  /** @type {{ game: number, voided?: unknown }[]} */
  const games = [...(shown.match.games ?? []), ...(shown.in_progress ? [shown.in_progress] : [])];
  const option = (/** @type {{ game: number, voided?: unknown }} */ { game, voided }) =>
    h(
      "option",
      { value: `${game}/${voided ? "undo" : "void"}` },
      voided ? `game ${game}: let it count again` : `game ${game}: void it`,
    );
  return {
    title: `Games of ${pairing.match}`,
    does: "Apply",
    fields: [h("label", {}, "Game", h("select", { name: "which" }, games.map(option))), why()],
    act: (/** @type {FormData} */ fields) =>
      post(`${at}/games/${fields.get("which")}`, { why: fields.get("why") }),
  };
}

/**
 * @typedef {Parameters<typeof ask>[0]} Question
 * @param {App} app @param {string} does @param {string} look @param {string} done
 * @param {Question | (() => Question | Promise<Question>)} question
 */
function button(app, does, look, done, question) {
  const onclick = async () => {
    try {
      const asked = typeof question === "function" ? await question() : question;
      if (await ask(asked)) app.say(done);
    } catch (problem) {
      app.say(sentence(problem), "bad");
    }
  };
  return h("button", { type: "button", class: look, onclick }, does);
}
