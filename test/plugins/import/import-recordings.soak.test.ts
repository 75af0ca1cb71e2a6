/**
 * Real recordings, checked against counts and sums taken from their text in another way. They are not part of the project:
 * name their folder in SLUICE_RECORDINGS where it is not the usual one.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readRecording } from "../../../plugins/import/read-recording.ts";
import { add, grid, toStep } from "../../../src/decimal.ts";
import { createFeed } from "../../../src/market/feed.ts";
import type { BookView, Quote } from "../../../src/market/market-data.ts";
import type { CandleSeries, Tape, TradeSeries } from "../../../src/market/tape/tape.ts";

const folder = process.env["SLUICE_RECORDINGS"] ?? fileURLToPath(new URL("../../../../shared/data", import.meta.url));
const files = folder !== "" && existsSync(folder) ? readdirSync(folder) : [];
const found = (pattern: RegExp): string | undefined =>
  files.filter((file) => pattern.test(file)).map((file) => join(folder, file))[0];
const perpetual = found(/perp_\d+\.txt\.gz$/);
const spot = found(/spot_\d+\.txt\.gz$/);
const bars = found(/1m_\d+\.csv\.gz$/);
for (const [name, file] of Object.entries({ perpetual, spot, bars })) {
  if (file === undefined) console.log(`skipped: no recording of kind "${name}"; name its folder in SLUICE_RECORDINGS`);
}

const textOf = (file: string | undefined): string =>
  file === undefined ? "" : gunzipSync(readFileSync(file)).toString("utf8");
const count = (text: string, part: string): number => text.split(part).length - 1;
const rowsOf = (tape: Tape, kind: string): number => tape.series.find((series) => series.kind === kind)?.at.length ?? 0;

const turnover = (tape: Tape): string => {
  const trades = tape.series.find((series) => series.kind === "trade") as TradeSeries;
  const lot = grid(tape.instruments[0]?.lotSize ?? "1");
  return lot.format(trades.qty.reduce((total, qty) => total + qty, 0));
};
const turnoverOf = (text: string): string =>
  [...text.matchAll(/"q":"([0-9.]+)"/g)].reduce((total, match) => add(total, match[1] ?? "0"), "0");

describe("Imports of real recordings", () => {
  it.runIf(perpetual)("of a perpetual give every trade, quote and level", async () => {
    const text = textOf(perpetual);
    const { tape, meta } = await readRecording({ file: perpetual ?? "", instrument: "BTC-USDT-SWAP" });
    expect(rowsOf(tape, "trade")).toBe(count(text, '"e":"trade"'));
    expect(rowsOf(tape, "quote")).toBe(count(text, '"e":"bookTicker"'));
    expect(turnover(tape)).toBe(turnoverOf(text));
    expect(tape.instruments[0]).toEqual({ instId: "BTC-USDT-SWAP", tickSize: "0.1", lotSize: "0.001" });
    expect(meta.notes?.some(({ what }) => what.includes("gaps"))).toBe(false);
  });

  it.runIf(perpetual)("of a perpetual give a book that is never crossed and agrees with the best prices", async () => {
    const { tape } = await readRecording({ file: perpetual ?? "", instrument: "BTC-USDT-SWAP" });
    const feed = createFeed(tape.instruments, { bookDepth: 1 });
    let quote: Quote | undefined;
    const distances: number[] = [];
    let crossed = 0;
    feed.quotes("BTC-USDT-SWAP").subscribe((latest) => {
      quote = latest;
    });
    feed.books("BTC-USDT-SWAP").subscribe(({ bids, asks }: BookView) => {
      const [bid, ask] = [Number(bids[0]?.px), Number(asks[0]?.px)];
      if (!(bid < ask)) crossed++;
      if (quote !== undefined) distances.push(Math.abs(bid - quote.bidFloat));
    });
    for (let index = 0; index < tape.length; index++) {
      feed.deliver(tape, index, tape.series[tape.order.series[index] ?? 0]?.at[tape.order.row[index] ?? 0] ?? 0);
    }
    distances.sort((a, b) => a - b);
    expect([crossed, distances.length > 1000]).toEqual([0, true]);
    // Best prices come sooner than book changes, so single books may lag; the usual one may not.
    expect(distances[Math.floor(distances.length / 2)]).toBe(0);
  });

  it.runIf(spot)("of spot give every trade and quote, and no book without a snapshot", async () => {
    const text = textOf(spot);
    const { tape } = await readRecording({ file: spot ?? "", instrument: "BTC-USDT" });
    expect(rowsOf(tape, "trade")).toBe(count(text, '"e":"trade"'));
    expect(rowsOf(tape, "quote")).toBe(count(text, "@bookTicker"));
    expect(turnover(tape)).toBe(turnoverOf(text));
    expect(rowsOf(tape, "level") > 0).toBe(text.includes("lastUpdateId"));
  });

  it.runIf(bars)("of candles give every row, one bar after its timestamp", async () => {
    const [, first = "", ...rest] = textOf(bars).trim().split("\n");
    const { tape } = await readRecording({ file: bars ?? "", instrument: "BTC-USD-SWAP" });
    const series = tape.series[0] as CandleSeries;
    const [timestamp = "", open = "", , , , volume = ""] = first.split(",");
    const { tickSize = "1", lotSize = "1" } = tape.instruments[0] ?? {};
    expect([series.at.length, series.barMs, series.at[0]]).toEqual([
      rest.length + 1,
      60_000,
      Date.parse(`${timestamp.replace(" ", "T").slice(0, 19)}Z`) + 60_000,
    ]);
    expect(grid(tickSize).format(series.open[0] ?? 0)).toBe(toStep(open, tickSize, "down"));
    expect(grid(lotSize).format(series.volume[0] ?? 0)).toBe(toStep(volume, lotSize, "down"));
  });
});
