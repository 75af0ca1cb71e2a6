/**
 * Dialogs: a question before something is done, a form, a page of help.
 *
 * Invariants: one at a time; Escape closes it and nothing is done; focus goes back to where it was; the effect is described above the
 * button that causes it; meanwhile the button is disabled, and a failure is shown in the dialog.
 */
import { button, element } from "../../ui-kit/client/elements.ts";

type Question = {
  title: string;
  content: readonly (Node | string)[];
  confirm?: string;
  danger?: boolean;
  act?: () => Promise<string | undefined>;
};

const openOne = () => document.querySelector<HTMLDialogElement>("dialog[open]");

/** Returns false as soon as the dialog is closed, although its close event comes later. */
export const isDialogOpen = () => openOne() !== null;

/** Opens a dialog with a question. `act` executes the action and returns the problem in words, or nothing. */
export const openDialog = ({ title, content, confirm, danger = false, act }: Question) => {
  openOne()?.close();
  const said = element("p", { class: "warn", role: "alert", hidden: true });
  const dialog = element("dialog", { "aria-label": title });
  const close = button(act === undefined ? "Close" : "Cancel", act === undefined ? "Close" : "Cancel", () =>
    dialog.close(),
  );
  const form = element("form", { method: "dialog" }, element("h2", {}, title), ...content, said);
  const buttons = element("div", { class: "answers" }, close);
  if (act !== undefined && confirm !== undefined) {
    const agree = element("button", { type: "submit", class: danger ? "danger" : "primary" }, confirm);
    buttons.append(agree);
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      void answer(dialog, agree, said, act);
    });
  }
  form.append(buttons);
  dialog.append(form);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.showModal();
  // The field to fill in has the focus; without one it is the button that does nothing.
  const field = form.querySelector("input, select, textarea") as HTMLElement | null;
  (field ?? buttons.querySelector(".danger, .primary") ?? close).focus();
};

const answer = async (
  dialog: HTMLDialogElement,
  agree: HTMLButtonElement,
  said: HTMLElement,
  act: () => Promise<string | undefined>,
) => {
  agree.disabled = true;
  said.hidden = true;
  const words = agree.textContent;
  agree.textContent = "Working …";
  const problem = await act().catch((error) => (error instanceof Error ? error.message : String(error)));
  agree.disabled = false;
  agree.textContent = words;
  if (problem === undefined) dialog.close();
  else {
    said.textContent = problem;
    said.hidden = false;
  }
};
