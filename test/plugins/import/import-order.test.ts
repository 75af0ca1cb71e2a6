/** Which of two messages is newer: by what the exchange says of them, where the order of their arrival says something else. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type RecordingOptions, readRecording } from "../../../plugins/import/read-recording.ts";
import { grid } from "../../../src/decimal.ts";
import type { Tape } from "../../../src/market/tape/tape.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const home = temporaryFolder("import-order");

const base = 1_723_161_255_088;
/** A line received `ms` milliseconds and `ns` nanoseconds into the recording. */
const line = (ms: number, message: object, ns = 0): string =>
  `${BigInt(base + ms) * 1_000_000n + BigInt(ns)} ${JSON.stringify(message)}`;
const on = (stream: string, data: object) => ({ stream: `btcusdt@${stream}`, data: { s: "BTCUSDT", ...data } });
const trade = (p: string, more: object = {}) => on("trade", { e: "trade", p, q: "1", m: false, ...more });
const quote = (u: number | undefined, b: string, B: string, a: string, A: string, more: object = {}) =>
  on("bookTicker", { e: "bookTicker", u, b, B, a, A, ...more });
type Levels = readonly (readonly [px: string, qty: string])[];
const delta = (u: number, b: Levels, a: Levels = [], more: object = {}) =>
  on("depth", { e: "depthUpdate", U: u, u, pu: u - 1, b, a, ...more });
const snapshot = (lastUpdateId: number, bids: Levels, asks: Levels, more: object = {}) => ({
  lastUpdateId,
  bids,
  asks,
  ...more,
});

let counter = 0;
const read = (lines: readonly string[], options: Partial<RecordingOptions> = {}) => {
  const file = join(home, `recording-${counter++}.txt`);
  writeFileSync(file, `${lines.join("\n")}\n`);
  return readRecording({ file, instrument: "BTC-USDT-SWAP", ...options });
};

/** Rows of all kinds in the order in which they are played. */
const played = ({ instruments, series, order }: Tape): string[] => {
  const [{ tickSize, lotSize } = { tickSize: "1", lotSize: "1" }] = instruments;
  const [tick, lot] = [grid(tickSize), grid(lotSize)];
  return Array.from(order.series, (which, index) => {
    const one = series[which];
    const row = order.row[index] ?? 0;
    const since = Math.round(((one?.at[row] ?? 0) - base) * 1_000) / 1_000;
    const shown = (px: Float64Array, qty: Float64Array) => `${tick.format(px[row] ?? 0)}x${lot.format(qty[row] ?? 0)}`;
    if (one?.kind === "quote") return `${since} quote ${shown(one.bidPx, one.bidQty)} ${shown(one.askPx, one.askQty)}`;
    if (one?.kind !== "level" && one?.kind !== "trade") return "";
    return `${since} ${one.kind === "trade" ? "trade" : one.side[row] === 1 ? "bid" : "ask"} ${shown(one.px, one.qty)}`;
  });
};
const notesOf = ({ meta }: Awaited<ReturnType<typeof read>>): string[] =>
  (meta.notes ?? []).map(({ what, count }) => `${what}: ${count}`);
const corrected = "book messages older than the best prices before them, corrected by these";

describe("Imported rows of one microsecond", () => {
  const whole = snapshot(1, [["100", "5"]], [["103", "5"]]);

  it("are played in the order of their lines, whatever their kinds", async () => {
    const { tape } = await read([
      line(0, whole),
      line(1, trade("100"), 100),
      line(1, quote(9, "100", "2", "102", "3"), 200),
      line(1, delta(10, [["101", "7"]]), 300),
      line(1, delta(11, [["101", "8"]]), 400),
      line(1, trade("101"), 500),
      line(1, quote(12, "101", "2", "102", "3"), 2_500),
      line(1, trade("102"), 2_600),
    ]);
    expect(played(tape).slice(2)).toEqual([
      "1 trade 100x1",
      "1.001 quote 100x2 102x3",
      "1.002 bid 101x7",
      "1.002 bid 101x8",
      "1.002 trade 101x1",
      "1.003 quote 101x2 102x3",
      "1.003 trade 102x1",
    ]);
  });

  it("keep their instant where their kinds are in order already", async () => {
    const lines = [
      line(1, delta(10, [["101", "7"]])),
      line(1, quote(12, "101", "2", "102", "3")),
      line(1, trade("101")),
    ];
    expect(played((await read([line(0, whole), ...lines])).tape).slice(2)).toEqual([
      "1 bid 101x7",
      "1 quote 101x2 102x3",
      "1 trade 101x1",
    ]);
  });
});

