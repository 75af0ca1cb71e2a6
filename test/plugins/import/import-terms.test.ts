/** Funding rates, mark prices and changes of rules are merged into a recording by time, or refused by file, line and value. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { lastPrices } from "../../../src/backtest/last-prices.ts";
import { cutTape } from "../../../src/market/cut-tape.ts";
import { readFixture, writeFixture } from "../../../src/market/tape/fixture.ts";
import { columnsOf, createTape, type Series, seriesOf, type Tape } from "../../../src/market/tape/tape.ts";
import { coverageOf } from "../../../src/report/coverage.ts";
import { gapsOf } from "../../../src/report/coverage-text.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("terms");

let counter = 0;
const stored = (lines: readonly string[]): string => {
  const file = join(home, `file-${counter++}.csv`);
  writeFileSync(file, lines.join("\n"));
  return file;
};

const start = Date.UTC(2024, 0, 1);
const hourMs = 3_600_000;
const stamp = (hours: number): string => new Date(start + hours * hourMs).toISOString().replace("T", " ").slice(0, 19);
/** Bars of an hour that close at hours 1 to 24 of the year. */
const bars = stored([
  "timestamp,open,high,low,close,volume",
  ...Array.from({ length: 24 }, (_, hour) => `${stamp(hour)},100,101,99.5,100.5,3`),
]);

const beside = (terms: readonly string[], options: Partial<RecordingOptions> = {}) =>
  readRecording({ file: bars, instrument: "BTC-USDT-SWAP", terms: [stored(terms)], ...options });
const kindOf = (tape: Tape, kind: Series["kind"]): Series | undefined =>
  tape.series.find((series) => series.kind === kind);
/** Rows as `hour: columns`. */
const rowsOf = (tape: Tape, kind: Series["kind"]): readonly string[] => {
  const series = kindOf(tape, kind);
  if (series === undefined) return [];
  return Array.from(
    series.at,
    (at, row) =>
      `${(at - start) / hourMs}: ${columnsOf(series)
        .map((column) => column[row])
        .join(" ")}`,
  );
};
const notesOf = ({ meta }: Awaited<ReturnType<typeof beside>>): readonly string[] =>
  (meta.notes ?? []).map(({ what, count }) => `${what}: ${count}`);

describe("Imported funding", () => {
  it("has exact rates of either sign, and what lies outside the recording is left out and counted", async () => {
    const recording = await beside([
      "timestamp,funding",
      `${stamp(0)},0.0005`,
      `${stamp(8)},0.0001`,
      `${stamp(16)},-0.0000792386885341`,
      `${stamp(24)},0`,
      `${stamp(32)},0.1`,
    ]);
    expect(rowsOf(recording.tape, "funding")).toEqual(["8: 1 1000000000000", "16: -1 792386885341", "24: 1 0"]);
    expect(notesOf(recording)).toEqual(["funding rates outside the recording, dropped: 2"]);
  });

  it("that is missing is counted, by the smallest distance", async () => {
    const recording = await beside(["funding,timestamp", ...[2, 6, 14, 22].map((hour) => `0.0001,${stamp(hour)}`)]);
    expect(notesOf(recording)).toEqual(["gaps between funding rates: 2", "funding rates missing in gaps: 2"]);
    const coverage = coverageOf(recording.tape, []).series.find(({ kind }) => kind === "funding");
    expect(coverage).toMatchObject({ rows: 4, gaps: 2, gapMs: 16 * hourMs });
    expect(coverage && gapsOf(coverage, 300_000)).toMatch(/^2 gaps over an interval, longest 8 h from/);
  });

  it.each([
    [
      ["timestamp,funding", `${stamp(8)},0.5`],
      /:2: "funding" is 0.5; a rate has at most 16 decimals and is below 0.45/,
    ],
    [["timestamp,funding", `${stamp(8)},0.00000000000000001`], /a rate has at most 16 decimals/],
    [["timestamp,funding", `${stamp(8)},1e-4`], /:2: "funding" is "1e-4"; expected a decimal in plain digits/],
    [
      ["timestamp,funding", `${stamp(8)},0.1`, `${stamp(7)},0.1`],
      /:3: this funding comes before the one of line 2; times rise from row to row/,
    ],
    [
      ["timestamp,funding", `${stamp(8)},0.1`, "", `${stamp(8)},0.1`],
      /:4: this funding has the timestamp of the one of line 2/,
    ],
    [["timestamp,funding", `${stamp(8)},0.1,7`], /:2: 3 cells; the header names 2/],
    [["timestamp,funding", "yesterday,0.1"], /:2: "timestamp" is "yesterday"; expected UTC/],
    [['{"timestamp":1704096000000,"funding":0.1}'], /:1: "funding" is 0.1; expected a decimal in plain digits/],
    [['{"timestamp":1704096000000,"funding":"0.1"}', "[]"], /:2: \[\] is not a JSON object/],
  ])("is refused: %j", async (lines, message) => {
    await expect(beside(lines)).rejects.toThrow(message);
  });

  it("told by two files for one instant is refused, not charged twice", async () => {
    const one = stored(["timestamp,funding", `${stamp(8)},0.1`]);
    const two = stored(["timestamp,funding", `${stamp(8)},0.2`]);
    await expect(readRecording({ file: bars, instrument: "BTC-USDT-SWAP", terms: [one, two] })).rejects.toThrow(
      /this funding has the timestamp of/,
    );
  });
});

