/**
 * Keys of the page, and the list of them.
 *
 * Invariants: no key does anything while someone writes in a field or a dialog is open; keys with Ctrl, Alt or Meta are the browser's.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { isDialogOpen, openDialog } from "./dialog.ts";

export type Shortcut = { key: string; shown?: string; what: string; act: () => void };

const isWriting = ({ target }: Event) =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && !["checkbox", "range"].includes(target.type));

/** @param letGo - true where it closed something */
export const followKeys = (shortcuts: readonly Shortcut[], letGo: () => boolean) => {
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isDialogOpen()) return;
    if (event.key === "Escape") {
      if (isWriting(event) && event.target instanceof HTMLElement) event.target.blur();
      else if (letGo()) event.preventDefault();
      return;
    }
    if (isWriting(event)) return;
    const found = shortcuts.find(({ key }) => key === event.key.toLowerCase());
    // On a button or a table, Space and Enter are theirs.
    if (found === undefined || (found.key === " " && event.target !== document.body)) return;
    event.preventDefault();
    found.act();
  });
};

export const showKeys = (shortcuts: readonly Shortcut[]) => {
  const rows = [
    ...shortcuts.map(({ key, shown = key.toUpperCase(), what }) => [shown, what]),
    ["↑ ↓ Enter", "walk through a table, and open what is chosen"],
    ["← → + − 0", "in a chart: pan, zoom, show all; End follows the present"],
    ["Esc", "close what is open"],
  ];
  openDialog({
    title: "Keys",
    content: [
      element(
        "dl",
        { class: "facts" },
        ...rows.flatMap(([key = "", what = ""]) => [
          element("dt", {}, element("kbd", {}, key)),
          element("dd", {}, what),
        ]),
      ),
      element(
        "p",
        { class: "soft" },
        "Exact figures are in the title of each shortened one. Times are local; profit is realised + unrealised − fees of own fills.",
      ),
    ],
  });
};
