/**
 * Market data that begins with what came before: finished bars, trades or quotes of a history source, then the live stream.
 *
 * Invariants: nothing at or after the instant of subscribing is shown as history; instants of bars rise over the seam, each once; a bar
 * under way at the seam is read from the source when it ended, so that it is whole; bars of quiet times are left out, as live leaves
 * them out, and what a source does not hold is told once. A source that fails or does not answer within ten seconds is told by
 * name, and the stream begins with live data. Streams without history are the market's own.
 * Not here: what an answer must look like (history-candles.ts), recordings (market/recorded-history.ts).
 */
import { Observable } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { type CandleHistory, type HistorySource, historyCount } from "../market/history.ts";
import type { Candle, HistoryOptions, Market, Quote, Trade } from "../market/market-data.ts";
import { CandleSeam } from "./candle-seam.ts";
import { HistoryReader, historySourceOf } from "./history-reader.ts";

interface HistoryParts {
  readonly clock: Clock;
  readonly market: Market;
  /** What the service itself knows from before, as a backtest does; it is asked first, and then nobody is waited for. */
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
  const rows = <T extends Trade | Quote>(kind: "trades" | "quotes", instId: string, live: Observable<T>, options?: HistoryOptions) => {
    const count = historyCount(kind, options);
    return count === 0 ? live : rowsAfterHistory(reader, kind, instId, count, live);
  };
  return {
    trades: (instId, options) => rows("trades", instId, market.trades(instId), options),
    quotes: (instId, options) => rows("quotes", instId, market.quotes(instId), options),
    books: (instId) => market.books(instId),
    candles: (instId, barMs, options) => {
      const live = market.candles(instId, barMs);
      const count = historyCount("candles", options, barMs);
      if (count === 0) return live;
      return new Observable<Candle>((subscriber) => new CandleSeam({ instId, barMs, count }, reader, subscriber).begin(live));
    },
    lastPx: (instId) => market.lastPx(instId),
  };
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
    // What a stream offers a newcomer is the latest of what history tells.
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
