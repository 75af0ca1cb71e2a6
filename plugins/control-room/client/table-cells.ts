/**
 * Cells and rows of a table, written only where something has changed.
 */
import { element } from "../../ui-kit/client/elements.ts";

export const addButton = (cell: Element, press: (row: HTMLTableRowElement) => void) => {
  const made = element("button", { type: "button", class: "acts", hidden: true });
  made.addEventListener("click", () => {
    const row = cell.closest("tr");
    if (row !== null) press(row);
  });
  cell.append(made);
};

/** @returns whether it was another one */
export const put = (node: Element, text: string): boolean => {
  if (node.textContent === text) return false;
  // The text of a node that has one is replaced, not the node.
  const { firstChild } = node;
  if (firstChild instanceof Text && node.childNodes.length === 1) firstChild.data = text;
  else node.textContent = text;
  return true;
};

/** @returns whether it was another one */
export const showButton = (cell: Element, text: string): boolean => {
  const made = cell.firstElementChild as HTMLButtonElement;
  made.hidden = text === "";
  return put(made, text);
};

/** An empty text takes it away. */
export const setAttribute = (node: Element, name: string, text: string) => {
  if (text === "") node.removeAttribute(name);
  else if (node.getAttribute(name) !== text) node.setAttribute(name, text);
};

export const setHeight = (row: HTMLTableRowElement, px: number) => {
  const text = `${px}px`;
  if (row.style.height !== text) row.style.height = text;
  row.hidden = px === 0;
};
