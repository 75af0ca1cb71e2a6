/**
 * The markets of a sweep, read once and handed to all threads without a copy.
 *
 * Invariants: every column lies in shared memory, so that a message carries only a reference; it is never written
 * again; a window is named by its part and fold, and its contentHash is that of the fixture it would make.
 * Not here: which rows belong to a window (cut.ts), files (market/tape/fixture.ts).
 */
import { resolve } from "node:path";
import { SluiceError } from "sluice";
import type { ReadMarket } from "sluice/backtest";
import { cutTape, hashOfRows, openFixture, rowsBeforeWindow, type TimeWindow } from "sluice/extension";
import type { SweepPlan } from "./sweep-plan.ts";

type Tape = ReadMarket["tape"];
type Column = Float64Array | Uint32Array | Uint16Array | Int8Array | Uint8Array;

type Planned = Pick<SweepPlan, "fixture" | "windows"> & Partial<Pick<SweepPlan, "warmUpMs">>;

/**
 * The whole recording, or training and test of every fold in turn. `dir` is its folder where that is not what reports
 * call it.
 */
export const readMarkets = ({ fixture, windows, warmUpMs = 0 }: Planned, dir = fixture): readonly ReadMarket[] => {
  const { tape, manifest } = openFixture(resolve(dir));
  const whole = shareTape(tape);
  if (windows.length === 0) return [{ tape: whole, facts: { name: fixture, contentHash: manifest.contentHash } }];
  return windows.flatMap((fold, index) =>
    (["train", "test"] as const).map((part) => {
      const { fromAt, toAt } = fold[part];
      const window = { fromAt: fromAt - warmUpMs, toAt };
      const cut = cutTape(whole, window);
      if (cut.endAt <= cut.startAt + warmUpMs) throw emptyWindow(index, part, fold[part]);
      const name = `${fixture}, ${part} of fold ${index + 1}`;
      return {
        tape: shareTape(cut),
        before: rowsBeforeWindow(whole, window),
        facts: { name, contentHash: hashOfRows(cut) },
      };
    }),
  );
};

const emptyWindow = (fold: number, part: string, { fromAt, toAt }: TimeWindow): SluiceError => {
  const [from, to] = [fromAt, toAt].map((at) => new Date(at).toISOString());
  return new SluiceError(
    "USAGE",
    `--folds: the ${part} part of fold ${fold + 1}, ${from} to ${to}, holds no market. Take fewer folds.`,
  );
};

/** Returns the same tape with its columns in shared memory; columns that are already there are reused. */
const shareTape = (tape: Tape): Tape =>
  Object.freeze({
    ...tape,
    series: tape.series.map(
      (series) => Object.fromEntries(Object.entries(series).map(shareEntry)) as unknown as typeof series,
    ),
    order: { series: shared(tape.order.series), row: shared(tape.order.row) },
  });

const shareEntry = ([name, value]: [string, unknown]): [string, unknown] => [
  name,
  ArrayBuffer.isView(value) ? shared(value as Column) : value,
];

const shared = <C extends Column>(column: C): C => {
  if (column.buffer instanceof SharedArrayBuffer) return column;
  const copy = new (column.constructor as new (buffer: SharedArrayBuffer) => C)(
    new SharedArrayBuffer(column.byteLength),
  );
  copy.set(column);
  return copy;
};
