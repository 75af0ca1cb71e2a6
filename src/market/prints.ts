/**
 * Prints: prices at which something was traded, from trades or, where a recording has none, from bars.
 *
 * Not here: the streams of strategies (market-data.ts).
 */
import { map, type Observable } from "rxjs";
import type { Market } from "./market-data.ts";

/** A traded price, or those of a bar that has closed. Decimal text. */
export interface Print {
  readonly px: string;
  readonly low: string;
  readonly high: string;
  /** When the first of them was traded at the earliest, on the engine's clock. */
  readonly since: number;
}

/** A market that has prints of its own. */
export interface PrintedMarket extends Market {
  prints(instId: string): Observable<Print>;
}

export const printsOf = (market: Market | PrintedMarket, instId: string): Observable<Print> =>
  "prints" in market ? market.prints(instId) : market.trades(instId).pipe(map(({ px, at }) => ({ px, low: px, high: px, since: at })));
