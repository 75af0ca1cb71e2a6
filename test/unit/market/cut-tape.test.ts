import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cutTape } from "../../../src/market/cut-tape.ts";
import { type Column, columnsOf, createTape, type Series, seriesOf, type Tape } from "../../../src/market/tape/tape.ts";
import { createBook, level, quote } from "../../../src/venue/matching-engine.ts";
import { leftOf } from "../../../src/venue/order.ts";
import { displayedAt } from "../../../src/venue/order-book-side.ts";

const btc = { instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" };
const eth = { instId: "ETH-USDT-SWAP", tickSize: "0.01", lotSize: "0.01" };
const floats = (...values: readonly number[]): Float64Array => Float64Array.from(values);

/** Every column but the times counts the rows, so that a row can be told by any of them. */
const numbered = (kind: "quote" | "trade", instrument: number, ...at: readonly number[]): Series => {
  const rows = at.map((_, row) => row + 1);
  const columns: Column[] =
    kind === "quote"
      ? [floats(...rows), floats(...rows), floats(...rows), floats(...rows)]
      : [Int8Array.from(rows.map(() => 1)), floats(...rows), floats(...rows)];
  return seriesOf(kind, instrument, floats(...at), columns);
};

const rowsOf = (tape: Tape): readonly string[] =>
  Array.from({ length: tape.length }, (_, index) => {
    const series = tape.series[tape.order.series[index] as number] as Series;
    const row = tape.order.row[index] as number;
    return [
      `${series.kind}${series.instrument}`,
      series.at[row],
      ...columnsOf(series).map((column) => column[row]),
    ].join(" ");
  });

describe("A cut of a recording", () => {
  it("has the rows of its window, in their order", () => {
    const tape = createTape([btc, eth], [numbered("trade", 0, 1, 3, 5, 7), numbered("trade", 1, 2, 3, 6, 7)]);
    const cut = cutTape(tape, { fromAt: 3, toAt: 7 });
    expect(rowsOf(cut)).toEqual(["trade0 3 1 2 2", "trade1 3 1 2 2", "trade0 5 1 3 3", "trade1 6 1 3 3"]);
    expect([cut.startAt, cut.endAt, cut.length]).toEqual([3, 6, 4]);
  });

  it("begins with the last quote before it, at its start, unless one comes at that instant", () => {
    const tape = createTape([btc, eth], [numbered("quote", 0, 1, 2, 6), numbered("quote", 1, 1, 5, 6)]);
    expect(rowsOf(cutTape(tape, { fromAt: 5, toAt: 9 }))).toEqual([
      "quote0 5 2 2 2 2",
      "quote1 5 2 2 2 2",
      "quote0 6 3 3 3 3",
      "quote1 6 3 3 3 3",
    ]);
  });

  it("begins with the book as it stood, as a snapshot", () => {
    const at = floats(1, 1, 2, 3, 3, 4, 8);
    const side = Int8Array.from([1, -1, 1, 1, -1, 1, -1]);
    const px = floats(10, 11, 9, 20, 21, 19, 22);
    const qty = floats(5, 5, 5, 7, 7, 6, 4);
    const snapshot = Uint8Array.from([1, 0, 0, 1, 0, 0, 0]);
    const tape = createTape([btc], [seriesOf("level", 0, at, [side, px, qty, snapshot])]);
    expect(rowsOf(cutTape(tape, { fromAt: 6, toAt: 9 }))).toEqual([
      "level0 6 1 19 6 1",
      "level0 6 1 20 7 0",
      "level0 6 -1 21 7 0",
      "level0 8 -1 22 4 0",
    ]);
  });

  it("begins with the book that the service shows there, by quotes and book changes", () => {
    const change = fc.tuple(
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(1, -1),
      fc.integer({ min: 0, max: 9 }),
      fc.nat(5),
    );
    const shown = (tape: Tape, until: number): readonly string[] => {
      const book = createBook(() => undefined, leftOf);
      for (let index = 0; index < tape.length; index++) {
        const one = tape.series[tape.order.series[index] as number] as Series;
        const row = tape.order.row[index] as number;
        if ((one.at[row] as number) >= until) break;
        const [a, b, c, d] = columnsOf(one).map((column) => column[row] as number) as [number, number, number, number];
        if (one.kind === "quote") quote(book, a, b, c, d, 0);
        else level(book, a === 1 ? 1 : -1, b, c, 0);
      }
      return [book.bids, book.asks].map((half) =>
        Array.from({ length: 130 }, (_, px) => displayedAt(half, px)).join(" "),
      );
    };
    fc.assert(
      fc.property(
        fc.array(change, { minLength: 1, maxLength: 60 }),
        fc.array(change, { minLength: 1, maxLength: 30 }),
        (changes, quotes) => {
          // Both sides are told from the first instant on.
          const levels = [[1, 1, 1, 0] as const, [1, -1, 1, 0] as const, ...changes];
          const at = (rows: readonly unknown[]) => Float64Array.from(rows, (_, index) => (index * 100) / rows.length);
          const side = Int8Array.from(levels, ([, sign]) => sign);
          const px = Float64Array.from(levels, ([price, sign]) => (sign === 1 ? 50 : 80) + (price % 20));
          const qty = floats(...levels.map(([, , size]) => size));
          const snapshot = Uint8Array.from(levels, (_, index) => (index === 0 ? 1 : 0));
          const told = [0, 1, 2, 3].map((which) =>
            Float64Array.from(
              quotes,
              ([price, , size, ask]) => [50 + (price % 20), size + 1, 80 + ask, size + 2][which] as number,
            ),
          );
          const tape = createTape(
            [btc],
            [
              seriesOf(
                "level",
                0,
                at(levels).map((time, row) => (row === 1 ? 0 : time)),
                [side, px, qty, snapshot],
              ),
              seriesOf("quote", 0, at(quotes), told),
            ],
          );
          const cut = cutTape(tape, { fromAt: 55.5, toAt: 200 });
          expect(shown(cut, 55.6)).toEqual(shown(tape, 55.6));
        },
      ),
    );
  });

  it("leaves out of the book what was taken away", () => {
    const columns = [
      Int8Array.from([1, 1, 1, 1]),
      floats(10, 9, 10, 8),
      floats(5, 5, 0, 1),
      Uint8Array.from([1, 0, 0, 0]),
    ];
    const tape = createTape([btc], [seriesOf("level", 0, floats(1, 1, 2, 9), columns)]);
    expect(rowsOf(cutTape(tape, { fromAt: 5, toAt: 9 }))).toEqual(["level0 5 1 9 5 1"]);
  });

  it("has a bar only if all of its time is in the window", () => {
    const count = floats(1, 2, 3, 4, 5);
    const tape = createTape(
      [btc],
      [seriesOf("candle", 0, floats(10, 20, 30, 40, 50), [count, count, count, count, count], 10)],
    );
    const closes = (fromAt: number, toAt: number): number[] => [
      ...(cutTape(tape, { fromAt, toAt }).series[0]?.at ?? []),
    ];
    expect(closes(10, 30)).toEqual([10, 20, 30]);
    expect(closes(20, 40)).toEqual([30, 40]);
    expect(closes(25, 49)).toEqual([40]);
    expect(closes(41, 49)).toEqual([]);
  });

  it("is the whole where the window holds it, and nothing where it holds no row", () => {
    const tape = createTape([btc, eth], [numbered("quote", 0, 1, 2, 6), numbered("trade", 1, 1, 5, 6)]);
    expect(rowsOf(cutTape(tape, { fromAt: 1, toAt: 7 }))).toEqual(rowsOf(tape));
    expect(cutTape(createTape([btc], [numbered("trade", 0, 1, 9)]), { fromAt: 3, toAt: 7 }).length).toBe(0);
  });

  it("does not depend on what comes at or after its end", () => {
    const times = fc
      .array(fc.integer({ min: 0, max: 100 }), { maxLength: 30 })
      .map((list) => list.sort((a, b) => a - b));
    fc.assert(
      fc.property(
        times,
        times,
        fc.integer({ min: 0, max: 100 }),
        fc.integer({ min: 1, max: 60 }),
        (quotes, trades, fromAt, spanMs) => {
          const toAt = fromAt + spanMs;
          const tapeOf = (bound: number): Tape =>
            createTape(
              [btc],
              [
                numbered("quote", 0, ...quotes.filter((at) => at < bound)),
                numbered("trade", 0, ...trades.filter((at) => at < bound)),
              ],
            );
          const [whole, past] = [tapeOf(Number.POSITIVE_INFINITY), tapeOf(toAt)];
          const cut = rowsOf(cutTape(whole, { fromAt, toAt }));
          if (past.startAt === whole.startAt) expect(rowsOf(cutTape(past, { fromAt, toAt }))).toEqual(cut);
          expect(cut.every((row) => Number(row.split(" ")[1]) >= fromAt && Number(row.split(" ")[1]) < toAt)).toBe(
            true,
          );
          // A tape of the merged rows has the same order: the cut keeps what createTape promises.
          const made = cutTape(whole, { fromAt, toAt });
          expect(rowsOf(createTape(made.instruments, made.series))).toEqual(cut);
        },
      ),
    );
  });
});
