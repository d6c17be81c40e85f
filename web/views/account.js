// Stands in until its view is written.
import { h, render } from "../lib/dom.js";
/** @type {import("../lib/types.js").Mount} */
export function mount(root, params, app) {
  app.title("account");
  render(root, h("h1", {}, "account"), h("p", {}, params.join(" / ")));
  return () => {};
}
