/** Candle files become bars that are visible when they have closed, or are refused by line and value. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { grid } from "../../../src/decimal.ts";
import type { CandleSeries } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("candles");

const header = "timestamp,open,high,low,close,volume";
let counter = 0;
const read = (rows: readonly string[], options: Partial<RecordingOptions> = {}, first = header) => {
  const file = join(home, `candles-${counter++}.csv.gz`);
  const text = [first, ...rows].join("\n");
  writeFileSync(file, counter % 2 === 0 ? text : gzipSync(text));
  return readRecording({ file, instrument: "BTC-USD-SWAP", ...options });
};
const candlesOf = ({ tape }: Awaited<ReturnType<typeof read>>): CandleSeries => tape.series[0] as CandleSeries;
const minute = (index: number, cells = "10,12,9,11,5"): string =>
  `2022-01-01 00:${String(index).padStart(2, "0")}:00,${cells}`;
const instant = (text: string): number => Date.parse(text);

describe("Imported candles", () => {
  it("close one bar after the instant that opened them", async () => {
    const recording = await read([
      "2021-12-31 23:59:00.000000,46319.0,46385.5,46319.0,46377.0,2300413.7295",
      "2022-01-01 00:00:00.000000,46377,46411,46377,46411,1829623.1938",
    ]);
    const series = candlesOf(recording);
    expect([...series.at]).toEqual([instant("2022-01-01T00:00:00Z"), instant("2022-01-01T00:01:00Z")]);
    expect(series.barMs).toBe(60_000);
    expect(recording.tape.instruments[0]).toEqual({ instId: "BTC-USD-SWAP", tickSize: "0.5", lotSize: "0.0001" });
    expect([series.open[0], series.high[0], series.low[0], series.close[0], series.volume[0]]).toEqual([
      92638, 92771, 92638, 92754, 23004137295,
    ]);
  });

  it("close at their timestamp when that is what it marks", async () => {
    const recording = await read([minute(1), minute(2)], { timestamp: "close" });
    expect(candlesOf(recording).at[0]).toBe(instant("2022-01-01T00:01:00Z"));
    expect(recording.meta.source).toMatch(/timestamps mark the close of a bar/);
  });

  it.each([
    ["2022-01-01 00:01:00", "2022-01-01 00:02:00"],
    ["2022-01-01T00:01:00Z", "2022-01-01T00:02Z"],
    ["2022-01-01T00:01:00.000+00:00", "2022-01-01 00:02 UTC"],
    ["1640995260000", "1640995320000"],
    ["1640995260", "1640995320"],
    ["1640995260000000", "1640995320000000"],
    ["1640995260000000000", "1640995320000000000"],
    ["1640995260.000", "1640995320.000"],
    ["2022-01-01T01:01:00+01:00", "2021-12-31T22:32:00-01:30"],
    ["20220101000100", "20220101000200"],
  ])("understand timestamps like %s", async (first, second) => {
    expect(candlesOf(await read([`${first},1,1,1,1,1`, `${second},1,1,1,1,1`])).at[0]).toBe(
      instant("2022-01-01T00:02:00Z"),
    );
  });

  it("keep microseconds of seconds with a fraction, and cut nanoseconds", async () => {
    const at = candlesOf(await read(["1640995260.0002509,1,1,1,1,1", "1640995320.0002509,1,1,1,1,1"])).at[0];
    expect(at).toBe(1_640_995_320_000_250 / 1_000);
  });

  it("understand days", async () => {
    expect(candlesOf(await read(["2024-02-28,1,1,1,1,1", "2024-02-29,1,1,1,1,1"])).barMs).toBe(86_400_000);
  });

  it("find their columns by name and leave others alone", async () => {
    const series = candlesOf(
      await read(
        ["5,x,11,9,10,12,2022-01-01 00:01:00", "6,y,11,9,10,12,2022-01-01 00:02:00"],
        {},
        "Volume,Note,Close,Low,Open,High,Timestamp",
      ),
    );
    expect([series.open[0], series.high[0], series.low[0], series.close[0], series.volume[0]]).toEqual([
      10, 12, 9, 11, 500_000_000,
    ]);
  });

  it("take the smallest gap as their length and count the missing ones", async () => {
    const recording = await read([minute(1), minute(2), minute(5), minute(7)]);
    expect(candlesOf(recording).barMs).toBe(60_000);
    expect(recording.meta.notes).toEqual([
      { what: "gaps between bars", count: 2 },
      { what: "bars missing in gaps", count: 3 },
    ]);
  });
});

describe("Imported volumes:", () => {
  const volumes = async (list: readonly string[], lotSize?: string) => {
    const recording = await read(
      list.map((volume, index) => minute(index, `10,12,9,11,${volume}`)),
      lotSize === undefined ? {} : { lotSize },
    );
    return [
      recording.tape.instruments[0]?.lotSize,
      [...candlesOf(recording).volume],
      recording.meta.notes?.[0]?.count ?? 0,
    ];
  };

  it.each<[string, readonly string[], string | undefined, unknown]>([
    ["are exact where they fit", ["50", "7.50", "0.25"], undefined, ["0.00000001", [5e9, 7.5e8, 2.5e7], 0]],
    ["leave room for larger ones", ["500000000", "7"], undefined, ["0.01", [5e10, 700], 0]],
    ["may all be zero", ["0", "0.0"], undefined, ["0.00000001", [0, 0], 0]],
    ["are brought down to a given lot, and counted", ["5.9", "6", "0.3"], "2", ["2", [2, 3, 0], 2]],
    [
      "lose digits that only a binary float has",
      ["2300413.7295", "218102.59507500002"],
      undefined,
      ["0.000001", [2300413729500, 218102595075], 1],
    ],
    [
      "lose digits that no count could hold",
      ["1", "123456789012.123456789"],
      undefined,
      ["0.1", [10, 1234567890121], 1],
    ],
    ["keep the digits of a given lot", ["1.23456789", "2"], "0.00000001", ["0.00000001", [123456789, 200000000], 0]],
  ])("%s", async (_, list, lotSize, expected) => {
    expect(await volumes(list, lotSize)).toEqual(expected);
  });

  it.each([
    ["a lot too fine for them", ["1", "123456789012"], "0.00000001"],
    ["digits beyond any count", ["1", "12345678901234567890"], undefined],
  ])("refuse %s by line", async (_, list, lotSize) => {
    await expect(volumes(list, lotSize)).rejects.toThrow(/csv.gz:3: /);
  });
});

describe("A candle import refuses by line and value:", () => {
  it.each<[string, readonly string[], RegExp]>([
    [
      "a repeated row with other values",
      [minute(1), minute(1, "10,12,9,11,6")],
      /:3: 2022-01-01 00:01:00 repeats the timestamp/,
    ],
    ["a row out of order", [minute(2), minute(3), minute(1)], /:4: 2022-01-01 00:01:00 comes before the row above it/],
    [
      "a gap of no whole number of bars",
      [minute(1), minute(2), "2022-01-01 00:03:30,1,1,1,1,1"],
      /:4: the bar of 2022-01-01T00:03:30.000Z is off the grid: bars last 60000 ms, and it comes 30000 ms after its place\. Correct its/,
    ],
    [
      "one bar off the grid of the others, not the good one after it",
      [minute(1), minute(2), "2022-01-01 00:03:07,10,12,9,11,5", minute(4), minute(5), minute(6)],
      /:4: the bar of 2022-01-01T00:03:07.000Z is off the grid: bars last 60000 ms, and it comes 7000 ms after its place/,
    ],
    [
      "one bar late by half of the others' length",
      [
        ...Array.from({ length: 20 }, (_, index) => minute(index)),
        "2022-01-01 00:20:30,10,12,9,11,5",
        minute(21),
        minute(22),
      ],
      /:22: the bar of 2022-01-01T00:20:30.000Z is off the grid: bars last 60000 ms, and it comes 30000 ms after its place/,
    ],
    [
      "the first bar off the grid, of a file that is newest first",
      [minute(6), minute(5), minute(4), minute(3), "2022-01-01 00:01:30,10,12,9,11,5"],
      /:6: the bar of 2022-01-01T00:01:30.000Z is off the grid/,
    ],
    [
      "a high below the close",
      [minute(1, "10,10.5,9,11,1"), minute(2)],
      /:2: .*expected 0 < low <= open and close <= high/,
    ],
    ["a low above the open", [minute(1), minute(2, "10,12,10.5,11,1")], /:3: .*10.5/],
    ["a price of zero", [minute(1, "0,0,0,0,0"), minute(2)], /:2: .*0 < low/],
    ["hexadecimal", [minute(1, "0x1e,12,9,11,5"), minute(2)], /:2: "open" is "0x1e"/],
    ["a negative volume", [minute(1, "10,12,9,11,-5"), minute(2)], /:2: "volume" is "-5"/],
    ["an empty cell", [minute(1, "10,12,9,,5"), minute(2)], /:2: "close" is ""/],
    ["a missing cell", [minute(1, "10,12,9,11"), minute(2)], /:2: 5 cells; the header names 6/],
    [
      "a month of 13",
      ["2022-13-01 00:00:00,1,1,1,1,1", minute(2)],
      /:2: "timestamp" is "2022-13-01 00:00:00"; expected UTC/,
    ],
    ["a day that does not exist", ["2022-02-30 00:00:00,1,1,1,1,1", minute(2)], /:2: "timestamp"/],
    ["a named time zone", ["2022-01-01T00:00:00 CET,1,1,1,1,1", minute(2)], /:2: "timestamp"/],
    [
      "seconds and dates mixed",
      ["1640995260,1,1,1,1,1", minute(2)],
      /:3: the timestamp .* is of dates; rows before it have seconds/,
    ],
    ["a single row", [minute(1)], /cannot be found from fewer than two rows/],
    ["no row", [], /cannot be found from fewer than two rows/],
    [
      "bars of half a millisecond",
      ["2022-01-01 00:00:00.0000,1,1,1,1,1", "2022-01-01 00:00:00.0005,1,1,1,1,1"],
      /smallest gap between rows is 0.5 ms/,
    ],
  ])("%s", async (_, rows, message) => {
    await expect(read(rows)).rejects.toThrow(message);
    await expect(read(rows)).rejects.toThrow(expect.objectContaining({ code: "IMPORT_INVALID" }));
  });

  it("an instant by the name that the file has for its column", async () => {
    const rows = ["yesterday,10,12,9,11,5", minute(2)];
    await expect(read(rows, {}, "Date,Open,High,Low,Close,Volume")).rejects.toThrow(
      /:2: "[Dd]ate" is "yesterday"; expected UTC/,
    );
  });

  it("a header without a column", async () => {
    await expect(read([minute(1)], {}, "timestamp,open,high,low,volume")).rejects.toThrow(/:1: the header lacks close/);
  });
});

describe("Prices printed as floats", () => {
  const prices = async (rows: readonly string[], names = header, options: Partial<RecordingOptions> = {}) => {
    const { tape, meta } = await read(
      rows.map((row, index) => `2022-01-0${index + 1},${row}`),
      options,
      names,
    );
    const tick = grid(tape.instruments[0]?.tickSize ?? "1");
    const { open, high, low, close } = tape.series[0] as CandleSeries;
    const texts = [...open.keys()].flatMap((row) =>
      [open, high, low, close].map((column) => tick.format(column[row] as number)),
    );
    return { texts, notes: meta.notes?.filter(({ what }) => what.startsWith("floats")) };
  };
  const yahoo = "Date,Open,High,Low,Close,Adj Close,Volume";

  // Written by Python: repr(0.1 + 0.2), "%.17g" and "%.20f" of doubles, and struct.unpack("f", struct.pack("f", x)).
  it.each<[string, readonly string[], string, readonly string[], number | undefined]>([
    ["shortest doubles", ["0.30000000000000004,0.4,0.2,0.3,1"], header, ["0.3", "0.4", "0.2", "0.3"], 1],
    ["seventeen digits", ["64123.199999999997,64200,64000,64100,1"], header, ["64123.2", "64200", "64000", "64100"], 1],
    ["all digits", ["0.10000000000000000555,0.2,0.1,0.1,1"], header, ["0.1", "0.2", "0.1", "0.1"], 1],
    [
      "doubles of no short decimal",
      ["64123.23456789012,94123.23456789012,64000.200000000004,64100,1"],
      header,
      ["64123.2345678901", "94123.2345678901", "64000.2", "64100"],
      3,
    ],
    [
      "singles",
      ["905.0,906.8099975585938,902.5599975585938,904.3699951171875,1"],
      header,
      ["905", "906.81", "902.56", "904.37"],
      3,
    ],
    [
      "singles of Yahoo, also with few digits",
      ["64000.0,64128.0,63525.0390625,63652.3515625,63652.3515625,1"],
      yahoo,
      ["64000", "64128", "63525.04", "63652.35"],
      2,
    ],
    [
      "decimals with many digits",
      ["0.1000000000000002,0.1000000000000003,0.1,0.1000000000000002,1"],
      header,
      ["0.1000000000000002", "0.1000000000000003", "0.1", "0.1000000000000002"],
      undefined,
    ],
    [
      "exact halves of a float",
      ["110.0078125,110.015625,110,110.015625,1"],
      header,
      ["110.0078125", "110.015625", "110", "110.015625"],
      undefined,
    ],
  ])("are read as what was meant: %s", async (_, [row = ""], names, expected, count) => {
    const { texts, notes } = await prices([row, row], names);
    expect(texts).toEqual([...expected, ...expected]);
    expect(notes?.[0]?.count).toBe(count === undefined ? undefined : 2 * count);
  });

  it("fit a given tick size", async () => {
    const rows = ["905.0,906.8099975585938,902.5599975585938,904.3699951171875,1", "905.0,905,905,905,1"];
    expect((await prices(rows, header, { tickSize: "0.01" })).texts[1]).toBe("906.81");
  });

  it("are refused by a tick size that they do not fit", async () => {
    await expect(prices(["1.234567890123,2,1,1,1", "1,1,1,1,1"], header, { tickSize: "0.01" })).rejects.toThrow(
      /:2: 1\.234567890123 is not a multiple of the tick size 0\.01/,
    );
  });
});
