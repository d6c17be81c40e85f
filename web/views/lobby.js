// Stands in until its view is written.
import { h, render } from "../lib/dom.js";
/** @type {import("../lib/types.js").Mount} */
export function mount(root, params, app) {
  app.title("lobby");
  render(root, h("h1", {}, "lobby"), h("p", {}, params.join(" / ")));
  return () => {};
}
