/**
 * Board of a replayed market: public channels of a served venue, or anything else that takes its rows.
 *
 * Not here: what is shown and when (market-replay.ts).
 */
import type { CandleMessage, TickerMessage } from "../../contract/channels.ts";
import type { Side } from "../../contract/profile.ts";

/** A trade, or a row of a book. Sizes are quantities of base currency; `at` is milliseconds on the service's clock. */
interface BoardRow {
  readonly instId: string;
  readonly px: string;
  readonly sz: string;
  /** The aggressor's side of a trade; of a row of a book, `buy` is the bid side. */
  readonly side: Side;
  readonly at: number;
}

/** Takes the rows of a replayed market. */
export interface MarketBoard {
  trade(row: BoardRow): void;
  /** Best bid and ask; empty text for a side that has none, and for `last` before the first trade. */
  ticker(best: Omit<TickerMessage, "ts"> & { readonly at: number }): void;
  /** One row of a book: the size at the price from now on, 0 removes it. */
  level(row: BoardRow): void;
  /** The rows of a book that were given since the last call belong together. */
  flush(at: number): void;
  candle(bar: CandleMessage, at: number): void;
}
