/**
 * The book of one instrument as a ladder: asks above, bids below, the depth of each level as a bar, own resting orders marked.
 *
 * Invariants: at most `levelsMax` levels a side; own orders are marked by a word, not by colour alone; prices and quantities have all
 * received digits, and as many after the point as the longest of their column.
 */
import { element } from "../../ui-kit/client/elements.ts";
import type { BookRow, MarketRow } from "../control-rows.ts";
import { decimalFigure, fractionOf, minus, plainDecimal } from "./decimal-texts.ts";
import { put } from "./table-cells.ts";

const levelsMax = 12;

type Level = { px: string; qty: string; isAsk: boolean };

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

  /**
   * @param own - quantity of own orders by price
   * @param isUnrecorded - a recording without books
   */
  draw(
    book: BookRow | undefined,
    market: MarketRow | undefined,
    own: ReadonlyMap<string, string>,
    isUnrecorded: boolean,
  ) {
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
    const levels: (Level | undefined)[] = [
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
      fillLevel(this.#rows.rows[place] as HTMLTableRowElement, level, { most, own, spread, places });
    }
  }
}

const topOf = (px: string | undefined): (readonly [string, string])[] =>
  px === undefined || px === "" ? [] : [[px, ""]];

const spreadOf = ([bid]: readonly (readonly [string, string])[], [ask]: readonly (readonly [string, string])[]) =>
  bid === undefined || ask === undefined ? "" : `spread ${decimalFigure(minus(ask[0], bid[0]))}`;

const longest = (texts: readonly (string | undefined)[]) => Math.max(...texts.map((text) => fractionOf(text ?? "")));

/** all levels */
type About = { most: number; own: ReadonlyMap<string, string>; spread: string; places: { px: number; qty: number } };

const fillLevel = (row: HTMLTableRowElement, level: Level | undefined, { most, own, spread, places }: About) => {
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