describe("Imported mark prices", () => {
  it("are whole ticks and parts of one, finer than the tick, which they do not refine", async () => {
    const recording = await beside([
      '{"timestamp":"2024-01-01 02:00:00","mark":"100.12345678"}',
      '{"timestamp":1704078000000,"mark":"99.5","funding":"0.0001"}',
    ]);
    expect(recording.tape.instruments[0]?.tickSize).toBe("0.5");
    expect(rowsOf(recording.tape, "mark")).toEqual(["2: 200 246913560", "3: 199 0"]);
    expect(rowsOf(recording.tape, "funding")).toEqual(["3: 1 1000000000000"]);
    expect(notesOf(recording)).toEqual([]);
    expect(lastPrices(recording.tape).get("BTC-USDT-SWAP")).toBe("99.5");
  });

  it("that were known before the recording stand at its start, the latest of them", async () => {
    const recording = await beside(["timestamp,mark", `${stamp(-5)},90`, `${stamp(0)},100.25`, `${stamp(30)},95`]);
    expect(rowsOf(recording.tape, "mark")).toEqual(["1: 200 500000000"]);
    expect(notesOf(recording)).toEqual(["mark prices outside the recording, dropped: 2"]);
  });

  it("too fine for a billionth of a tick are cut, and counted", async () => {
    expect(notesOf(await beside(["timestamp,mark", `${stamp(2)},100.0000000001`]))).toEqual([
      "mark prices cut to a billionth of a tick: 1",
    ]);
  });

  it.each(["0", "-1", "x"])("of %s are refused", async (mark) => {
    await expect(beside(["timestamp,mark", `${stamp(2)},${mark}`])).rejects.toThrow(
      /"mark" is .*; expected a decimal above 0/,
    );
  });
});

describe("Imported rule changes", () => {
  it("stand until the next, count in the tape's steps, and leave out what is as it was", async () => {
    const recording = await beside(
      [
        "timestamp,tickSize,lotSize,listed",
        `${stamp(-9)},0.1,,`,
        `${stamp(5)},,2,`,
        `${stamp(6)},,,false`,
        `${stamp(9)},0.5,,true`,
      ],
      { lotSize: "1" },
    );
    expect(recording.tape.instruments[0]).toMatchObject({ tickSize: "0.1", lotSize: "1" });
    expect(rowsOf(recording.tape, "change")).toEqual(["1: 1 1 1", "5: 1 2 1", "6: 1 2 0", "9: 5 2 1"]);
    const coverage = coverageOf(recording.tape, []).series.find(({ kind }) => kind === "change");
    expect(coverage).toMatchObject({ rows: 4, gaps: 0 });
  });

  it.each([
    [
      ["timestamp,lotSize", `${stamp(2)},0.000000005`],
      /:2: "lotSize" is 0.000000005, no multiple of 0.00000001, which the recording is counted in. Give --lot-size/,
    ],
    [["timestamp,listed", `${stamp(2)},maybe`], /:2: "listed" is "maybe"; expected true or false/],
    [["timestamp,tickSize", `${stamp(2)},0`], /"tickSize" is "0"; expected a decimal above 0/],
    [["timestamp,tickSize", `${stamp(3)},1`, `${stamp(2)},2`], /:3: this rule comes before the one of line 2/],
  ])("are refused: %j", async (lines, message) => {
    await expect(beside(lines)).rejects.toThrow(message);
  });
});

