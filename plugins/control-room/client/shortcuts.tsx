/**
 * Keys of the page, and the list of them.
 *
 * Invariants: no key does anything while someone writes in a field or a dialog is open; keys with Ctrl, Alt or Meta are
 * the browser's.
 */
import { Facts } from "../../ui-kit/client/controls.tsx";
import { isDialogOpen, type Question } from "./dialog.tsx";

export type Shortcut = { key: string; shown?: string; what: string; act: () => void };

const isWriting = ({ target }: Event) =>
  target instanceof HTMLTextAreaElement ||
  target instanceof HTMLSelectElement ||
  (target instanceof HTMLInputElement && !["checkbox", "range"].includes(target.type));

/** Returns the handler of keys; Escape in a field leaves it. */
export const keyHandler = (shortcuts: readonly Shortcut[]) => (event: KeyboardEvent) => {
  if (event.ctrlKey || event.metaKey || event.altKey || isDialogOpen()) return;
  if (isWriting(event)) {
    if (event.key === "Escape" && event.target instanceof HTMLElement) event.target.blur();
    return;
  }
  const found = shortcuts.find(({ key }) => key === event.key.toLowerCase());
  // On a button or a table, Space and Enter are theirs.
  if (found === undefined || (found.key === " " && event.target !== document.body)) return;
  event.preventDefault();
  found.act();
};

export const keyList = (shortcuts: readonly Shortcut[]): Question => {
  const rows = [
    ...shortcuts.map(({ key, shown = key.toUpperCase(), what }) => [shown, what] as const),
    ["↑ ↓ Enter", "move through a table, and open the selected row"],
    ["← → + − 0", "in a chart: pan, zoom, show all; End follows the present"],
  ] as const;
  return {
    title: "Keys",
    content: (
      <>
        <Facts facts={rows.map(([key, what]) => [<kbd key={key}>{key}</kbd>, what])} />
        <p class="soft">
          Exact figures are in the title of each shortened one. Times are local; profit is realised + unrealised − fees
          of own fills.
        </p>
      </>
    ),
  };
};
