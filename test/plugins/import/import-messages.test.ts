/** Recorded messages become exact rows, or are refused by file, line and value. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { grid } from "../../../src/decimal.ts";
import type { Series, Tape } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("import");

const base = 1_723_161_255_088n;
/** A line received `ms` milliseconds (and `ns` nanoseconds) into the recording. */
const line = (ms: number, message: unknown, ns = 0): string =>
  `${(base + BigInt(ms)) * 1_000_000n + BigInt(ns)} ${typeof message === "string" ? message : JSON.stringify(message)}`;
const on = (stream: string, data: object) => ({ stream: `btcusdt@${stream}`, data: { s: "BTCUSDT", ...data } });
const trade = (p: unknown, q: unknown, more: object = {}) =>
  on("trade", { e: "trade", p, q, m: false, X: "MARKET", ...more });
const ticker = (b: string, B: string, a: string, A: string) => on("bookTicker", { e: "bookTicker", u: 1, b, B, a, A });
const delta = (U: number, u: number, b: unknown[], a: unknown[] = [], more: object = {}) =>
  on("depth", { e: "depthUpdate", U, u, b, a, ...more });
const snapshot = (lastUpdateId: number, bids: unknown[], asks: unknown[] = []) => ({ lastUpdateId, bids, asks });

let counter = 0;
const fileOf = (lines: readonly string[] | Buffer): string => {
  const file = join(home, `recording-${counter++}.txt`);
  writeFileSync(file, Buffer.isBuffer(lines) ? lines : `${(lines as readonly string[]).join("\n")}\n`);
  return file;
};
const read = (lines: readonly string[] | Buffer, options: Partial<RecordingOptions> = {}) =>
  readRecording({ file: fileOf(lines), instrument: "BTC-USDT-SWAP", ...options });

const seriesOf = (tape: Tape, kind: Series["kind"]): Series | undefined =>
  tape.series.find((series) => series.kind === kind);

/** Rows of one kind as text, with times as milliseconds into the recording. */
const rows = (tape: Tape, kind: "trade" | "quote" | "level"): string[] => {
  const series = seriesOf(tape, kind);
  const [instrument] = tape.instruments;
  if (series === undefined || instrument === undefined) return [];
  const [tick, lot] = [grid(instrument.tickSize), grid(instrument.lotSize)];
  return Array.from(series.at, (at, row) => {
    const since = Math.round((at - Number(base)) * 1000) / 1000;
    const px = (column: Float64Array) => tick.format(column[row] ?? 0);
    const qty = (column: Float64Array) => lot.format(column[row] ?? 0);
    if (series.kind === "quote")
      return `${since} ${px(series.bidPx)}x${qty(series.bidQty)} ${px(series.askPx)}x${qty(series.askQty)}`;
    if (series.kind !== "trade" && series.kind !== "level") return "";
    const side = series.side[row] === 1 ? "buy" : "sell";
    return `${since} ${side} ${px(series.px)}x${qty(series.qty)}${series.kind === "level" && series.snapshot[row] === 1 ? " fresh" : ""}`;
  });
};

const notesOf = ({ meta }: Awaited<ReturnType<typeof read>>): string[] =>
  (meta.notes ?? []).map(({ what, count }) => `${what}: ${count}`);

