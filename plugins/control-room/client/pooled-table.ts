/**
 * A table of any length that draws only the visible rows: sorted by any column, walked by arrow keys, one row chosen.
 *
 * Invariants: rows have one height, so that what is above is known without being drawn, and each is laid out by itself; a cell is touched only where its text changes;
 * rows that have come are written over several frames where they change many cells, what a person does is shown at once; sizes are read
 * when they change, never while drawing; sorting is stable; the row that is walked to is known by its key, and stays while others come
 * and go.
 */
import { element } from "../../ui-kit/client/elements.ts";
import { inTurn, noTurn } from "./browser-clock.ts";
import { classOf, leastWidths, narrowed, tracksOf } from "./column-widths.ts";
import { addButton, put, setAttribute, setHeight, showButton } from "./table-cells.ts";

/**
 * A column: `value` is what it is sorted by, `wide` leaves it out on narrow screens, `narrow` is its width there, `grow` takes the room that is left;
 * with `press` its text is that of a button, and no text no button.
 */
export type TableColumn<R> = {
  name: string;
  text: (row: R) => string;
  press?: (row: R) => void;
  value?: (row: R) => number | string;
  title?: (row: R) => string;
  tone?: (row: R) => string;
  isText?: boolean;
  wide?: boolean;
  width: number;
  narrow?: number;
  grow?: boolean;
  label?: string;
};
type TableParts<R> = {
  label: string;
  columns: readonly TableColumn<R>[];
  keyOf: (row: R) => string;
  empty: () => string;
  chosen?: (row: R) => void;
  sort?: { column: number; down: boolean };
  rowTone?: (row: R) => string;
  most?: number;
};

const rowPx = 30;
const spare = 3;
/** Cells that may change in one frame: their layout and paint take about as long as writing them. */
const cellsMax = 90;

export class VirtualTable<R> {
  node;
  #parts;
  #scroller;
  #body = element("tbody", { role: "rowgroup" });
  #above = element("tr", { "aria-hidden": "true" }, element("td", {}));
  #below = element("tr", { "aria-hidden": "true" }, element("td", {}));
  #empty = element("p", { class: "empty", hidden: true });
  #heads: HTMLTableCellElement[];
  #pool: HTMLTableRowElement[] = [];
  /** Row shown by each of them. */
  #shown: WeakMap<HTMLTableRowElement, R> = new WeakMap();
  #given: R[] = [];
  #rows: R[] = [];
  #by;
  #down;
  #current = "";
  #scrolled = 0;
  #height = 0;
  #id;
  #table;

