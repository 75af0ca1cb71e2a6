/**
 * A table of any length that draws only the rows in sight: sorted by any column, walked by arrow keys, one row chosen.
 *
 * Invariants: rows have one height, so that what is above is known without being drawn; a cell is touched only where its text changes;
 * sorting is stable; the row that is walked to is known by its key, and stays while others come and go.
 */
import { element } from "../../../report/html/client/elements.js";

/**
 * A column: `value` is what it is sorted by, `wide` leaves it out on narrow screens, `narrow` is its width there, `grow` takes the room that is left.
 * @template R
 * @typedef {{ name: string, text: (row: R) => string, value?: (row: R) => number | string, title?: (row: R) => string, tone?: (row: R) => string, isText?: boolean, wide?: boolean, width: number, narrow?: number, grow?: boolean, label?: string }} TableColumn
 */
/**
 * @template R
 * @typedef {{ label: string, columns: readonly TableColumn<R>[], keyOf: (row: R) => string, empty: () => string, chosen?: (row: R) => void, sort?: { column: number, down: boolean }, rowTone?: (row: R) => string, most?: number }} TableParts
 */

const rowPx = 30;
const spare = 6;
let tables = 0;

/** @template R */
export class VirtualTable {
  node;
  #parts;
  #scroller;
  #body = element("tbody", {});
  #above = element("tr", { "aria-hidden": "true" }, element("td", {}));
  #below = element("tr", { "aria-hidden": "true" }, element("td", {}));
  #empty = element("p", { class: "empty", hidden: true });
  /** @type {HTMLTableCellElement[]} */
  #heads;
  /** @type {HTMLTableRowElement[]} */
  #pool = [];
  /** @type {R[]} */
  #given = [];
  /** @type {R[]} */
  #rows = [];
  #by;
  #down;
  #current = "";
  #id = `table${++tables}`;
  #table;