describe("Imported terms", () => {
  it("are merged by time, ahead of what trades at their instant: rules, marks, funding", async () => {
    const { tape } = await beside([`timestamp,listed,mark,funding`, `${stamp(2)},true,100,0.0001`]);
    const kinds = Array.from({ length: 5 }, (_, index) => tape.series[tape.order.series[index] ?? 0]?.kind);
    expect(kinds).toEqual(["candle", "change", "mark", "funding", "candle"]);
  });

  it("survive the disk, and a recording without them is as before", async () => {
    const recording = await beside([
      "timestamp,funding,mark,tickSize,listed",
      `${stamp(8)},-0.0001,100.123456789,0.5,0`,
    ]);
    const dir = join(home, "fixture");
    writeFixture(dir, recording.tape, recording.meta);
    const { tape, manifest } = readFixture(dir);
    expect(manifest.format).toBe("sluice-fixture/1");
    for (const kind of ["change", "mark", "funding", "candle"] as const)
      expect(rowsOf(tape, kind)).toEqual(rowsOf(recording.tape, kind));
    expect(readFixture("test/fixtures/demo").tape.length).toBeGreaterThan(0);
    expect(
      (await readRecording({ file: bars, instrument: "BTC-USDT-SWAP" })).tape.series.map(({ kind }) => kind),
    ).toEqual(["candle"]);
  });

  it("alone are no recording, and a recording is no terms", async () => {
    const terms = stored(["timestamp,funding", `${stamp(8)},0.1`]);
    await expect(readRecording({ file: terms, instrument: "BTC-USDT-SWAP" })).rejects.toThrow(
      /it holds no trading, only its terms. Name the recording first/,
    );
    await expect(readRecording({ file: bars, instrument: "BTC-USDT-SWAP", terms: [bars] })).rejects.toThrow(
      /it holds no terms\. Terms are a CSV file with a header of timestamp and any of funding, mark, tickSize, lotSize and listed, or a JSON/,
    );
  });

  it("of a window begin with what stood before it, and never charge a funding again", async () => {
    const { tape } = await beside([
      "timestamp,funding,mark,listed",
      ...[2, 4, 20].map((hour) => `${stamp(hour)},0.0001,${100 + hour},true`),
    ]);
    const window = cutTape(tape, { fromAt: start + 10 * hourMs, toAt: start + 30 * hourMs });
    expect(rowsOf(window, "mark")).toEqual(["10: 208 0", "20: 240 0"]);
    expect(rowsOf(window, "change")).toEqual(["10: 1 1 1", "20: 1 1 1"]);
    expect(rowsOf(window, "funding")).toEqual(["20: 1 1000000000000"]);
  });

  it("out of order in a tape are refused as other rows are", () => {
    const instrument = { instId: "BTC-USDT-SWAP", tickSize: "1", lotSize: "1" };
    const series = seriesOf("funding", 0, Float64Array.of(2, 1), [Int8Array.of(1, 1), Float64Array.of(1, 1)]);
    expect(() => createTape([instrument], [series])).toThrow(
      /funding of BTC-USDT-SWAP: row 1 is at 1 ms, the row before it at 2 ms/,
    );
  });
});

describe("Imported mark messages", () => {
  const base = BigInt(start);
  const line = (ms: number, data: object): string =>
    `${(base + BigInt(ms)) * 1_000_000n} ${JSON.stringify({ stream: "btcusdt@x", data: { s: "BTCUSDT", ...data } })}`;
  const trade = (ms: number) => line(ms, { e: "trade", p: "100.5", q: "1", m: false });
  const mark = (ms: number, p: string, r: string, T: number) => line(ms, { e: "markPriceUpdate", p, r, T: start + T });
  const read = (...lines: readonly string[]) =>
    readRecording({ file: stored(lines), instrument: "BTC-USDT-SWAP", tickSize: "0.5" });
  const since = (tape: Tape, kind: Series["kind"]) => {
    const series = kindOf(tape, kind);
    return series === undefined
      ? []
      : Array.from(series.at, (at, row) => [at - start, ...columnsOf(series).map((column) => column[row])]);
  };

  it("give marks as received, and the rate told last before its instant as funding", async () => {
    const { tape } = await read(
      trade(0),
      mark(100, "100.75000000", "0.00010000", 5_000),
      mark(4_900, "100.25", "-0.0002", 5_000),
      // Tells once more of what is over.
      mark(5_050, "100.25", "-0.0002", 5_000),
      mark(5_100, "100.25", "0.0003", 9_000),
      mark(8_900, "100.25", "0.0004", 9_000),
      trade(10_000),
    );
    expect(since(tape, "mark")).toEqual([
      [100, 201, 500_000_000],
      [4_900, 200, 500_000_000],
      [5_050, 200, 500_000_000],
      [5_100, 200, 500_000_000],
      [8_900, 200, 500_000_000],
    ]);
    // The second funding fell due after the last message that tells of marks.
    expect(since(tape, "funding")).toEqual([[5_000, -1, 2_000_000_000_000]]);
  });

  it("have no funding where none is told, and refuse a rate that is none", async () => {
    expect(since((await read(trade(0), mark(100, "100.5", "", 0), trade(200))).tape, "funding")).toEqual([]);
    await expect(read(trade(0), mark(100, "100.5", "x", 5_000))).rejects.toThrow(/:2: "r" is "x"; expected a decimal/);
    await expect(read(trade(0), mark(100, "zero", "0.1", 5_000))).rejects.toThrow(/:2: "p" is "zero"/);
  });
});
