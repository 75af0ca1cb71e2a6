/**
 * Dialogs: a question before something is done, a form, a page of help.
 *
 * Invariants: one at a time; Escape closes it and nothing is done; focus goes back to where it was; the effect is
 * described above the button that causes it; meanwhile the button is disabled, and a failure is shown in the dialog.
 */
import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { Button } from "../../ui-kit/client/controls.tsx";

export type Question = {
  title: string;
  content: ComponentChildren;
  confirm?: string;
  danger?: boolean;
  /** Executes the action with the fields of the form, and returns the problem in words, or nothing. */
  act?: (fields: FormData) => Promise<string | undefined>;
};

/** Returns false as soon as the dialog is closed, although its close event comes later. */
export const isDialogOpen = () => document.querySelector("dialog[open]") !== null;

export const Dialog = ({ question, closed }: { question: Question; closed: () => void }) => {
  const { title, content, confirm, danger = false, act } = question;
  const dialog = useRef<HTMLDialogElement>(null);
  const problem = useSignal("");
  const isWorking = useSignal(false);
  useLayoutEffect(() => {
    const node = dialog.current;
    node?.showModal();
    // The field to fill in has the focus; without one it is the button that confirms, or the one that does nothing.
    const first = ["input, select, textarea", ".danger, .primary", ".answers button"]
      .map((selector) => node?.querySelector<HTMLElement>(selector))
      .find((found) => found);
    first?.focus();
    return () => node?.close();
  }, []);
  const close = () => dialog.current?.close();
  const answer = async (fields: FormData) => {
    isWorking.value = true;
    problem.value = "";
    const told = await act?.(fields).catch((error) => (error instanceof Error ? error.message : String(error)));
    isWorking.value = false;
    if (told === undefined) close();
    else problem.value = told;
  };
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog without being asked to.
    <dialog
      ref={dialog}
      aria-label={title}
      onClose={closed}
      onClick={({ target }) => target === dialog.current && close()}
    >
      <form
        method="dialog"
        onSubmit={(event) => {
          if (act === undefined) return;
          event.preventDefault();
          void answer(new FormData(event.currentTarget));
        }}
      >
        <h2>{title}</h2>
        {content}
        <p class="warn" role="alert" hidden={problem.value === ""}>
          {problem}
        </p>
        <div class="answers">
          <Button text={act === undefined ? "Close" : "Cancel"} act={close} />
          {act !== undefined && confirm !== undefined && (
            <button type="submit" class={danger ? "danger" : "primary"} disabled={isWorking.value}>
              {isWorking.value ? "Working …" : confirm}
            </button>
          )}
        </div>
      </form>
    </dialog>
  );
};
