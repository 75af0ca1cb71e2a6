/**
 * Live market data from the service's channels, by instrument.
 *
 * Invariants: streams never error; one without data emits nothing and reports that through `onAnomaly`; all complete at
 * the stop; an instrument that the service does not list is not refused here, because it may be listed later.
 * Not here: one instrument's streams (instrument-market.ts), the wire (client/transport/socket-pool.ts).
 */
import { parseInstId } from "../../contract/inst-id.ts";
import { askedBars } from "../../market/calendar/bar-calendar.ts";
import type { Market } from "../../market/market-data.ts";
import { createInstrumentMarket, type InstrumentMarket } from "./instrument-market.ts";
import type { InstrumentMarketOptions } from "./instrument-parts.ts";

interface LiveMarketOptions extends InstrumentMarketOptions {
  /** False when the service is known not to list it, undefined while that is not known. */
  readonly isListed: (instId: string) => boolean | undefined;
}

export interface LiveMarket extends Market {
  stop(): void;
}

export const createLiveMarket = (options: LiveMarketOptions): LiveMarket => {
  const instruments = new Map<string, InstrumentMarket>();
  let stopped = false;
  const of = (instId: string): InstrumentMarket => {
    const known = instruments.get(instId);
    if (known !== undefined) return known;
    parseInstId(instId, "market data");
    if (options.isListed(instId) === false) options.onAnomaly("market.unlisted", `the service does not list ${instId}`);
    const one = createInstrumentMarket(instId, options);
    if (stopped) one.stop();
    instruments.set(instId, one);
    return one;
  };
  return {
    trades: (instId) => of(instId).trades,
    quotes: (instId) => of(instId).quotes,
    books: (instId) => of(instId).books,
    candles: (instId, length, options) => {
      const stream = of(instId).candles(askedBars(length, options));
      if (stopped) stream.complete();
      return stream;
    },
    lastPx: (instId) => of(instId).lastPx,
    stop: () => {
      stopped = true;
      for (const one of instruments.values()) one.stop();
    },
  };
};
