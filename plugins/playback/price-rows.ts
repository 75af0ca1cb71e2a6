/**
 * Rows of prices from recorded quotes, trades and books: the best bid and ask, the last price, bars of a minute, and
 * the book.
 *
 * Invariants: bars are of traded prices where trades are recorded, else of the middle of the best prices; an unfinished
 * bar is published with its current values.
 */
import { add, compare, div } from "sluice";
import {
  type BookRow,
  type CandleRow,
  type ControlChange,
  candleKey,
  type MarketRow,
} from "sluice/plugins/control-room";

/** One recorded price: a quote has both sides, a trade has `last`. */
export interface RecordedPrice {
  readonly at: number;
  readonly instId: string;
  readonly bid?: string;
  readonly ask?: string;
  readonly last?: string;
}

const barMs = 60_000;

interface Seen {
  market: MarketRow;
  bar: CandleRow | undefined;
  isTraded: boolean;
}

export class PriceRows {
  readonly #seen = new Map<string, Seen>();
  #changes = new Map<string, ControlChange>();

  take({ at, instId, ...given }: RecordedPrice): void {
    const [bid, ask, last] = [given.bid || undefined, given.ask || undefined, given.last || undefined];
    const seen = this.#seen.get(instId) ?? {
      market: { instId, bid: "", ask: "", last: "", at },
      bar: undefined,
      isTraded: false,
    };
    this.#seen.set(instId, seen);
    seen.market = {
      instId,
      at,
      bid: bid ?? seen.market.bid,
      ask: ask ?? seen.market.ask,
      last: last ?? seen.market.last,
    };
    this.#changes.set(`markets ${instId}`, ["markets", instId, seen.market]);
    if (last !== undefined) seen.isTraded = true;
    const px =
      last ?? (seen.isTraded || bid === undefined || ask === undefined ? undefined : div(add(bid, ask), "2", 12));
    if (px !== undefined) this.#toBar(seen, px, at);
  }

  takeBook(row: BookRow): void {
    this.#changes.set(`book ${row.instId}`, ["book", row.instId, row]);
  }

  /** Returns the price at which a position could have been closed; undefined if none is known. */
  markPx(instId: string, side: "buy" | "sell"): string | undefined {
    const market = this.#seen.get(instId)?.market;
    return (side === "sell" ? market?.bid : market?.ask) || market?.last || undefined;
  }

  /** Rows that have changed since the last time. */
  changes(): readonly ControlChange[] {
    const changes = [...this.#changes.values()];
    this.#changes = new Map();
    return changes;
  }

  #toBar(seen: Seen, px: string, at: number): void {
    const { instId } = seen.market;
    const closesAt = (Math.floor(at / barMs) + 1) * barMs;
    const before = seen.bar?.at === closesAt ? seen.bar : undefined;
    const h = before === undefined || compare(px, before.h) > 0 ? px : before.h;
    const l = before === undefined || compare(px, before.l) < 0 ? px : before.l;
    const bar = { instId, at: closesAt, o: before?.o ?? px, h, l, c: px };
    seen.bar = bar;
    const key = candleKey(instId, closesAt);
    this.#changes.set(`candles ${key}`, ["candles", key, bar]);
  }
}
