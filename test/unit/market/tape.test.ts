/** Columns keep what was pushed, refuse what falls, and are merged into one order of time. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { seriesBuilder } from "../../../src/market/tape/series-builder.ts";
import { createTape, type Series, type TapeInstrument } from "../../../src/market/tape/tape.ts";
import { mergeOrder } from "../../../src/market/tape/tape-order.ts";

const instruments: readonly TapeInstrument[] = [
  { instId: "BTC-USDT", tickSize: "0.1", lotSize: "0.001" },
  { instId: "ETH-USDT-SWAP", tickSize: "0.01", lotSize: "0.01" },
];

const trades = (instrument: number, ...times: number[]): Series => {
  const builder = seriesBuilder("trade", instrument);
  for (const at of times) builder.push(at, 1, 600_000, 5);
  return builder.series();
};

describe("A series builder", () => {
  it("keeps times with a fraction and whole counts, also across growth", () => {
    const builder = seriesBuilder("quote", 0);
    for (let row = 0; row < 3000; row++) builder.push(1000.125 + row, row, 2, row + 1, 3);
    const series = builder.series();
    expect(builder.length).toBe(3000);
    expect([series.at[0], series.at[2999], series.bidPx[2999], series.askPx[0], series.askQty.length]).toEqual([
      1000.125, 3999.125, 2999, 1, 3000,
    ]);
  });

  it("refuses a time that falls by row and values", () => {
    const builder = seriesBuilder("trade", 0);
    builder.push(12, 1, 1, 1);
    expect(() => {
      builder.push(10, 1, 1, 1);
    }).toThrow(/row 1 is at 10 ms, the row before it at 12 ms/);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, -1])("refuses the time %s", (at) => {
    expect(() => {
      seriesBuilder("trade", 0).push(at, 1, 1, 1);
    }).toThrow(/row 0/);
  });

  it("refuses counts that are not whole", () => {
    expect(() => {
      seriesBuilder("trade", 0).push(1, 1, 1.5, 1);
    }).toThrow(/whole counts, not 1.5/);
  });

  it("goes on building without touching the series it gave away", () => {
    const builder = seriesBuilder("candle", 0, 60_000);
    builder.push(60_000, 1, 2, 1, 2, 7);
    const first = builder.series();
    builder.push(120_000, 3, 4, 3, 4, 8);
    expect([first.at.length, first.barMs, first.volume[0], builder.series().at.length]).toEqual([1, 60_000, 7, 2]);
  });
});

describe("A tape", () => {
  it("visits rows by time and rows of equal time in series order", () => {
    const tape = createTape(instruments, [trades(0, 5, 7, 7), trades(1, 1, 7, 9)]);
    const visited = Array.from(tape.order.series, (series, index) => [series, tape.order.row[index]]);
    expect(visited).toEqual([
      [1, 0],
      [0, 0],
      [0, 1],
      [0, 2],
      [1, 1],
      [1, 2],
    ]);
    expect([tape.length, tape.startAt, tape.endAt]).toEqual([6, 1, 9]);
  });

  it("may be empty", () => {
    const tape = createTape(instruments, []);
    expect([tape.length, tape.startAt, tape.endAt]).toEqual([0, 0, 0]);
  });

  it("holds at most 60 bytes a trade", () => {
    const tape = createTape(instruments, [trades(0, ...Array.from({ length: 1000 }, (_, index) => index))]);
    const [series] = tape.series;
    if (series?.kind !== "trade") throw new Error("a trade series was built");
    const columns = [series.at, series.side, series.px, series.qty, tape.order.series, tape.order.row];
    expect(columns.reduce((total, column) => total + column.byteLength, 0) / 1000).toBeLessThanOrEqual(60);
  });

  const good = trades(0, 1, 2);
  it.each<[string, readonly TapeInstrument[], readonly Series[], RegExp]>([
    [
      "a time that falls",
      instruments,
      [{ ...good, at: Float64Array.of(12, 10) } as Series],
      /trade of BTC-USDT: row 1 is at 10 ms.*12 ms/,
    ],
    [
      "columns of unequal length",
      instruments,
      [{ ...good, at: Float64Array.of(1) } as Series],
      /2 rows where the times have 1/,
    ],
    ["an instrument it does not have", instruments, [trades(2, 1)], /instrument 2: the tape has 2 instruments/],
    ["two series of a kind", instruments, [good, good], /trade of BTC-USDT appears twice/],
    ["an instrument listed twice", [instruments[0], instruments[0]] as TapeInstrument[], [], /listed twice/],
    ["a bar without a length", instruments, [seriesBuilder("candle", 0, 0).series()], /bar length is 0 ms/],
  ])("refuses %s", (_, listed, series, message) => {
    expect(() => createTape(listed, series)).toThrow(message);
  });

  it("refuses an id of neither kind", () => {
    expect(() => createTape([{ instId: "btc", tickSize: "1", lotSize: "1" }], [])).toThrow(
      expect.objectContaining({ code: "INST_ID_INVALID" }),
    );
  });
});

describe("The order of a tape", () => {
  const column = fc
    .array(fc.integer({ min: 0, max: 30 }), { maxLength: 40 })
    .map((times) => Float64Array.from(times.sort((a, b) => a - b)));

  it("equals a stable sort of all rows, whatever the number of columns", () => {
    fc.assert(
      fc.property(fc.array(column, { maxLength: 9 }), (columns) => {
        const rows = columns.flatMap((at, series) => Array.from(at, (time, row) => ({ time, series, row })));
        const sorted = rows.sort((a, b) => a.time - b.time || a.series - b.series || a.row - b.row);
        const order = mergeOrder(columns);
        expect(Array.from(order.series)).toEqual(sorted.map(({ series }) => series));
        expect(Array.from(order.row)).toEqual(sorted.map(({ row }) => row));
      }),
    );
  });

  it("counts series in two bytes when one does not suffice", () => {
    const order = mergeOrder(Array.from({ length: 300 }, (_, index) => Float64Array.of(300 - index)));
    expect([order.series[0], order.series[299], order.series.BYTES_PER_ELEMENT]).toEqual([299, 0, 2]);
  });
});
