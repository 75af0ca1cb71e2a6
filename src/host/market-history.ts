/**
 * Market data streams with history: finished bars, trades or quotes of a history source, then the live stream.
 *
 * Invariants: history ends before the instant of subscribing; bars are emitted in order of time, each once, history and
 * live alike; a bar that was open at the join is read from the source after its end, so that it is complete; intervals
 * without trades have no bar, as in live data; missing data is reported once. A source that fails or does not answer
 * within ten seconds is reported with its name, and the stream begins with live data. Streams without history are the
 * market's own.
 * Not here: what an answer must look like (history-candles.ts), recordings (market/recorded-history.ts).
 */
import { filter, Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { type AskedBars, askedBars, BarCalendar } from "../market/calendar/bar-calendar.ts";
import { type CandleHistory, type HistorySource, historyCount } from "../market/history.ts";
import type { Candle, HistoryOptions, Market, Quote, Trade } from "../market/market-data.ts";
import { CandleSeam } from "./candle-seam.ts";
import { HistoryReader, historySourceOf } from "./history-reader.ts";

interface HistoryParts {
  readonly clock: Clock;
  readonly market: Market;
  /** The service's own history, as a backtest has it; queried first, and synchronously. */
  readonly history?: HistorySource;
}

/** The market of `service`, with history from it and from the source of the config. */
export const withHistory = (
  service: HistoryParts,
  configured: HistorySource | CandleHistory | undefined,
  onAnomaly: (what: string, detail: string) => void,
): Market => {
  const { market, clock } = service;
  const reader = new HistoryReader(clock, service.history, historySourceOf(configured), onAnomaly);
  const rows = <T extends Trade | Quote>(
    kind: "trades" | "quotes",
    instId: string,
    live: Observable<T>,
    options?: HistoryOptions,
  ) => {
    const count = historyCount(kind, options);
    return count === 0 ? live : rowsAfterHistory(reader, kind, instId, count, live);
  };
  return {
    trades: (instId, options) => rows("trades", instId, market.trades(instId), options),
    quotes: (instId, options) => rows("quotes", instId, market.quotes(instId), options),
    books: (instId) => market.books(instId),
    candles: (instId, length, options) => {
      const barMs = typeof length === "number" ? length : undefined;
      const count = historyCount("candles", options, barMs, ["anchor", "zone", "partial"]);
      const { anchor, zone, partial = true } = options ?? {};
      const live = market.candles(instId, length, { anchor, zone });
      const bars =
        count === 0 ? live : barsAfterHistory(reader, instId, askedBars(length, { anchor, zone }), count, live);
      return partial ? bars : bars.pipe(filter((bar) => bar.partial !== true));
    },
    lastPx: (instId) => market.lastPx(instId),
  };
};

const barsAfterHistory = (
  reader: HistoryReader,
  instId: string,
  asked: AskedBars,
  count: number,
  live: Observable<Candle>,
): Observable<Candle> => {
  const series = { instId, asked, calendar: new BarCalendar(asked.grid), count };
  return new Observable((subscriber) => new CandleSeam(series, reader, subscriber).begin(live));
};

const rowsAfterHistory = <T extends Trade | Quote>(
  reader: HistoryReader,
  kind: "trades" | "quotes",
  instId: string,
  count: number,
  live: Observable<T>,
): Observable<T> =>
  new Observable((subscriber) => {
    let waiting: T[] | undefined = [];
    let ended = false;
    // The value that a stream replays to a new subscriber may be the last row of history.
    let offered: number | undefined;
    subscriber.add(
      live.subscribe({
        next: (row) => {
          if (waiting === undefined) subscriber.next(row);
          else waiting.push(row);
        },
        complete: () => {
          ended = true;
          if (waiting === undefined) subscriber.complete();
        },
      }),
    );
    offered = waiting.length;
    const cancel = reader.rows<T>(kind, instId, count, (rows) => {
      for (const row of rows) if (!subscriber.closed) subscriber.next(row);
      const late = rows.length > 0 ? (waiting ?? []).slice(offered) : (waiting ?? []);
      waiting = undefined;
      for (const row of late) if (!subscriber.closed) subscriber.next(row);
      if (ended) subscriber.complete();
    });
    subscriber.add(cancel);
  });
