/**
 * A recorded market as a history source: `history: fromFolder("out/perp")`.
 *
 * Invariants: nothing at or after the instant it is asked for is shown; the folder is read once, when it is first asked.
 */
import { resolve } from "node:path";
import type { HistorySource } from "./history.ts";
import { RecordedHistory, rowsBefore } from "./recorded-history.ts";
import { readVisibleFixture } from "./tape/visible-fixture.ts";

/**
 * The fixture in the folder `dir`, relative to the working folder, as `sluice import` writes one. Bars that it does not hold are built
 * from shorter bars or trades. Throws FIXTURE_INVALID when it is first asked and there is none; the engine tells that and goes on.
 */
export const fromFolder = (dir: string): HistorySource => {
  let read: RecordedHistory | undefined;
  const recorded = (): RecordedHistory => {
    read ??= open(dir);
    return read;
  };
  return {
    name: `fromFolder(${JSON.stringify(dir)})`,
    candles: (instId, barMs, _from, to, count) => recorded().candles(instId, barMs, to, count),
    trades: (instId, count, to) => recorded().trades(instId, count, to),
    quotes: (instId, count, to) => recorded().quotes(instId, count, to),
  };
};

const open = (dir: string): RecordedHistory => {
  const { tape } = readVisibleFixture(resolve(dir));
  return new RecordedHistory({
    instruments: tape.instruments,
    known: (now) => tape.series.map((series) => ({ series, rows: rowsBefore(series.at, now, series.kind === "candle") })),
  });
};
