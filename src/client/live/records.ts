/**
 * Parser of the records in a push of market data.
 *
 * Invariants: a record matches its channel's schema and its subscription's instrument, or it is left out and counted.
 */
import {
  type BookMessage,
  bookMessage,
  type CandleMessage,
  candleMessage,
  type TickerMessage,
  type TradeMessage,
  tickerMessage,
  tradeMessage,
} from "../../contract/channels.ts";
import { wireProblems } from "../../contract/validate.ts";
import type { OnAnomaly } from "../transport/socket-channel.ts";
import type { Push } from "../transport/socket-message.ts";

export interface MarketRecords {
  readonly trades: TradeMessage;
  readonly tickers: TickerMessage;
  readonly books: BookMessage;
  readonly candle1m: CandleMessage;
}
export type MarketChannel = keyof MarketRecords;

const schemas: Readonly<Record<MarketChannel, object>> = {
  trades: tradeMessage,
  tickers: tickerMessage,
  books: bookMessage,
  candle1m: candleMessage,
};

/** The readable records, and whether all records were readable. */
export const readRecords = <C extends MarketChannel>(
  channel: C,
  instId: string,
  { data }: Push,
  onAnomaly: OnAnomaly,
): { readonly records: readonly MarketRecords[C][]; readonly whole: boolean } => {
  const records: MarketRecords[C][] = [];
  for (const item of data) {
    const [problem] = wireProblems(schemas[channel], item);
    const record = item as MarketRecords[C];
    if (problem === undefined && record.instId === instId) records.push(record);
    else onAnomaly("record.unreadable", `${channel} ${instId}${problem ?? `: it is of ${record.instId}`}`);
  }
  return { records, whole: records.length === data.length };
};