  constructor(parts: TableParts<R>) {
    this.#parts = parts;
    this.#id = parts.label.replaceAll(/\W+/g, "-");
    this.#by = parts.sort?.column ?? -1;
    this.#down = parts.sort?.down ?? false;
    this.#heads = parts.columns.map((column, index) => this.#headOf(column, index));
    this.#body.append(this.#above, this.#below);
    this.#table = element(
      "table",
      { role: "grid", "aria-label": parts.label, class: "rows" },
      element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, ...this.#heads)),
      this.#body,
    );
    const [least, narrowest] = leastWidths(parts.columns);
    this.#table.style.setProperty("--least", `${least}px`);
    this.#table.style.setProperty("--narrow", `${narrowest}px`);
    this.#table.style.setProperty("--cols", tracksOf(parts.columns));
    this.#table.style.setProperty("--ncols", tracksOf(parts.columns.filter(({ wide }) => wide !== true).map(narrowed)));
    this.#scroller = element(
      "div",
      { class: "vscroll", tabindex: "0", role: "region", "aria-label": parts.label },
      this.#table,
      this.#empty,
    );
    if (parts.most !== undefined) this.#scroller.style.maxHeight = `${rowPx * (parts.most + 1) + 4}px`;
    this.node = this.#scroller;
    this.#scroller.addEventListener("scroll", () => this.#scroll(), { passive: true });
    new ResizeObserver(([entry]) => this.#resize(entry?.contentRect.height ?? 0)).observe(this.#scroller);
    this.#scroller.addEventListener("keydown", (event) => this.#takeKey(event));
    this.#body.addEventListener("click", ({ target }) => {
      const shown = target instanceof Element && target.closest("button") === null ? target.closest("tr") : null;
      const row = shown === null ? undefined : this.#shown.get(shown);
      if (row !== undefined) this.#take(row);
    });
  }

  /** Rows in sight of the filters. */
  get count() {
    return this.#rows.length;
  }

  set(rows: R[]) {
    this.#given = rows;
    this.#sort();
    this.#drawFrom(0, cellsMax);
  }

  /** The row of a key is marked as the one that is shown elsewhere; an empty text marks none. */
  mark(key: string) {
    this.#current = key;
    this.draw();
  }

  /** Draws the visible rows. */
  draw() {
    this.#drawFrom(0, Number.POSITIVE_INFINITY);
  }

  #scroll() {
    this.#scrolled = this.#scroller.scrollTop;
    this.draw();
  }

  #resize(height: number) {
    const isSame = Math.round(height) === this.#height;
    this.#height = Math.round(height);
    if (!isSame) this.draw();
  }

  /** Drawn rows: indexes of the first row and of the one after the last. */
  get #window(): [first: number, last: number] {
    const { length } = this.#rows;
    const first = Math.max(0, Math.min(length - 1, Math.floor(this.#scrolled / rowPx) - spare));
    return [first, Math.min(length, first + Math.ceil((this.#height || 600) / rowPx) + 2 * spare)];
  }

  /** Draws the visible rows from a place on, until `most` cells have changed; the others in the next frames. */
  #drawFrom(from: number, most: number) {
    noTurn(this);
    const [first, last] = this.#window;
    this.#fit(first, last);
    let changed = 0;
    for (let place = from; place < this.#pool.length; place++) {
      if (changed >= most) {
        inTurn(this, () => this.#drawFrom(place, most));
        return;
      }
      changed += this.#fill(this.#pool[place] as HTMLTableRowElement, first + place);
    }
  }

  #fit(first: number, last: number) {
    const { length } = this.#rows;
    const count = Math.max(0, last - first);
    while (this.#pool.length < count) {
      const row = element("tr", { role: "row" }, ...this.#parts.columns.map((column) => this.#cellOf(column)));
      this.#pool.push(row);
      this.#below.before(row);
    }
    while (this.#pool.length > count) this.#pool.pop()?.remove();
    setHeight(this.#above, first * rowPx);
    setHeight(this.#below, (length - last) * rowPx);
    setAttribute(this.#table, "aria-rowcount", String(length + 1));
    const isEmpty = length === 0;
    if (this.#empty.hidden === isEmpty) this.#empty.hidden = !isEmpty;
    if (isEmpty) put(this.#empty, this.#parts.empty());
    const index = this.#current === "" ? -1 : this.#rows.findIndex((row) => this.#parts.keyOf(row) === this.#current);
    setAttribute(this.#scroller, "aria-activedescendant", index >= first && index < last ? `${this.#id}-${index}` : "");
  }

  #cellOf({ press, ...column }: TableColumn<R>) {
    const cell = element("td", { role: "gridcell", class: classOf(column) });
    if (press === undefined) return cell;
    // Table rows are reused while scrolling: the button acts on the row that is shown when it is pressed.
    addButton(cell, (tr) => {
      const row = this.#shown.get(tr);
      if (row !== undefined) press(row);
    });
    return cell;
  }

  /** @returns cells that have changed */
  #fill(tr: HTMLTableRowElement, index: number): number {
    const row = this.#rows[index] as R;
    const { columns, keyOf, rowTone } = this.#parts;
    this.#shown.set(tr, row);
    if (tr.dataset["index"] !== String(index)) {
      tr.dataset["index"] = String(index);
      tr.id = `${this.#id}-${index}`;
      tr.setAttribute("aria-rowindex", String(index + 2));
    }
    setAttribute(tr, "aria-selected", String(keyOf(row) === this.#current));
    const tone = rowTone?.(row) ?? "";
    if (tr.className !== tone) tr.className = tone;
    const { cells } = tr;
    let changed = 0;
    for (const [place, column] of columns.entries()) {
      const cell = cells[place] as HTMLTableCellElement;
      const text = column.text(row);
      if (column.press === undefined ? put(cell, text) : showButton(cell, text)) changed++;
      const look = column.tone === undefined ? undefined : `${classOf(column)} ${column.tone(row)}`;
      if (look !== undefined && cell.className !== look) cell.className = look;
      const title = column.title?.(row) ?? (column.isText ? text : "");
      if (cell.title !== title) cell.title = title;
    }
    return changed;
  }

  #headOf(column: TableColumn<R>, index: number) {
    const head = element("th", { role: "columnheader", scope: "col", class: classOf(column), "aria-sort": "none" });
    if (column.value === undefined) {
      head.append(column.name || element("span", { class: "unseen" }, column.label ?? ""));
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

  /** Selects the row that was pressed, at its current position. */
  #take(row: R) {
    const key = this.#parts.keyOf(row);
    const index = this.#rows.findIndex((other) => this.#parts.keyOf(other) === key);
    if (index >= 0) this.#walkTo(index, true);
    else this.#parts.chosen?.(row);
  }

  #walkTo(index: number, choose: boolean) {
    const row = this.#rows[index];
    if (row === undefined) return;
    this.#current = this.#parts.keyOf(row);
    const [top, bottom] = [index * rowPx, (index + 2) * rowPx];
    const { scrollTop, clientHeight } = this.#scroller;
    if (top < scrollTop) this.#scroller.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.#scroller.scrollTop = bottom - clientHeight;
    this.#scroll();
    if (choose) this.#parts.chosen?.(row);
  }

  #takeKey(event: KeyboardEvent) {
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
