// The way for others into a tournament: its address as a link to copy and as a QR code to show.

import { copied } from "../lib/clipboard.js";
import { h } from "../lib/dom.js";
import { qr } from "../lib/qr.js";

/**
 * @param {string} id @param {import("../lib/types.js").App} app
 */
export function sharing(id, app) {
  const address = `${location.origin}/#/tournament/${encodeURIComponent(id)}`;
  const copy = async () => {
    app.say((await copied(address)) ? "Copied: the link to this tournament." : address);
  };
  return h(
    "section",
    { class: "card sharing", "aria-label": "Invite players", "data-key": "sharing" },
    h("h2", {}, "Invite players"),
    h("p", {}, "Players scan this code or open the link, and sign up."),
    qr(address, `QR code of ${address}`),
    h("p", {}, h("code", {}, address)),
    h("button", { type: "button", class: "plain", onclick: copy }, "Copy the link"),
  );
}
