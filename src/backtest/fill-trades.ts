/**
 * A best bid and ask for a recording that holds prints alone, so that takers have something to meet.
 *
 * A buyer paid an ask, and a seller received a bid. Each side stays where it was last seen, with the quantity of that
 * print, until a print on the other side shows that it cannot be there any more. Then it is one tick further away.
 * Invariants: the bid is below the ask; a side that no print has shown yet is empty.
 * Not here: who reads the rows (row-dispatch.ts).
 */
import type { TradeSeries } from "../market/tape/tape.ts";
import type { Venue } from "../venue/venue.ts";
import { silenceMsMin } from "./silences.ts";

/** Best prices from trades, in ticks and lots; a quantity of 0 is an empty side. */
export class TradeQuote {
  bidPx = 0;
  bidQty = 0;
  askPx = 0;
  askQty = 0;

  /** Forgets what was seen before a gap. Both sides are placed around the next print. */
  reopen(side: number, px: number, qty: number): void {
    this.bidPx = side > 0 ? px - 1 : px;
    this.askPx = side > 0 ? px : px + 1;
    this.bidQty = qty;
    this.askQty = qty;
  }

  /** Takes a print that bought (`side` 1) or sold (-1). */
  take(side: number, px: number, qty: number): void {
    if (side > 0) {
      this.askPx = px;
      this.askQty = qty;
      if (this.bidPx >= px) this.bidPx = px - 1;
    } else {
      this.bidPx = px;
      this.bidQty = qty;
      if (this.askPx <= px) this.askPx = px + 1;
    }
  }
}

interface TradeTaker {
  (row: number, now: number): void;
  /** Reads the best prices from the rows before `row` that were skipped, without a message to the venue. */
  readonly skipTo: (row: number) => void;
}

/** Prints each row at the venue, then displays the best prices that follow from it. */
export const tradeTaker = (
  { at: times, side, px, qty }: TradeSeries,
  instId: string,
  venue: Venue,
  quote = new TradeQuote(),
): TradeTaker => {
  let next = 0;
  const isAfterGap = (row: number): boolean =>
    row > 0 && (times[row] as number) - (times[row - 1] as number) > silenceMsMin;
  const see = (row: number): void => {
    const [sign, at, lots] = [side[row] as number, px[row] as number, qty[row] as number];
    if (isAfterGap(row)) quote.reopen(sign, at, lots);
    else quote.take(sign, at, lots);
  };
  const take = (row: number, now: number): void => {
    next = row + 1;
    const [sign, at, lots] = [side[row] as number, px[row] as number, qty[row] as number];
    venue.trade(instId, sign > 0 ? "buy" : "sell", at, lots, now);
    see(row);
    venue.quote(instId, quote.bidPx, quote.bidPx > 0 ? quote.bidQty : 0, quote.askPx, quote.askQty, now);
  };
  const skipTo = (row: number): void => {
    for (let one = lastTurn(side, next, row); one < row; one++) {
      see(one);
    }
  };
  return Object.assign(take, { skipTo });
};

/**
 * The last row from `from` to before `row` after which the side did not change: from there on both sides are known
 * again.
 */
const lastTurn = (side: Int8Array, from: number, row: number): number => {
  let one = Math.max(from, row - 1);
  while (one > from && side[one] === side[row - 1]) one--;
  return one;
};

/** Twice the middle of the last rows' prices; undefined where one side was never seen. */
export const doubleLastTrade = ({ side, px }: TradeSeries): number | undefined => {
  const last = px.length - 1;
  let row = last;
  while (row >= 0 && side[row] === side[last]) row--;
  if (row < 0) return undefined;
  const quote = new TradeQuote();
  for (; row <= last; row++) quote.take(side[row] as number, px[row] as number, 1);
  return quote.bidPx + quote.askPx;
};
