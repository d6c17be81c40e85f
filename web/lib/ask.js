// Questions in a dialog. Nothing happens before they are answered; Escape cancels.

import { h } from "./dom.js";
import { complaint } from "./show.js";

/**
 * Asks, and carries out the answer; the dialog stays open while that fails.
 * @param {object} question
 * @param {string} question.title
 * @param {string} [question.tells] what will happen
 * @param {string} question.does what the button says
 * @param {Node[]} question.fields
 * @param {(fields: FormData) => Promise<unknown>} question.act
 * @returns {Promise<boolean>} whether it was done
 */
export function ask({ title, tells, does, fields, act }) {
  return new Promise((resolve) => {
    let done = false;
    const wrong = h("div", {});
    const button = h("button", {}, does);
    const cancel = h(
      "button",
      { type: "button", class: "quiet", onclick: () => dialog.close() },
      "Cancel",
    );
    const form = h(
      "form",
      {},
      tells ? h("p", { class: "soft" }, tells) : null,
      fields,
      wrong,
      h("div", { class: "row" }, button, cancel),
    );
    form.onsubmit = async (event) => {
      event.preventDefault();
      if (button.disabled) return;
      button.disabled = true;
      try {
        await act(new FormData(form));
        done = true;
        dialog.close();
      } catch (problem) {
        wrong.replaceChildren(complaint(problem));
      }
      button.disabled = false;
    };
    const dialog = h("dialog", { "aria-labelledby": "ask" }, h("h2", { id: "ask" }, title), form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

/** The reason field of every ruling, which is public. */
export const why = () =>
  h(
    "label",
    {},
    "Reason (public)",
    h("input", { name: "why", required: true, maxlength: 200, autocomplete: "off" }),
  );
