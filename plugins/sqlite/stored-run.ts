/**
 * Report of a span of stored time, as a backtest makes it.
 *
 * Not here: the file (run-store.ts), figures (`reportOf`).
 */
import { SluiceError } from "sluice";
import { type RecordedFill, type RecordedReportOptions, reportOf } from "sluice/extension";
import { readSpan } from "./run-store.ts";
import type { Row } from "./sqlite.ts";

interface StoredRunOptions extends RecordedReportOptions {
  /** Milliseconds since the epoch, both included; the whole file when left out. */
  readonly from?: number;
  readonly to?: number;
}

const endless = 8_640_000_000_000_000;

/** Reads a run. Throws CONFIG_INVALID if the file is no database of runs, or holds no data of the span. */
export const storedRun = (
  path: string,
  { from = 0, to = endless, ...options }: StoredRunOptions = {},
): ReturnType<typeof reportOf> => {
  const span = readSpan(path, from, to);
  if (span.events.length === 0 && span.fills.length === 0) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${path} holds nothing of this span. Leave --from and --to out to see all of it.`,
    );
  }
  const records = {
    ...span,
    name: path,
    fills: span.fills.map(fillOf),
    before: span.before.map(fillOf),
    marks: span.marks.map((row) => ({ at: Number(row["at"]), instId: text(row, "instId"), px: text(row, "px") })),
    open: span.open.map((row) => ({ strategy: text(row, "strategy") })),
  };
  return reportOf(records, options);
};

const text = (row: Row, name: string): string => String(row[name] ?? "");

const fillOf = (row: Row): RecordedFill => ({
  strategy: text(row, "strategy"),
  instId: text(row, "instId"),
  ordId: text(row, "ordId"),
  clOrdId: text(row, "clOrdId"),
  side: text(row, "side") as RecordedFill["side"],
  px: text(row, "px"),
  qty: text(row, "qty"),
  fee: text(row, "fee"),
  cost: text(row, "cost"),
  currency: text(row, "currency"),
  liquidity: text(row, "liquidity") as RecordedFill["liquidity"],
  at: Number(row["at"]),
});
