// The queues of casual games: how many players are still missing, and a house player for a user who
// has waited a while.

import { asSomeone, casual, del, get, path, post, session } from "../lib/api.js";
import { h, render } from "../lib/dom.js";
import { capital } from "../lib/show.js";

/** How often the element asks who waits. */
const ASK_MS = 2_000;
/** After how long it offers a house player. */
const OFFER_MS = 15_000;
/** The house player it offers. */
const HOUSE = "house:level-2";
const KEY = "agon.waiting";

/** @typedef {{ queue: string, game: string, since: number, needed: number }} Wait */

/**
 * Since when this browser waits in a queue, if it does.
 * @returns {Wait | null}
 */
function waited() {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? "null");
  } catch {
    return null;
  }
}

/**
 * Joins a queue, as a guest if need be.
 * @param {{ preset: string, game: string, queue_players?: number }} of
 */
export async function join({ preset, game, queue_players: needed }) {
  await asSomeone(() => post(path`/api/v1/queues/${preset}`));
  const wait = { queue: preset, game, since: Date.now(), needed };
  sessionStorage.setItem(KEY, JSON.stringify(wait));
}

/** @param {string} queue */
export async function leave(queue) {
  sessionStorage.removeItem(KEY);
  await del(path`/api/v1/queues/${queue}`);
}

/**
 * How many players are missing in a queue, in words.
 * @param {number} waiting @param {number} needed
 */
export function missing(waiting, needed) {
  if (!waiting) return `Nobody waits yet, ${needed} players needed`;
  const more = Math.max(1, needed - waiting);
  return `${waiting} waiting, ${more} more ${more === 1 ? "player" : "players"} needed`;
}

/** An element that shows the user's wait, wherever the user waits. It is empty otherwise. */
class Waiting extends HTMLElement {
  connectedCallback() {
    clearInterval(this.timer);
    this.timer = setInterval(() => this.look(), ASK_MS);
    this.look();
  }

  disconnectedCallback() {
    clearInterval(this.timer);
  }

  async look() {
    const wait = waited();
    const me = session()?.account;
    if (!wait || !me) return render(this);
    try {
      const { players } = await get(path`/api/v1/queues/${wait.queue}`);
      // A user who is no longer in the queue plays, or left.
      if (!players.includes(me)) sessionStorage.removeItem(KEY);
      this.draw(players.includes(me) ? wait : null, players);
    } catch {
      // The next look tries again.
    }
  }

  /** @param {Wait | null} wait @param {string[]} players */
  draw(wait, players) {
    if (!wait) return render(this);
    const { queue, game, since, needed } = wait;
    const act = (/** @type {() => Promise<unknown>} */ what) => async () => {
      try {
        await what();
      } finally {
        this.look();
      }
    };
    const house = async () => {
      const me = session()?.account;
      if (!me) return;
      await leave(queue);
      await casual(game, [me, HOUSE]);
      location.hash = "#/play";
    };
    const late = Date.now() - since > OFFER_MS;
    render(
      this,
      h(
        "div",
        { class: "card call", role: "status" },
        h("h2", {}, `You wait for a game of ${capital(game)}`),
        h("p", {}, `${missing(new Set(players).size, needed)}: your game starts by itself.`),
        late ? h("p", {}, "Nobody else has come yet. A house player is free now.") : null,
        h(
          "div",
          { class: "row" },
          h(
            "button",
            { type: "button", class: late ? "" : "plain", onclick: act(house) },
            "Play a house player instead",
          ),
          h(
            "button",
            { type: "button", class: "quiet", onclick: act(() => leave(queue)) },
            "Leave the queue",
          ),
        ),
      ),
    );
  }
}

customElements.define("agon-waiting", Waiting);

/** The element that shows the user's wait. */
export function waiting() {
  const element = document.createElement("agon-waiting");
  element.setAttribute("data-key", "waiting");
  return element;
}