describe("Imported trades and quotes", () => {
  it("become rows at their receive time, cut to microseconds", async () => {
    const { tape, meta } = await read([
      line(0, ticker("61800.20", "2.507", "61800.30", "0.000"), 1_999),
      line(1, trade("61800.30", "0.006"), 123_456),
      line(2, trade("61800.20", "0.1", { m: true, X: undefined })),
    ]);
    expect(rows(tape, "quote")).toEqual(["0.001 61800.2x2.507 61800.3x0"]);
    expect(rows(tape, "trade")).toEqual(["1.123 buy 61800.3x0.006", "2 sell 61800.2x0.1"]);
    expect(tape.instruments).toEqual([{ instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" }]);
    expect(meta.source).toBe(`Messages from recording-${counter - 1}.txt; times are when each was received.`);
  });

  it("are read from a spot recording, whose best prices name no event", async () => {
    const spot = {
      stream: "btcusdt@bookTicker",
      data: { u: 5, s: "BTCUSDT", b: "61685.99000000", B: "1.25869000", a: "61686.00000000", A: "2.44816000" },
    };
    const { tape } = await read([line(0, spot)], { instrument: "BTC-USDT" });
    expect(rows(tape, "quote")).toEqual(["0 61685.99x1.25869 61686x2.44816"]);
    expect(tape.instruments[0]).toMatchObject({ tickSize: "0.01", lotSize: "0.00001" });
  });

  it("keep the order of lines received in the same microsecond", async () => {
    const { tape } = await read([line(0, trade("2", "1"), 900), line(0, trade("1", "1"), 100)]);
    expect(rows(tape, "trade")).toEqual(["0 buy 2x1", "0 buy 1x1"]);
  });

  it("skip and count what the market did not trade, zero prices and quantities, and unknown events", async () => {
    const recording = await read([
      line(0, trade("0", "1")),
      line(1, trade("1", "0.000")),
      line(2, trade("1", "1", { X: "INSURANCE_FUND" })),
      line(3, on("kline", { e: "kline" })),
      line(4, on("kline", { e: "constructor" })),
      line(5, trade("7", "1")),
    ]);
    expect(rows(recording.tape, "trade")).toEqual(["5 buy 7x1"]);
    expect(notesOf(recording)).toEqual([
      "trades of price or quantity zero, skipped: 2",
      'trades that are not of the market ("INSURANCE_FUND"), skipped: 1',
      "messages of a kind that is not imported (kline): 1",
      "messages of a kind that is not imported (constructor): 1",
    ]);
  });

  it("may be compressed, with any name, with a byte order mark, empty lines and carriage returns", async () => {
    const text = `\uFEFF${line(0, trade("1", "1"))}\r\n\r\n${line(1, trade("2", "1"))}`;
    expect(rows((await read(gzipSync(text))).tape, "trade")).toEqual(["0 buy 1x1", "1 buy 2x1"]);
    // Compressed in pieces, of which the last one's size says nothing of the whole.
    const [head, tail] = [gzipSync(text.slice(0, 30)), gzipSync(text.slice(30))];
    expect(rows((await read(Buffer.concat([head, tail]))).tape, "trade")).toEqual(["0 buy 1x1", "1 buy 2x1"]);
  });
});

describe("Steps of an import", () => {
  it("count numbers with an exponent, as in files of rows", async () => {
    const { tape } = await read([line(0, trade("1E+6", "2.5e-1")), line(1, trade("1e0", "1"))]);
    expect(rows(tape, "trade")).toEqual(["0 buy 1000000x0.25", "1 buy 1x1"]);
  });

  it.each([
    [["100.50", "101.25", "100.75"], ["3", "6", "3"], "0.25", "3"],
    [["5", "10"], ["0.5", "0.00000125"], "5", "0.00000125"],
    [["0.00001234", "1"], ["123456789.00000000", "1"], "0.00000002", "1"],
  ])("are the greatest that divide all of %j and %j", async (prices, quantities, tickSize, lotSize) => {
    const { tape } = await read(prices.map((px, index) => line(index, trade(px, quantities[index]))));
    expect(tape.instruments[0]).toMatchObject({ tickSize, lotSize });
    const value = rows(tape, "trade");
    expect(value.map((row) => row.split(" ")[2])).toEqual(
      prices.map(
        (px, index) =>
          `${grid(tickSize).format(grid(tickSize).parse(px))}x${grid(lotSize).format(grid(lotSize).parse(quantities[index] ?? ""))}`,
      ),
    );
  });

  it("can be given, and then everything must fit them", async () => {
    const lines = [line(0, trade("100.5", "3")), line(1, trade("100.55", "3"))];
    expect((await read(lines, { tickSize: "0.01", lotSize: "0.1" })).tape.instruments[0]).toMatchObject({
      tickSize: "0.01",
      lotSize: "0.1",
    });
    await expect(read(lines, { tickSize: "0.1" })).rejects.toThrow(/:2: 100.55 is not a multiple of the tick size 0.1/);
    await expect(read(lines, { lotSize: "2" })).rejects.toThrow(/:1: 3 is not a multiple of the lot size 2/);
  });

  it.each(["0", "-1", "1e-3"])("refuses a given step of %s", async (tickSize) => {
    await expect(read([line(0, trade("1", "1"))], { tickSize })).rejects.toThrow(
      expect.objectContaining({ code: "DECIMAL_INVALID" }),
    );
  });

  it("refuses values that no common step can hold exactly, by line", async () => {
    await expect(read([line(0, trade("90071992547", "1")), line(1, trade("0.000001", "1"))])).rejects.toThrow(
      /:2: .*beyond 2\^53/,
    );
    await expect(read([line(0, trade("9007199254740993", "1"))])).rejects.toThrow(/:1: .*beyond 2\^53/);
  });
});

describe("Times of an import", () => {
  const early = [line(500, trade("2", "1")), line(0, trade("1", "1")), line(600, trade("3", "1"))];

  it("out of order within the tolerance are sorted and counted", async () => {
    const recording = await read(early);
    expect(rows(recording.tape, "trade")).toEqual(["0 buy 1x1", "500 buy 2x1", "600 buy 3x1"]);
    expect(notesOf(recording)).toEqual(["lines out of order by their receive time, sorted: 1"]);
  });

  it("that are equal keep the order of their lines, also when others are sorted", async () => {
    const { tape } = await read([...early, line(500, trade("4", "1")), line(500, trade("5", "1"))]);
    expect(rows(tape, "trade").slice(1, 4)).toEqual(["500 buy 2x1", "500 buy 4x1", "500 buy 5x1"]);
  });

  it("out of order beyond it are refused by both lines", async () => {
    await expect(read(early, { disorderMs: 499 })).rejects.toThrow(
      /:2: received at .*088Z, which is 500 ms before line 1 \(.*588Z\); at most 499 ms/,
    );
    expect((await read(early, { disorderMs: 500 })).tape.length).toBe(3);
  });

  it.each([
    ["milliseconds", `1723161255088 ${JSON.stringify(trade("1", "1"))}`],
    ["no space", `1723161255088000000${JSON.stringify(trade("1", "1"))}`],
    ["twenty digits", `17231612550880000000 ${JSON.stringify(trade("1", "1"))}`],
  ])("must be nanoseconds: %s", async (_, text) => {
    await expect(read([text])).rejects.toThrow(/:1: .*receive time in nanoseconds \(19 digits/);
  });

  it.each([-1, Number.NaN])("refuses a tolerance of %s", async (disorderMs) => {
    await expect(read(early, { disorderMs })).rejects.toThrow(expect.objectContaining({ code: "USAGE" }));
  });
});

describe("Imported books", () => {
  it("of a perpetual begin with the snapshot, then changes it does not hold, chained by pu", async () => {
    const recording = await read([
      line(0, delta(1, 10, [["100", "1"]], [], { pu: 0 })),
      line(1, delta(15, 25, [["101", "2"]], [], { pu: 10 })),
      line(2, delta(27, 30, [["102", "3"]], [], { pu: 25 })),
      line(3, snapshot(20, [["99", "9"]], [["110", "4"]])),
      line(4, delta(33, 40, [], [["110", "0"]], { pu: 30 })),
    ]);
    expect(rows(recording.tape, "level")).toEqual([
      "3 buy 99x9 fresh",
      "3 sell 110x4",
      "3 buy 101x2",
      "3 buy 102x3",
      "4 sell 110x0",
    ]);
    expect(notesOf(recording)).toEqual(["book messages already in the book, dropped: 1"]);
  });

  it("of spot chain by U one past the last u", async () => {
    const recording = await read([
      line(0, snapshot(20, [["99", "9"]])),
      line(1, delta(15, 20, [["98", "1"]])),
      line(2, delta(18, 22, [["97", "1"]])),
      line(3, delta(23, 23, [["96", "1"]])),
      line(4, delta(23, 23, [["95", "1"]])),
    ]);
    expect(rows(recording.tape, "level")).toEqual(["0 buy 99x9 fresh", "2 buy 97x1", "3 buy 96x1"]);
    expect(notesOf(recording)).toEqual(["book messages already in the book, dropped: 2"]);
  });

  it.each([
    ["spot", {}, {}],
    ["perpetual", { pu: 20 }, { pu: 24 }],
  ])("count a gap of a %s chain, go on, and start afresh at the next snapshot", async (_, first, second) => {
    const recording = await read([
      line(0, snapshot(20, [["99", "9"]])),
      line(1, delta(21, 22, [["98", "1"]], [], first)),
      line(2, delta(25, 26, [["97", "1"]], [], second)),
      line(3, snapshot(24, [["50", "5"]])),
      line(4, snapshot(99, [["51", "5"]])),
    ]);
    expect(rows(recording.tape, "level")).toEqual([
      "0 buy 99x9 fresh",
      "1 buy 98x1",
      "2 buy 97x1",
      "3 buy 50x5 fresh",
      "3 buy 97x1",
    ]);
    expect(notesOf(recording)).toEqual([
      "gaps in the chain of book messages: 1",
      "book snapshots that were not needed: 1",
    ]);
  });

  it("pass over a snapshot too old to heal a gap, and take one that reaches up to it", async () => {
    const recording = await read([
      line(0, snapshot(20, [["99", "9"]])),
      line(1, delta(25, 26, [["97", "1"]])),
      line(2, snapshot(23, [["50", "5"]])),
      line(3, snapshot(25, [["51", "5"]])),
      line(4, delta(27, 27, [["52", "1"]])),
    ]);
    expect(rows(recording.tape, "level")).toEqual([
      "0 buy 99x9 fresh",
      "1 buy 97x1",
      "3 buy 51x5 fresh",
      "3 buy 97x1",
      "4 buy 52x1",
    ]);
    expect(notesOf(recording)).toEqual([
      "gaps in the chain of book messages: 1",
      "book snapshots older than a gap, dropped: 1",
    ]);
  });

  it("count a snapshot too old for the changes that follow as a gap", async () => {
    expect(notesOf(await read([line(0, snapshot(20, [["99", "9"]])), line(1, delta(30, 31, [["98", "1"]]))]))).toEqual([
      "gaps in the chain of book messages: 1",
    ]);
  });

  it("of a perpetual link to a snapshot that ends on a message or in a hole between two", async () => {
    const levels: [string, string][] = [["98", "1"]];
    for (const snapshotId of [20, 24]) {
      const recording = await read([
        line(0, snapshot(snapshotId, [["99", "9"]])),
        line(1, delta(15, 20, levels, [], { pu: 10 })),
        line(2, delta(30, 31, levels, [], { pu: 20 })),
      ]);
      expect(notesOf(recording)).toEqual(["book messages already in the book, dropped: 1"]);
    }
  });

  it("forget what came before the last of several gaps", async () => {
    const recording = await read([
      line(0, snapshot(20, [["99", "9"]])),
      line(1, delta(25, 26, [["97", "1"]])),
      line(2, delta(30, 31, [["96", "1"]])),
      line(3, snapshot(30, [["50", "5"]])),
    ]);
    expect(rows(recording.tape, "level").slice(3)).toEqual(["3 buy 50x5 fresh", "3 buy 96x1"]);
    expect(notesOf(recording)).toEqual(["gaps in the chain of book messages: 2"]);
  });

  it("without any snapshot are dropped and counted", async () => {
    const recording = await read([line(0, delta(1, 2, [["98", "1"]])), line(1, trade("5", "1"))]);
    expect(rows(recording.tape, "level")).toEqual([]);
    expect(notesOf(recording)).toEqual(["book messages without a snapshot before or after them, dropped: 1"]);
  });
});

describe("Symbols of an import", () => {
  const other = { stream: "ethusdt@trade", data: { e: "trade", s: "ETHUSDT", p: "0.03", q: "1", m: true } };

  it("must be chosen when there are several, and the choice is taken alone", async () => {
    const lines = [line(0, trade("1", "1")), line(1, other), line(2, snapshot(1, [["5", "1"]]))];
    await expect(read(lines)).rejects.toThrow(/several symbols \(BTCUSDT, ETHUSDT\). Choose one with --symbol/);
    const recording = await read(lines, { symbol: "BTCUSDT" });
    expect(rows(recording.tape, "trade")).toEqual(["0 buy 1x1"]);
    expect(recording.tape.instruments[0]?.tickSize).toBe("1");
    expect(notesOf(recording)).toEqual([
      "messages of another symbol (ETHUSDT), dropped: 1",
      "messages without a symbol in a recording of several, dropped: 1",
    ]);
  });

  it("are refused when nothing is about them", async () => {
    await expect(read([line(0, trade("1", "1"))], { symbol: "XRPUSDT" })).rejects.toThrow(
      /no message is about symbol "XRPUSDT"; found BTCUSDT/,
    );
  });
});

describe("A message import refuses by line and value:", () => {
  it.each<[string, unknown, RegExp]>([
    ["an exponent without digits", trade("1e", "1"), /"p" is "1e"; expected a decimal/],
    ["not a number", trade("1", "NaN"), /"q" is "NaN"/],
    ["hexadecimal", trade("0x10", "1"), /"p" is "0x10"/],
    ["a negative size", trade("1", "-1"), /"q" is "-1".*not negative/],
    ["a plus sign", trade("+1", "1"), /"p" is "\+1"/],
    ["an empty text", trade("", "1"), /"p" is ""/],
    ["a lone point", trade(".", "1"), /"p" is "."/],
    ["a point without digits after it", trade("1.", "1"), /"p" is "1."/],
    ["two points", trade("1.2.3", "1"), /"p" is "1.2.3"/],
    ["a space", trade(" 1", "1"), /"p" is " 1"/],
    ["a negative number", trade(-1, "1"), /"p" is "-1".*not negative/],
    ["a truth", trade(true, "1"), /"p" is true;/],
    ["a missing price", on("trade", { e: "trade", q: "1", m: true }), /"p" is missing/],
    ["a missing side", on("trade", { e: "trade", p: "1", q: "1" }), /"m" is undefined; expected true or false/],
    ["a bad quote", ticker("1", "x", "2", "1"), /"B" is "x"/],
    ["a bad level", delta(1, 2, [["98", "-1"]]), /"b" is "-1"/],
    ["a level that is no pair", delta(1, 2, ["98"]), /"b" holds "98"; expected \[price, quantity\]/],
    [
      "levels that are no list",
      on("depth", { e: "depthUpdate", U: 1, u: 2, b: {}, a: [] }),
      /"b" is \{\}; expected a list/,
    ],
    ["an update id that is no number", delta("1" as unknown as number, 2, []), /"U" is "1"; expected a whole number/],
    ["no JSON", '{"stream":"btcusdt@tra', /is not a receive time followed by JSON/],
    ["no object", "[1]", /holds no JSON object/],
    ["data that is no object", { stream: "btcusdt@trade", data: 5 }, /"data" is "5", not an object/],
  ])("%s", async (_, message, expected) => {
    const attempt = () => read([line(0, trade("1", "1")), line(1, message)]);
    await expect(attempt()).rejects.toThrow(expected);
    await expect(attempt()).rejects.toThrow(/recording-\d+\.txt:2: /);
    await expect(attempt()).rejects.toThrow(expect.objectContaining({ code: "IMPORT_INVALID" }));
  });

  it("a truncated gzip file", async () => {
    const whole = gzipSync(Array.from({ length: 500 }, (_, index) => line(index, trade("1", "1"))).join("\n"));
    await expect(read(whole.subarray(0, -20))).rejects.toThrow(/gzip data is damaged or ends early/);
  });

  it("a file that is not there, is empty, or is something else", async () => {
    await expect(readRecording({ file: join(home, "none.gz"), instrument: "BTC-USDT" })).rejects.toThrow(
      /there is no such file/,
    );
    await expect(read([""])).rejects.toThrow(/the file is empty/);
    await expect(read(["hello world"])).rejects.toThrow(
      /line 1 is "hello world", which is of no known layout. Expected recorded messages/,
    );
    await expect(readRecording({ file: home, instrument: "BTC-USDT" })).rejects.toThrow(
      expect.objectContaining({ code: "IMPORT_INVALID" }),
    );
  });

  it("a recording of which nothing remains, with the reasons", async () => {
    await expect(read([line(0, trade("0", "1"))])).rejects.toThrow(
      /nothing in it could be imported.\n {2}- trades of price or quantity zero, skipped: 1/,
    );
  });

  it("an instrument of neither kind", async () => {
    await expect(read([line(0, trade("1", "1"))], { instrument: "BTCUSDT" })).rejects.toThrow(
      expect.objectContaining({ code: "INST_ID_INVALID" }),
    );
  });
});
