/**
 * Trades, best prices and order books of a file as series.
 *
 * Invariants: the side of a trade is the aggressor's; a row without a side, price or quantity is left out and counted;
 * a trade is known by its id and its instant, wherever in the file it comes again; of a book in each row only the
 * changes are stored, so that the book after each row equals the row.
 * Not here: order and instants of rows (row-order.ts, table-reader.ts), bars (bar-rows.ts).
 */

import { type Series, seriesOf } from "sluice/extension";
import { append, growing, held } from "../import-columns.ts";
import { type DecimalPool, importInvalid, type Parsed, parseDecimal } from "../import-decimals.ts";
import type { Note } from "../reader-options.ts";
import { flagOf, isBlank, sideOf } from "./cell-kinds.ts";
import { idNumberOf, withoutRepeats } from "./repeated-trades.ts";
import type { RowOrder } from "./row-order.ts";
import { inOrder, type RowSink, type RowValues, times } from "./row-sink.ts";

interface RowsOptions {
  readonly file: string;
  readonly order: RowOrder;
  readonly prices: DecimalPool;
  readonly quantities: DecimalPool;
  readonly note: Note;
}

export class TradeRows implements RowSink {
  readonly #options: RowsOptions;
  readonly #side = growing(Int8Array);
  readonly #px;
  readonly #qty;
  readonly #ids = growing(Float64Array);

  constructor(options: RowsOptions) {
    this.#options = options;
    this.#px = options.prices.column();
    this.#qty = options.quantities.column();
  }

