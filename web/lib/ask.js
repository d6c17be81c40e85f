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
        await act(trimmed(form));
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

/**
 * The fields of a form without spaces around them: keyboards of phones add one after a word.
 * @param {HTMLFormElement} form
 */
export function trimmed(form) {
  const fields = new FormData();
  for (const [name, value] of new FormData(form))
    fields.append(name, typeof value === "string" ? value.trim() : value);
  return fields;
}

/** The reason field of every ruling, which is public. */
export const why = () =>
  h(
    "label",
    {},
    "Reason (public)",
    h("input", {
      name: "why",
      required: true,
      // Not only spaces.
      pattern: ".*\\S.*",
      title: "A few words that everybody can read",
      maxlength: 200,
      autocomplete: "off",
    }),
  );
