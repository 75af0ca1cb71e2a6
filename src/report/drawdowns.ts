/**
 * Falls of the equity below an earlier high: from which close, to which bottom, and when it was back.
 *
 * Invariants: exact; depths are shares of the high; a fall ends with the first close that is no lower than that high.
 * Not here: the deepest fall between any two samples (equity.ts), the closes (return-series.ts).
 */
import { compare, div, isPositive, mul, sub } from "../decimal.ts";
import type { EquityPoint } from "./equity.ts";

/** One fall of the equity. Instants are milliseconds since the epoch. */
export interface DrawdownPeriod {
  /** Instant of the high that it fell from. */
  readonly startAt: number;
  readonly bottomAt: number;
  /** Instant at which the high was reached again; absent where it was not. */
  readonly endAt?: number;
  /** Depth in currency, and in percent of the high. */
  readonly depth: string;
  readonly percent: string;
  /** Closes below the high: days of a run that is reported by days. QuantStats calls this `days`. */
  readonly below: number;
}

/** The deepest falls first, `most` of them. */
export const drawdownPeriods = (closes: readonly EquityPoint[], most = 5): readonly DrawdownPeriod[] => {
  const periods: DrawdownPeriod[] = [];
  let [high, low] = [closes[0], closes[0]];
  let below = 0;
  const end = (back?: EquityPoint): void => {
    if (below > 0 && high !== undefined && low !== undefined && isPositive(high.equity)) {
      const depth = sub(high.equity, low.equity);
      const endAt = back === undefined ? {} : { endAt: back.at };
      periods.push({
        startAt: high.at,
        bottomAt: low.at,
        ...endAt,
        depth,
        percent: div(mul(depth, "100"), high.equity, 14),
        below,
      });
    }
    below = 0;
  };
  for (const close of closes.slice(1)) {
    if (high === undefined || compare(close.equity, high.equity) >= 0) {
      end(close);
      [high, low] = [close, close];
      continue;
    }
    below++;
    if (low === undefined || compare(close.equity, low.equity) < 0) low = close;
  }
  end();
  return periods.sort((a, b) => compare(b.percent, a.percent) || a.startAt - b.startAt).slice(0, most);
};
