/**
 * Events of hftbacktest, an array of records with flags, as trades, best prices and book levels of one instrument.
 *
 * Invariants: on the axis of receive times the events count that the recorder saw, on the exchange's those that the
 * exchange had; an event that clears a part of a book becomes a row of quantity zero for each of its levels; a book is
 * not shown before its first snapshot; skipped events are counted by reason.
 * Not here: the bytes of an array (numpy-rows.ts).
 */
import type { TextPart } from "../byte-source.ts";
import { importInvalid, type Parsed, parseDecimal } from "../import-decimals.ts";
import { createRows, type MessageRows, pushLevels, pushQuote, pushTrade } from "../import-rows.ts";
import { createInstants } from "../import-times.ts";
import type { ReaderOptions } from "../reader-options.ts";
import { plainDigits } from "../table/cell-kinds.ts";
import { floatText } from "./cell-text.ts";
import { eachNumpyRecord, type NumpyArray } from "./numpy-rows.ts";

const fields = ["ev", "exch_ts", "local_ts", "px", "qty"] as const;
type Field = (typeof fields)[number];

export const holdsEvents = (names: readonly string[]): boolean => fields.every((name) => names.includes(name));

const [exchangeFlag, localFlag, buyFlag, sellFlag] = [2 ** 31, 2 ** 30, 2 ** 29, 2 ** 28] as const;
const kinds = { depth: 1, trade: 2, clear: 3, snapshot: 4, best: 5 } as const;
const [firstOfSingleOrders, lastOfSingleOrders] = [10, 13] as const;

interface EventRow {
  readonly kind: number;
  /** 1 bought, or a bid; -1 sold, or an ask; 0 neither. */
  readonly side: 1 | -1 | 0;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly px: number;
  readonly qty: number;
  readonly line: number;
}

interface EventOptions extends ReaderOptions {
  readonly onRead?: ((bytes: number, rows: number) => void) | undefined;
}

export const readEvents = async (
  part: TextPart,
  options: EventOptions,
): Promise<MessageRows & { readonly rows: number }> => {
  const taker = new EventTaker(part.name, options);
  const [flag, time]: readonly [number, Field] =
    options.axis === "receive" ? [localFlag, "local_ts"] : [exchangeFlag, "exch_ts"];
  let rows = 0;
  await eachNumpyRecord(
    part,
    (array) => {
      const offsets = offsetsOf(array, part.name);
      return (view, start, line) => {
        rows++;
        const event = view.getUint32(start + offsets.ev, true);
        if (!has(event, flag))
          options.note(`events of the other axis only, dropped (import them with --axis ${other(options.axis)})`);
        else {
          const at = Number(view.getBigInt64(start + offsets[time], true) / 1_000n) / 1_000;
          const [px, qty] = [view.getFloat64(start + offsets.px, true), view.getFloat64(start + offsets.qty, true)];
          taker.take({
            kind: event % 256,
            side: has(event, buyFlag) ? 1 : has(event, sellFlag) ? -1 : 0,
            at,
            px,
            qty,
            line,
          });
        }
      };
    },
    (bytes) => options.onRead?.(bytes, rows),
  );
  return { ...taker.rows, rows };
};

const has = (event: number, flag: number): boolean => Math.floor(event / flag) % 2 === 1;
const other = (axis: ReaderOptions["axis"]): string => (axis === "receive" ? "exchange" : "receive");

const types: Readonly<Record<Field, string>> = { ev: "<u8", exch_ts: "<i8", local_ts: "<i8", px: "<f8", qty: "<f8" };

const offsetsOf = (array: NumpyArray, file: string): Readonly<Record<Field, number>> =>
  Object.fromEntries(
    fields.map((name) => {
      const field = array.fields.find((one) => one.name === name);
      if (field?.type === types[name]) return [name, field.offset];
      throw importInvalid(file, 1, `the field "${name}" is of type ${field?.type}; expected ${types[name]}.`);
    }),
  ) as Record<Field, number>;

