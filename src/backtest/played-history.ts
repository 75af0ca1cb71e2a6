/**
 * Market data that strategies of a backtest have seen so far, as a history source: the rows delivered to them, and
 * those before the recording's window.
 *
 * Invariants: a row that has not been delivered is not shown, nor one at or after the current instant; answers are made
 * at once.
 * Not here: how bars are built of rows (market/recorded-history.ts).
 */
import type { HistorySource } from "../market/history.ts";
import { type KnownRows, RecordedHistory, rowsBefore } from "../market/recorded-history.ts";
import { type Tape, timeAt } from "../market/tape/tape.ts";

export class PlayedHistory implements HistorySource {
  readonly name = "the recording";
  readonly isComplete = true;
  readonly #tape: Tape;
  readonly #before: Tape["series"];
  readonly #read: RecordedHistory;
  #delivered = (): number => 0;

  constructor(tape: Tape, before: Tape["series"] = []) {
    this.#tape = tape;
    this.#before = before;
    this.#read = new RecordedHistory({ instruments: tape.instruments, known: (now) => this.#known(now) });
  }

  /** `delivered` returns the number of rows of the tape that have been delivered. */
  follow(delivered: () => number): void {
    this.#delivered = delivered;
  }

  readonly candles: HistorySource["candles"] = (instId, barMs, _from, to, count) =>
    this.#read.candles(instId, barMs, to, count);
  readonly bars: Required<HistorySource>["bars"] = (instId, asked, to, count) =>
    this.#read.candles(instId, asked, to, count);
  readonly trades: Required<HistorySource>["trades"] = (instId, count, to) => this.#read.trades(instId, count, to);
  readonly quotes: Required<HistorySource>["quotes"] = (instId, count, to) => this.#read.quotes(instId, count, to);

  #known(now: number): readonly KnownRows[] {
    const earlier = this.#before.map((series) => ({ series, rows: rowsBefore(series.at, now, true) }));
    return [...earlier, ...this.#played()];
  }

  /** Rows before the instant of the last delivery, and the rows of that instant whose turn has come. */
  #played(): readonly KnownRows[] {
    const { series, order } = this.#tape;
    const delivered = this.#delivered();
    const lastAt = delivered === 0 ? Number.NEGATIVE_INFINITY : timeAt(this.#tape, delivered - 1);
    const rows = series.map(({ at }) => rowsBefore(at, lastAt));
    for (let index = delivered - 1; index >= 0 && timeAt(this.#tape, index) === lastAt; index--) {
      const which = order.series[index] as number;
      rows[which] = (rows[which] as number) + 1;
    }
    return series.map((one, index) => ({ series: one, rows: rows[index] as number }));
  }
}
