/**
 * Shared parts of the streams of one instrument: its channels, clock and reports.
 */
import type { ToBase } from "./quantities.ts";
import { SharedChannel, type SharedChannelOptions } from "./shared-channel.ts";

export interface InstrumentMarketOptions extends SharedChannelOptions {
  /** Current time of the service's calendar, milliseconds since the epoch. */
  readonly serviceNow: () => number;
  readonly toBase: ToBase;
  /** Called with errors that a subscriber threw. */
  readonly onError: (error: unknown) => void;
}

export const channelsOf = (instId: string, options: SharedChannelOptions) => ({
  trades: new SharedChannel("trades", instId, options),
  tickers: new SharedChannel("tickers", instId, options),
  books: new SharedChannel("books", instId, options),
  minutes: new SharedChannel("candle1m", instId, options),
});

export interface InstrumentParts extends InstrumentMarketOptions, ReturnType<typeof channelsOf> {
  readonly instId: string;
  /** The price of the latest trade or bar. */
  readonly onPx: (px: string) => void;
}
