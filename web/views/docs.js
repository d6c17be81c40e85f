// Where to read on: the documentation this server was built with, and its interface.

import { h, render } from "../lib/dom.js";

/** @type {[string, string, string][]} */
const PAGES = [
  [
    "/docs/native.md",
    "How players speak",
    "The native protocol over TCP and WebSocket, with a transcript.",
  ],
  [
    "/docs/http.md",
    "The HTTP interface",
    "Every route, with examples; all this page does is done with it.",
  ],
  ["/docs/log.md", "Logs and luck", "What is written down, and how dice and decks can be checked."],
  ["/docs/receipt.md", "Receipts", "What a player keeps, to see whether a log was changed."],
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
        " brings one here, ",
        h("code", {}, "agon play"),
        " brings you, ",
        h("code", {}, "agon watch"),
        " shows what goes on in a terminal.",
      ),
      h(
        "ul",
        {},
        PAGES.map(([href, name, what]) => h("li", {}, h("a", { href }, name), ": ", what)),
      ),
    ),
  );
  return () => {};
}
