/**
 * Cells and rows of a table, written only where something has changed.
 */
import { element } from "../../ui-kit/client/elements.js";

/** @param {Element} cell @param {(row: HTMLTableRowElement) => void} press */
export const addButton = (cell, press) => {
  const made = element("button", { type: "button", class: "acts", hidden: true });
  made.addEventListener("click", () => {
    const row = cell.closest("tr");
    if (row !== null) press(row);
  });
  cell.append(made);
};

/** @param {Element} node @param {string} text @returns {boolean} whether it was another one */
export const put = (node, text) => {
  if (node.textContent === text) return false;
  // The text of a node that has one is replaced, not the node.
  const { firstChild } = node;
  if (firstChild instanceof Text && node.childNodes.length === 1) firstChild.data = text;
  else node.textContent = text;
  return true;
};

/** @param {Element} cell @param {string} text @returns {boolean} whether it was another one */
export const showButton = (cell, text) => {
  const made = /** @type {HTMLButtonElement} */ (cell.firstElementChild);
  made.hidden = text === "";
  return put(made, text);
};

/** An empty text takes it away. @param {Element} node @param {string} name @param {string} text */
export const setAttribute = (node, name, text) => {
  if (text === "") node.removeAttribute(name);
  else if (node.getAttribute(name) !== text) node.setAttribute(name, text);
};

/** @param {HTMLTableRowElement} row @param {number} px */
export const setHeight = (row, px) => {
  const text = `${px}px`;
  if (row.style.height !== text) row.style.height = text;
  row.hidden = px === 0;
};
