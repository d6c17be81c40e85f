// Further reading: the documentation that this server was built with, and its interface.

import { h, render } from "../lib/dom.js";
import { outside } from "../lib/show.js";

/** @type {[string, string, string][]} */
const PAGES = [
  [
    "/docs/native.md",
    "The native protocol",
    "How a program plays: messages over TCP and WebSocket, with a transcript.",
  ],
  [
    "/docs/http.md",
    "The HTTP interface",
    "Every route, with examples. This page uses nothing else.",
  ],
  ["#/formats", "Which format?", "Simulate formats for players of given strength."],
  ["/docs/log.md", "Logs and luck", "The format of the log, and how to check dice and cards."],
  ["/docs/receipt.md", "Receipts", "A player's own record, to detect a changed log."],
  ["/docs/operate.md", "Operating a server", "Settings, rulings, monitoring, backup and restore."],
  ["/api/v1/openapi.json", "OpenAPI", "The HTTP interface for machines."],
  ["/metrics", "Metrics", "Counters for Prometheus."],
];

/** @type {import("../lib/types.js").Mount} */
export function mount(root, _params, app) {
  app.title("Documentation");
  render(
    root,
    h("h1", {}, "Documentation"),
    h(
      "div",
      { class: "card" },
      h(
        "p",
        {},
        "Programs connect over TCP or WebSocket and speak JSON lines. ",
        h("code", {}, "agon join"),
        " connects a program, ",
        h("code", {}, "agon play"),
        " lets you play in a terminal, ",
        h("code", {}, "agon watch"),
        " shows live games there.",
      ),
      h(
        "ul",
        {},
        PAGES.map(([href, name, what]) => {
          const link = href.startsWith("#") ? h("a", { href }, name) : outside(href, name);
          return h("li", {}, link, ": ", what);
        }),
      ),
    ),
  );
  return () => {};
}