  /** @param {TableParts<R>} parts */
  constructor(parts) {
    this.#parts = parts;
    this.#by = parts.sort?.column ?? -1;
    this.#down = parts.sort?.down ?? false;
    this.#heads = parts.columns.map((column, index) => this.#headOf(column, index));
    const columns = parts.columns.map(({ width, narrow = width, grow = false, wide = false }) => {
      const made = element("col", { class: wide ? "wide" : "" });
      if (grow) return made;
      made.style.setProperty("--w", `${width}px`);
      made.style.setProperty("--n", `${narrow}px`);
      return made;
    });
    this.#body.append(this.#above, this.#below);
    this.#table = element(
      "table",
      { role: "grid", "aria-label": parts.label, class: "rows" },
      element("colgroup", {}, ...columns),
      element("thead", {}, element("tr", {}, ...this.#heads)),
      this.#body,
    );
    const [least, narrowest] = leastWidths(parts.columns);
    this.#table.style.setProperty("--least", `${least}px`);
    this.#table.style.setProperty("--narrow", `${narrowest}px`);
    this.#scroller = element(
      "div",
      { class: "vscroll", tabindex: "0", role: "region", "aria-label": parts.label },
      this.#table,
      this.#empty,
    );
    if (parts.most !== undefined) this.#scroller.style.maxHeight = `${rowPx * (parts.most + 1) + 4}px`;
    this.node = this.#scroller;
    this.#scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.#scroller.addEventListener("keydown", (event) => this.#takeKey(event));
    this.#body.addEventListener("click", ({ target }) => {
      const row = target instanceof Element && target.closest("button") === null ? target.closest("tr") : null;
      const index = Number(row?.dataset["index"] ?? -1);
      if (index >= 0) this.#walkTo(index, true);
    });
  }

  /** Rows in sight of the filters. */
  get count() {
    return this.#rows.length;
  }

  /** @param {R[]} rows */
  set(rows) {
    this.#given = rows;
    this.#sort();
    this.draw();
  }

  /** The row of a key is marked as the one that is shown elsewhere; an empty text marks none. @param {string} key */
  mark(key) {
    this.#current = key;
    this.draw();
  }

  /** Draws what is in sight now. */
  draw() {
    const rows = this.#rows;
    const { clientHeight, scrollTop } = this.#scroller;
    const first = Math.max(0, Math.min(rows.length - 1, Math.floor(scrollTop / rowPx) - spare));
    const room = Math.ceil((clientHeight || 600) / rowPx) + 2 * spare;
    const last = Math.min(rows.length, first + room);
    const count = Math.max(0, last - first);
    while (this.#pool.length < count) {
      const row = element("tr", {}, ...this.#parts.columns.map((column) => element("td", { class: classOf(column) })));
      this.#pool.push(row);
      this.#below.before(row);
    }
    while (this.#pool.length > count) this.#pool.pop()?.remove();
    setHeight(this.#above, first * rowPx);
    setHeight(this.#below, (rows.length - last) * rowPx);
    for (const [place, row] of this.#pool.entries()) this.#fill(row, first + place);
    this.#table.setAttribute("aria-rowcount", String(rows.length + 1));
    const isEmpty = rows.length === 0;
    if (this.#empty.hidden === isEmpty) this.#empty.hidden = !isEmpty;
    if (isEmpty) put(this.#empty, this.#parts.empty());
    const index = this.#current === "" ? -1 : rows.findIndex((row) => this.#parts.keyOf(row) === this.#current);
    if (index >= first && index < last) this.#scroller.setAttribute("aria-activedescendant", `${this.#id}-${index}`);
    else this.#scroller.removeAttribute("aria-activedescendant");
  }

  /** @param {HTMLTableRowElement} tr @param {number} index */
  #fill(tr, index) {
    const row = /** @type {R} */ (this.#rows[index]);
    const { columns, keyOf, rowTone } = this.#parts;
    const isCurrent = keyOf(row) === this.#current;
    if (tr.dataset["index"] !== String(index)) {
      tr.dataset["index"] = String(index);
      tr.id = `${this.#id}-${index}`;
      tr.setAttribute("aria-rowindex", String(index + 2));
    }
    if (tr.getAttribute("aria-selected") !== String(isCurrent)) tr.setAttribute("aria-selected", String(isCurrent));
    const tone = rowTone?.(row) ?? "";
    if (tr.className !== tone) tr.className = tone;
    for (const [place, column] of columns.entries()) {
      const cell = /** @type {HTMLTableCellElement} */ (tr.cells[place]);
      put(cell, column.text(row));
      const look = column.tone === undefined ? undefined : `${classOf(column)} ${column.tone(row)}`;
      if (look !== undefined && cell.className !== look) cell.className = look;
      const title = column.title?.(row) ?? (column.isText ? column.text(row) : "");
      if (cell.title !== title) cell.title = title;
    }
  }

  /** @param {TableColumn<R>} column @param {number} index */
  #headOf(column, index) {
    const head = element("th", { scope: "col", class: classOf(column), "aria-sort": "none" });
    if (column.value === undefined) {
      head.append(column.name);
      return head;
    }
    const sort = element("button", { type: "button", title: `sort by ${column.label ?? column.name}` }, column.name);
    sort.addEventListener("click", () => {
      this.#down = this.#by === index ? !this.#down : column.isText !== true;
      this.#by = index;
      this.#sort();
      this.draw();
    });
    head.append(sort);
    return head;
  }

  #sort() {
    const column = this.#parts.columns[this.#by];
    for (const [index, head] of this.#heads.entries()) {
      const order = index === this.#by ? (this.#down ? "descending" : "ascending") : "none";
      if (head.getAttribute("aria-sort") !== order) head.setAttribute("aria-sort", order);
    }
    this.#rows = this.#given;
    if (column?.value === undefined) return;
    const { value } = column;
    const keys = this.#given.map((row, index) => ({ row, key: value(row), index }));
    const sign = this.#down ? -1 : 1;
    keys.sort((a, b) => (a.key < b.key ? -sign : a.key > b.key ? sign : a.index - b.index));
    this.#rows = keys.map(({ row }) => row);
  }

  /** @param {number} index @param {boolean} choose */
  #walkTo(index, choose) {
    const row = this.#rows[index];
    if (row === undefined) return;
    this.#current = this.#parts.keyOf(row);
    const [top, bottom] = [index * rowPx, (index + 2) * rowPx];
    const { scrollTop, clientHeight } = this.#scroller;
    if (top < scrollTop) this.#scroller.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.#scroller.scrollTop = bottom - clientHeight;
    this.draw();
    if (choose) this.#parts.chosen?.(row);
  }

  /** @param {KeyboardEvent} event */
  #takeKey(event) {
    if (event.target !== this.#scroller || event.ctrlKey || event.metaKey || event.altKey) return;
    const at = this.#rows.findIndex((row) => this.#parts.keyOf(row) === this.#current);
    const page = Math.max(1, Math.floor(this.#scroller.clientHeight / rowPx) - 2);
    const last = this.#rows.length - 1;
    const to = {
      ArrowDown: Math.min(last, at + 1),
      ArrowUp: Math.max(0, at - 1),
      PageDown: Math.min(last, at + page),
      PageUp: Math.max(0, at - page),
      Home: 0,
      End: last,
    }[event.key];
    if (to !== undefined) this.#walkTo(to, false);
    else if ((event.key === "Enter" || event.key === " ") && at >= 0) this.#walkTo(at, true);
    else return;
    event.preventDefault();
  }
}

/** What all columns need, and what those of a narrow screen do. @param {readonly { width: number, narrow?: number, wide?: boolean }[]} columns */
const leastWidths = (columns) => [
  columns.reduce((sum, { width }) => sum + width, 0),
  columns.reduce((sum, { width, narrow = width, wide = false }) => sum + (wide ? 0 : narrow), 0),
];

/** @param {{ isText?: boolean, wide?: boolean }} column */
const classOf = ({ isText = false, wide = false }) => `${isText ? "" : "n"}${wide ? " wide" : ""}`;

/** @param {Element} node @param {string} text */
export const put = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
};

/** @param {HTMLTableRowElement} row @param {number} px */
const setHeight = (row, px) => {
  const text = `${px}px`;
  if (row.style.height !== text) row.style.height = text;
  row.hidden = px === 0;
};