describe("A book message older than the best prices before it", () => {
  const whole = snapshot(
    1,
    [
      ["100", "5"],
      ["99", "6"],
    ],
    [
      ["103", "5"],
      ["104", "6"],
    ],
  );

  it("shows nothing better than these, and their quantities", async () => {
    const recording = await read([
      line(0, whole),
      line(1, quote(9, "100", "2.5", "103", "4")),
      line(
        2,
        delta(
          2,
          [
            ["101", "7"],
            ["100", "8"],
            ["99", "9"],
          ],
          [
            ["102.5", "7"],
            ["103", "8"],
            ["104", "9"],
          ],
        ),
      ),
    ]);
    expect(played(recording.tape).slice(5)).toEqual([
      "2 bid 101x0",
      "2 bid 100x2.5",
      "2 bid 99x9",
      "2 ask 102.5x0",
      "2 ask 103x4",
      "2 ask 104x9",
    ]);
    expect(notesOf(recording)).toEqual([`${corrected}: 1`]);
  });

  it("still takes away what is better than these", async () => {
    const recording = await read([
      line(0, whole),
      line(1, quote(9, "99", "1", "104", "1")),
      line(2, delta(2, [["100", "0"]], [["103", "0"]])),
    ]);
    expect(played(recording.tape).slice(5)).toEqual(["2 bid 100x0", "2 ask 103x0"]);
    expect(notesOf(recording)).toEqual([]);
  });

  it("shows nothing at all on a side of which they say that it is empty", async () => {
    const recording = await read([
      line(0, whole),
      line(1, quote(9, "0", "0", "103", "5")),
      line(2, delta(2, [["98", "1"]])),
    ]);
    expect(played(recording.tape).slice(5)).toEqual(["2 bid 98x0"]);
  });

  it("as a snapshot shows them also where it did not have them", async () => {
    const recording = await read([line(0, quote(9, "101", "2", "102", "3")), line(1, whole)]);
    expect(played(recording.tape).slice(1)).toEqual([
      "1 bid 100x5",
      "1 bid 99x6",
      "1 bid 101x2",
      "1 ask 103x5",
      "1 ask 104x6",
      "1 ask 102x3",
    ]);
    expect(notesOf(recording)).toEqual([`${corrected}: 1`]);
  });

  it.each([
    ["of the same update", 9, 9],
    ["of a later update", 9, 10],
    ["beside quotes without ids", undefined, 2],
  ])("is left as it came where it is %s", async (_, quoted, told) => {
    const recording = await read([
      line(0, whole),
      line(1, quote(quoted, "100", "2", "103", "4")),
      line(2, delta(told, [["101", "7"]])),
    ]);
    expect(played(recording.tape).at(-1)).toBe("2 bid 101x7");
  });
});

