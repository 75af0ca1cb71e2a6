/**
 * Recorded market as it was known at an instant: for the service and the strategies of a run that must not see more.
 *
 * Invariants: what is known holds no row after the instant; what is played holds besides the bar that was then under
 * way, because the embedded service trades inside it, but ends at the instant; rows are shared with the whole tape,
 * never copied; series stay in their places even when nothing of them is left, so that bars are built from the same
 * source.
 * Not here: who runs on it (plugins/compare/cut-run.ts); files of a recording that are read without `readFixture` stay
 * whole.
 */
import { existsSync, realpathSync } from "node:fs";
import { resolve } from "node:path";
import { type Fixture, readFixture } from "./fixture.ts";
import { createTape, type Series, type Tape } from "./tape.ts";

let hidden: { readonly folder: string; readonly at: number } | undefined;

/**
 * Hides the future of a fixture: from now on user code that reads it gets what was known at an instant.
 *
 * @param dir - folder of the fixture
 * @param at - milliseconds since the epoch
 * @returns a function that ends it
 */
export const hideAfter = (dir: string, at: number): (() => void) => {
  hidden = { folder: placeOf(dir), at };
  return () => {
    hidden = undefined;
  };
};

/**
 * Reads and checks a fixture.
 *
 * @param dir - its folder
 * @returns its market and manifest; inside a backtest that plays this fixture, rows of the future are missing
 * @throws FIXTURE_INVALID where a file is missing, damaged or of another format
 */
export const readVisibleFixture = (dir: string): Fixture => {
  const fixture = readFixture(dir);
  return hidden?.folder === placeOf(dir) ? { ...fixture, tape: knownAt(fixture.tape, hidden.at) } : fixture;
};

/** A folder is reached by its name or by a link to it. */
const placeOf = (dir: string): string => (existsSync(dir) ? realpathSync(dir) : resolve(dir));

/** Rows at or before `at`. */
const knownAt = (tape: Tape, at: number): Tape => cut(tape, at, 0);

/**
 * A market as the service knows it at an instant: what was known, and of bars the one under way. Give it to the
 * service, never to a strategy.
 *
 * @param tape - the whole market
 * @param at - milliseconds since the epoch
 * @returns a part of it
 */
export const playedAt = (tape: Tape, at: number): Tape => cut(tape, at, 1);

const cut = ({ instruments, series }: Tape, at: number, barsAhead: number): Tape =>
  createTape(
    instruments,
    series.map((one) => head(one, rowsUntil(one.at, at) + (one.kind === "candle" ? barsAhead : 0))),
  );

/** Number of times of a rising column at or before `at`. */
const rowsUntil = (times: Float64Array, at: number): number => {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((times[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
};

const head = (series: Series, rows: number): Series =>
  Object.fromEntries(
    Object.entries(series).map(([name, value]) => [
      name,
      ArrayBuffer.isView(value) ? (value as Float64Array).subarray(0, rows) : value,
    ]),
  ) as unknown as Series;
