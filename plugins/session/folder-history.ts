/**
 * A recorded market as a history source: `history: fromFolder("out/perp")`.
 *
 * Invariants: nothing at or after the instant it is asked for is shown; the folder is read once, when it is first
 * asked; what reads it is loaded before the run begins, so that a backtest is answered at once.
 * Not here: reading off rows (market/recorded-history.ts), the market of a session (market-fixture.ts).
 */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import type { HistorySource } from "sluice";
import type { Tape } from "sluice/backtest";
import type { RecordedHistory } from "sluice/extension";

/** Reads the folder. */
type Read = () => RecordedHistory;

/**
 * The market recorded in the folder `dir`, relative to the working folder: a fixture, as `sluice import` and `sluice
 * generate` write one, or a session of `sluice record`, also one that was cut off. Bars that it does not hold are built
 * from shorter bars or trades. Where it has no such data the engine reports that at the first request, and continues.
 */
export const fromFolder = (dir: string): HistorySource => {
  let read: Read | undefined;
  let recorded: RecordedHistory | undefined;
  const load = async (): Promise<void> => {
    read ??= await readerOf(resolve(dir));
  };
  /** A source that is not loaded answers when it is. */
  const asked = <T>(ask: (history: RecordedHistory) => readonly T[]): readonly T[] | Promise<readonly T[]> => {
    if (read === undefined) return load().then(() => asked(ask));
    recorded ??= read();
    return ask(recorded);
  };
  return {
    name: `fromFolder(${JSON.stringify(dir)})`,
    load,
    candles: (instId, barMs, _from, to, count) => asked((history) => history.candles(instId, barMs, to, count)),
    bars: (instId, bars, to, count) => asked((history) => history.candles(instId, bars, to, count)),
    trades: (instId, count, to) => asked((history) => history.trades(instId, count, to)),
    quotes: (instId, count, to) => asked((history) => history.quotes(instId, count, to)),
  };
};

const readerOf = async (folder: string): Promise<Read> => {
  const [{ historyOfTape }, tapeOf] = await Promise.all([
    import("sluice/extension"),
    // A session has its market next to it as a fixture, unless it was cut off.
    existsSync(join(folder, "manifest.json")) ? fixtureReader() : sessionReader(folder),
  ]);
  return () => historyOfTape(tapeOf(folder));
};

type TapeOf = (folder: string) => Tape;

const fixtureReader = async (): Promise<TapeOf> => {
  const { readFixture } = await import("sluice/backtest");
  return (folder) => readFixture(folder).tape;
};

const sessionReader = async (folder: string): Promise<TapeOf> => {
  const [{ isSession, readSession }, { marketOf }] = await Promise.all([
    import("./session-file.ts"),
    import("./market-fixture.ts"),
  ]);
  return isSession(folder) ? () => marketOf(readSession(folder)).tape : fixtureReader();
};