describe("The exchange's time axis", () => {
  /** Sent at `ms` by the exchange's clock, which is 1,270 ms ahead of the recorder's. */
  const at = (ms: number) => ({ E: base + 1_270 + ms + 1, T: base + 1_270 + ms });
  const onExchange = (lines: readonly string[], more: Partial<RecordingOptions> = {}) =>
    read(lines, { axis: "exchange", ...more });
  const ahead = 1_270;
  const since = ({ tape }: Awaited<ReturnType<typeof read>>): string[] =>
    played(tape).map((row) => row.replace(/^[\d.]+/, (ms) => String(Math.round((Number(ms) - ahead) * 1_000) / 1_000)));

  it("dates rows by when they happened, and orders book messages of one time by their updates", async () => {
    const recording = await onExchange([
      line(2, snapshot(1, [["100", "5"]], [["103", "5"]], at(0))),
      line(9, trade("100", at(5))),
      line(10, quote(9, "101", "2", "102", "3", at(5))),
      line(11, delta(2, [["99", "7"]], [], at(5))),
      line(12, trade("101", at(5))),
      line(13, trade("102", at(4))),
    ]);
    expect(since(recording)).toEqual([
      "0 bid 100x5",
      "0 ask 103x5",
      "4 trade 102x1",
      "5 trade 100x1",
      "5.001 bid 99x7",
      "5.001 quote 101x2 102x3",
      "5.001 trade 101x1",
    ]);
    expect(recording.meta.source).toContain("times are the exchange's");
    expect(notesOf(recording)).toEqual([]);
  });

  it("takes an older book message at its own time, where nothing has to be corrected", async () => {
    const lines = [
      line(2, snapshot(1, [["100", "5"]], [["103", "5"]], at(0))),
      line(9, quote(9, "100", "2", "103", "4", at(8))),
      line(12, delta(4, [["101", "7"]], [], at(5))),
    ];
    expect(since(await onExchange(lines)).slice(2)).toEqual(["5 bid 101x7", "8 quote 100x2 103x4"]);
  });

  it("gives a message that tells no time the delay of the one before it", async () => {
    const { E, ...T } = at(5);
    const recording = await onExchange([
      line(6, trade("100", { E })),
      line(10, quote(9, "101", "2", "102", "3"), 500_000),
      line(10, trade("101", T), 600_000),
      line(12, quote(10, "100", "2", "102", "3")),
    ]);
    expect(since(recording)).toEqual([
      "5 trade 101x1",
      "6 trade 100x1",
      "6.4 quote 100x2 102x3",
      "10.5 quote 101x2 102x3",
    ]);
    expect(notesOf(recording)).toEqual(["messages without a time of the exchange, dated like those before them: 2"]);
  });

  it("reads a mark's time from when it was sent, and times in microseconds", async () => {
    const mark = on("markPrice", {
      e: "markPriceUpdate",
      E: base + ahead + 3,
      T: base + 3_600_000,
      p: "100.5",
      r: "0.0001",
    });
    const { tape } = await onExchange([
      line(4, trade("100", { T: (base + ahead) * 1_000 + 2_250 })),
      line(5, mark),
      line(6, trade("1", at(4))),
    ]);
    expect(tape.series.map(({ kind, at: times }) => [kind, ...times].join(" "))).toEqual([
      `mark ${base + ahead + 3}`,
      `trade ${base + ahead + 2.25} ${base + ahead + 4}`,
    ]);
  });

  it("tells how long messages took, the quickest taking no time where the recorder's clock was behind", async () => {
    const lines = Array.from({ length: 101 }, (_, index) =>
      line(10 * index + Math.floor(index / 4), trade("100", at(10 * index))),
    );
    const { feed } = (await onExchange([...lines, line(2_000, snapshot(1, [["1", "1"]], [], at(0)))])).meta;
    expect(feed?.clockBehindMs).toBe(ahead);
    expect([0, 50, 100, 200].map((step) => feed?.delaysMs[step])).toEqual([0, 6, 12, 25]);
    const truthful = { T: base, E: base };
    const late = (await onExchange(Array.from({ length: 20 }, () => line(3, trade("100", truthful))))).meta.feed;
    expect([late?.clockBehindMs, late?.delaysMs[0]]).toEqual([0, 3]);
    expect(
      (await onExchange(Array.from({ length: 19 }, () => line(3, trade("100", truthful))))).meta.feed,
    ).toBeUndefined();
  });

  it.each<[string, readonly string[], RegExp]>([
    [
      "nothing tells a time",
      [line(0, trade("1"))],
      /:1: neither this nor any other message has the exchange's time\. Import.*without --axis/,
    ],
    [
      "a time is no time",
      [line(0, trade("1", at(0))), line(1, trade("1", { T: "x" }))],
      /:2: "T" is "x"; expected a whole number/,
    ],
    [
      "a time is far off",
      [line(0, trade("1", { T: 1_000 }))],
      /:1: its time of the exchange is -\d+ minutes from the one at which it was received/,
    ],
  ])("is refused by line where %s", async (_, lines, problem) => {
    await expect(onExchange(lines)).rejects.toThrow(problem);
  });

  it("is refused for candles", async () => {
    const lines = [
      "timestamp,open,high,low,close,volume",
      "2022-01-01 00:00:00,1,2,1,2,3",
      "2022-01-01 00:01:00,2,2,1,1,4",
    ];
    await expect(onExchange(lines)).rejects.toThrow(
      /files of layout candles have one time only\. Import them without --axis exchange/,
    );
  });
});
