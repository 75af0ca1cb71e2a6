/** Which of two messages is newer: by what the exchange says of them, where the order of their arrival says something else. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { grid } from "../../src/decimal.ts";
import type { Tape } from "../../src/market/tape.ts";
import { type RecordingOptions, readRecording } from "../../src/tape/import.ts";

const home = mkdtempSync(join(tmpdir(), "sluice-import-order-"));
afterAll(() => {
  rmSync(home, { recursive: true });
});

const base = 1_723_161_255_088;
/** A line received `ms` milliseconds and `ns` nanoseconds into the recording. */
const line = (ms: number, message: object, ns = 0): string => `${BigInt(base + ms) * 1_000_000n + BigInt(ns)} ${JSON.stringify(message)}`;
const on = (stream: string, data: object) => ({ stream: `btcusdt@${stream}`, data: { s: "BTCUSDT", ...data } });
const trade = (p: string, more: object = {}) => on("trade", { e: "trade", p, q: "1", m: false, ...more });
const quote = (u: number | undefined, b: string, B: string, a: string, A: string, more: object = {}) =>
  on("bookTicker", { e: "bookTicker", u, b, B, a, A, ...more });
type Levels = readonly (readonly [px: string, qty: string])[];
const delta = (u: number, b: Levels, a: Levels = [], more: object = {}) =>
  on("depth", { e: "depthUpdate", U: u, u, pu: u - 1, b, a, ...more });
const snapshot = (lastUpdateId: number, bids: Levels, asks: Levels, more: object = {}) => ({ lastUpdateId, bids, asks, ...more });

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
const notesOf = ({ meta }: ReturnType<typeof read>): string[] => (meta.notes ?? []).map(({ what, count }) => `${what}: ${count}`);
const corrected = "book messages older than the best prices before them, corrected by these";

describe("rows of one microsecond", () => {
  const whole = snapshot(1, [["100", "5"]], [["103", "5"]]);

  it("are played in the order of their lines, whatever their kinds", () => {
    const { tape } = read([
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

  it("keep their instant where their kinds are in order already", () => {
    const lines = [line(1, delta(10, [["101", "7"]])), line(1, quote(12, "101", "2", "102", "3")), line(1, trade("101"))];
    expect(played(read([line(0, whole), ...lines]).tape).slice(2)).toEqual(["1 bid 101x7", "1 quote 101x2 102x3", "1 trade 101x1"]);
  });
});

describe("a book message older than the best prices before it", () => {
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

  it("shows nothing better than these, and their quantities", () => {
    const recording = read([
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

  it("still takes away what is better than these", () => {
    const recording = read([line(0, whole), line(1, quote(9, "99", "1", "104", "1")), line(2, delta(2, [["100", "0"]], [["103", "0"]]))]);
    expect(played(recording.tape).slice(5)).toEqual(["2 bid 100x0", "2 ask 103x0"]);
    expect(notesOf(recording)).toEqual([]);
  });

  it("shows nothing at all on a side of which they say that it is empty", () => {
    const recording = read([line(0, whole), line(1, quote(9, "0", "0", "103", "5")), line(2, delta(2, [["98", "1"]]))]);
    expect(played(recording.tape).slice(5)).toEqual(["2 bid 98x0"]);
  });

  it("as a snapshot shows them also where it did not have them", () => {
    const recording = read([line(0, quote(9, "101", "2", "102", "3")), line(1, whole)]);
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
  ])("is left as it came where it is %s", (_, quoted, told) => {
    const recording = read([line(0, whole), line(1, quote(quoted, "100", "2", "103", "4")), line(2, delta(told, [["101", "7"]]))]);
    expect(played(recording.tape).at(-1)).toBe("2 bid 101x7");
  });
});