const none: Parsed = { count: 0, places: 0 };

class EventTaker {
  readonly rows: MessageRows;
  readonly #file: string;
  readonly #options: EventOptions;
  readonly #instantOf = createInstants();
  /** Prices with a quantity; undefined before the first snapshot. */
  #book: Readonly<Record<1 | -1, Set<number>>> | undefined;
  readonly #best: Record<1 | -1, readonly [Parsed, Parsed]> = { 1: [none, none], [-1]: [none, none] };
  #last = 0;

  constructor(file: string, options: EventOptions) {
    this.#file = file;
    this.#options = options;
    this.rows = createRows(options.prices, options.quantities);
  }

  take(event: EventRow): void {
    const { kind, at, line, side } = event;
    const { note } = this.#options;
    if (at < this.#last)
      throw importInvalid(
        this.#file,
        line,
        `${new Date(at).toISOString()} comes after a later event. Sort the events (correct_event_order).`,
      );
    this.#last = at;
    if (kind === kinds.trade) this.#trade(event);
    else if (kind === kinds.clear) this.#clear(event);
    else if (kind >= firstOfSingleOrders && kind <= lastOfSingleOrders)
      note("events of single orders, which are not imported");
    else if (kind !== kinds.depth && kind !== kinds.snapshot && kind !== kinds.best)
      note(`events of a kind that is not known (${kind})`);
    else if (side === 0) note("changes of a book without a side, dropped");
    else if (kind === kinds.best) this.#quote(event, side);
    else this.#level(event, side);
  }

  #parsed(value: number, line: number, field: Field): Parsed {
    return parseDecimal(plainDigits(floatText(value)), this.#file, line, field);
  }

  #trade({ at, line, side, px, qty }: EventRow): void {
    const [price, size] = [this.#parsed(px, line, "px"), this.#parsed(qty, line, "qty")];
    if (side === 0) this.#options.note("trades without a side, dropped");
    else if (price.count === 0 || size.count === 0) this.#options.note("trades of price or quantity zero, dropped");
    else
      pushTrade(this.rows.trades, this.#instantOf("trade", at), line, side, [
        price.count,
        price.places,
        size.count,
        size.places,
      ]);
  }

  #quote({ at, line, px, qty }: EventRow, side: 1 | -1): void {
    this.#best[side] = [this.#parsed(px, line, "px"), this.#parsed(qty, line, "qty")];
    const parts = [...this.#best[1], ...this.#best[-1]].flatMap(({ count, places }) => [count, places]);
    pushQuote(this.rows.quotes, this.#instantOf("quote", at), line, parts);
  }

  #level({ at, line, kind, px, qty }: EventRow, side: 1 | -1): void {
    if (this.#book === undefined && kind !== kinds.snapshot) {
      this.#options.note("changes of a book before its first snapshot, dropped");
      return;
    }
    this.#push(at, line, side, px, qty, this.#book === undefined);
  }

  #push(at: number, line: number, side: 1 | -1, px: number, qty: number, startsBook = false): void {
    this.#book ??= { 1: new Set(), [-1]: new Set() };
    if (qty > 0) this.#book[side].add(px);
    else this.#book[side].delete(px);
    const [price, size] = [this.#parsed(px, line, "px"), this.#parsed(qty, line, "qty")];
    const { levels } = this.rows;
    pushLevels(levels, this.#instantOf("level", at), line, side, [price.count, price.places, size.count, size.places]);
    if (startsBook) levels.snapshot.values[levels.at.length - 1] = 1;
  }

  /** Clears from the best price to the given one, inclusive; all of a side if none is given. */
  #clear({ at, line, side, px }: EventRow): void {
    for (const one of side === 0 ? ([1, -1] as const) : [side]) {
      const gone = [...(this.#book?.[one] ?? [])].filter(
        (level) => side === 0 || !Number.isFinite(px) || (one === 1 ? level >= px : level <= px),
      );
      for (const level of gone) this.#push(at, line, one, level, 0);
    }
  }
}