  push({ at, line, cell, unit }: RowValues): void {
    const { file, order, note } = this.#options;
    const [px, qty] = [
      parseDecimal(cell("price"), file, line, "price"),
      parseDecimal(cell("qty"), file, line, "quantity"),
    ];
    const side = this.#sideOf(cell("side"), cell("buyerIsMaker"), line);
    if (px.count === 0 || qty.count === 0 || side === undefined) {
      note(side === undefined ? "trades without a side, dropped" : "trades of price or quantity zero, dropped");
      return;
    }
    order.push(at, line);
    append(this.#side, side);
    this.#px.push(px, line);
    this.#qty.push(times(qty, unit), line);
    append(this.#ids, idNumberOf(cell("id")));
  }

  series(): Series[] {
    const { order, note } = this.#options;
    const columns = [held(this.#side), this.#px.counts(), this.#qty.counts()];
    const at = held(order.at);
    const by = withoutRepeats({ at, ids: held(this.#ids), columns, order: order.order(), note });
    return at.length === 0
      ? []
      : [
          seriesOf(
            "trade",
            0,
            inOrder(at, by),
            columns.map((column) => inOrder(column, by)),
          ),
        ];
  }

  #sideOf(side: string, buyerIsMaker: string, line: number): 1 | -1 | undefined {
    if (side !== "") {
      const found = sideOf(side);
      if (found !== undefined || /^(unknown|none|null|nan)$/i.test(side)) return found;
      throw importInvalid(this.#options.file, line, `"side" is ${JSON.stringify(side)}; expected buy or sell.`);
    }
    if (buyerIsMaker === "") return undefined;
    const made = flagOf(buyerIsMaker);
    if (made !== undefined) return made ? -1 : 1;
    throw importInvalid(
      this.#options.file,
      line,
      `whether the buyer was the maker is ${JSON.stringify(buyerIsMaker)}; expected true or false.`,
    );
  }
}

const quoteNames = ["bid", "bidQty", "ask", "askQty"] as const;
const nothing: Parsed = { count: 0, places: 0 };

export class QuoteRows implements RowSink {
  readonly #options: RowsOptions;
  readonly #columns;

  constructor(options: RowsOptions) {
    const { prices, quantities } = options;
    this.#options = options;
    this.#columns = [prices.column(), quantities.column(), prices.column(), quantities.column()];
  }

  push({ at, line, cell, unit }: RowValues): void {
    const { file, order } = this.#options;
    // A side without orders has no price either.
    const parts = quoteNames.map((name) => {
      const text = cell(name);
      return isBlank(text) ? nothing : parseDecimal(text, file, line, name);
    });
    order.push(at, line);
    for (const [index, part] of parts.entries())
      this.#columns[index]?.push(index % 2 === 0 ? part : times(part, unit), line);
  }

  series(): Series[] {
    const { order } = this.#options;
    const by = order.order();
    const columns = this.#columns.map((column) => inOrder(column.counts(), by));
    return order.at.length === 0 ? [] : [seriesOf("quote", 0, inOrder(held(order.at), by), columns)];
  }
}

/** Levels of a book: each row either one level, or the whole book. */
export class LevelRows implements RowSink {
  readonly #options: RowsOptions;
  readonly #side = growing(Int8Array);
  readonly #snapshot = growing(Uint8Array);
  readonly #px;
  readonly #qty;
  /** Levels as they were in the row before, by price; undefined before the first row. */
  #book: { readonly 1: ReadonlyMap<string, string>; readonly [-1]: ReadonlyMap<string, string> } | undefined;
  /** Undefined before the first snapshot. */
  #inSnapshot: boolean | undefined;

  constructor(options: RowsOptions) {
    this.#options = options;
    this.#px = options.prices.column();
    this.#qty = options.quantities.column();
  }

  push(row: RowValues): void {
    if (this.#options.order.isReversed)
      throw importInvalid(
        this.#options.file,
        row.line,
        "the rows are newest first; changes of a book are read oldest first. Sort them.",
      );
    if (row.cell("side") === "") this.#pushBook(row);
    else this.#pushChange(row);
  }

  series(): Series[] {
    const { order } = this.#options;
    const by = order.order();
    const columns = [held(this.#side), this.#px.counts(), this.#qty.counts(), held(this.#snapshot)].map((column) =>
      inOrder(column, by),
    );
    return order.at.length === 0 ? [] : [seriesOf("level", 0, inOrder(held(order.at), by), columns)];
  }

  #pushChange(row: RowValues): void {
    const { cell, line } = row;
    const side = sideOf(cell("side"));
    if (side === undefined)
      throw importInvalid(this.#options.file, line, `"side" is ${JSON.stringify(cell("side"))}; expected bid or ask.`);
    const isSnapshot = flagOf(cell("snapshot")) === true;
    if (!isSnapshot && this.#inSnapshot === undefined) {
      this.#options.note("changes of a book before its first snapshot, dropped");
      return;
    }
    this.#level(row, side, cell("price"), cell("qty"), isSnapshot && this.#inSnapshot !== true);
    this.#inSnapshot = isSnapshot;
  }

  #pushBook(row: RowValues): void {
    const book = { 1: new Map(row.levels(1)), [-1]: new Map(row.levels(-1)) } as const;
    const before = this.#book;
    let isFirst = before === undefined;
    for (const side of [1, -1] as const) {
      for (const [px] of before?.[side] ?? []) if (!book[side].has(px)) this.#level(row, side, px, "0", false);
    }
    for (const side of [1, -1] as const) {
      for (const [px, qty] of book[side]) {
        if (before?.[side].get(px) === qty) continue;
        this.#level(row, side, px, qty, isFirst);
        isFirst = false;
      }
    }
    // A first row without levels is no book yet.
    if (!isFirst) this.#book = book;
  }

  #level({ at, line, unit }: RowValues, side: 1 | -1, px: string, qty: string, startsBook: boolean): void {
    const { file, order } = this.#options;
    const [price, size] = [parseDecimal(px, file, line, "price"), parseDecimal(qty, file, line, "quantity")];
    order.push(at, line);
    append(this.#side, side);
    append(this.#snapshot, startsBook ? 1 : 0);
    this.#px.push(price, line);
    this.#qty.push(times(size, unit), line);
  }
}
