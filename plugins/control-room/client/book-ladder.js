/**
 * The book of one instrument as a ladder: asks above, bids below, the depth of each level as a bar, own resting orders marked.
 *
 * Invariants: at most `levelsMax` levels a side; own orders are marked by a word, not by colour alone; prices and quantities have all
 * received digits, and as many after the point as the longest of their column.
 */
import { element } from "../../ui-kit/client/elements.js";
import { decimalFigure, fractionOf, minus, plainDecimal } from "./decimal-texts.js";
import { put } from "./table-cells.js";

/** @import {BookRow, MarketRow} from "../control-rows.ts" */

const levelsMax = 12;

/** @typedef {{ px: string, qty: string, isAsk: boolean }} Level */

export class BookLadder {
  node;
  #rows = element("tbody", {});
  #empty = element("p", { class: "empty", hidden: true });
  #table = element(
    "table",
    { class: "ladder" },
    element("caption", { class: "unseen" }, "Book: asks above, bids below"),
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...["price", "quantity", "own"].map((name) => element("th", { scope: "col", class: "n" }, name)),
      ),
    ),
    this.#rows,
  );

  constructor() {
    this.node = element("div", {}, this.#table, this.#empty);
  }

  /** @param {BookRow | undefined} book @param {MarketRow | undefined} market @param {ReadonlyMap<string, string>} own quantity of own orders by price @param {boolean} isUnrecorded a recording without books */
  draw(book, market, own, isUnrecorded) {
    const asks = (book?.asks ?? topOf(market?.ask)).slice(0, levelsMax);
    const bids = (book?.bids ?? topOf(market?.bid)).slice(0, levelsMax);
    const isEmpty = asks.length + bids.length === 0;
    this.#table.hidden = isEmpty;
    this.#empty.hidden = !isEmpty && !isUnrecorded;
    put(
      this.#empty,
      isUnrecorded
        ? "Books are not recorded: best prices alone."
        : "No book yet: the engine follows it once a strategy does.",
    );
    /** @type {(Level | undefined)[]} */
    const levels = [
      ...asks.map(([px, qty]) => ({ px, qty, isAsk: true })).reverse(),
      undefined,
      ...bids.map(([px, qty]) => ({ px, qty, isAsk: false })),
    ];
    const most = Math.max(...levels.map((level) => Number(level?.qty ?? 0)), 1e-12);
    while (this.#rows.rows.length < levels.length) {
      const cells = ["px n", "n depth", "n own"].map((name) => element("td", { class: name }));
      cells[1]?.append(element("i", {}), element("span", {}));
      this.#rows.append(element("tr", {}, ...cells));
    }
    while (this.#rows.rows.length > levels.length) this.#rows.lastElementChild?.remove();
    const places = { px: longest(levels.map((level) => level?.px)), qty: longest(levels.map((level) => level?.qty)) };
    const spread = spreadOf(bids, asks);
    for (const [place, level] of levels.entries()) {
      fillLevel(/** @type {HTMLTableRowElement} */ (this.#rows.rows[place]), level, { most, own, spread, places });
    }
  }
}

/** @param {string | undefined} px @returns {(readonly [string, string])[]} */
const topOf = (px) => (px === undefined || px === "" ? [] : [[px, ""]]);

/** @param {readonly (readonly [string, string])[]} bids @param {readonly (readonly [string, string])[]} asks */
const spreadOf = ([bid], [ask]) =>
  bid === undefined || ask === undefined ? "" : `spread ${decimalFigure(minus(ask[0], bid[0]))}`;

/** @param {readonly (string | undefined)[]} texts */
const longest = (texts) => Math.max(...texts.map((text) => fractionOf(text ?? "")));

/** @typedef {{ most: number, own: ReadonlyMap<string, string>, spread: string, places: { px: number, qty: number } }} About all levels */

/** @param {HTMLTableRowElement} row @param {Level | undefined} level @param {About} about */
const fillLevel = (row, level, { most, own, spread, places }) => {
  const [px, depth, mine] = row.cells;
  const bar = depth?.firstElementChild;
  const text = depth?.lastElementChild;
  if (px === undefined || mine === undefined || !(bar instanceof HTMLElement) || !text) return;
  const name = level === undefined ? "spread" : level.isAsk ? "ask" : "bid";
  if (row.className !== name) row.className = name;
  put(px, level === undefined ? spread : decimalFigure(level.px, undefined, places.px));
  put(text, level === undefined || level.qty === "" ? "" : decimalFigure(level.qty, undefined, places.qty));
  const width = `${level === undefined ? 0 : ((100 * Number(level.qty)) / most).toFixed(0)}%`;
  if (bar.style.width !== width) bar.style.width = width;
  const owned = level === undefined ? undefined : own.get(plainDecimal(level.px));
  put(mine, owned === undefined ? "" : `${decimalFigure(owned)} own`);
};
