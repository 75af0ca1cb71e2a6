/**
 * Trades of one strategy in one instrument from flat to flat.
 *
 * Invariants: a fill that reverses the position closes one trade and opens the next, each with its share of the fee; every fill and
 * every charge is in exactly one trade, so that sums over trades lose nothing.
 * Not here: trades by lots (matched-lots.ts), what is told of a trade (trade-list.ts).
 */
import { add, compare, mul, sub } from "../decimal.ts";
import { assert } from "../errors.ts";
import { costShare, isOpen, noteOrder, openTrade, type TradeFill, type TradeSums } from "./trade-list.ts";

export class RoundTrips {
  /** In the order of their openings; the last one may still be open. */
  readonly all: TradeSums[] = [];

  take(fill: TradeFill, at: number): void {
    const { side, px, qty, cost } = fill;
    const buys = side === "buy";
    const trade = this.#open();
    if (trade === undefined || trade.long === buys) {
      this.#enter(trade ?? this.#begin(buys, at), fill, px, qty, cost);
      return;
    }
    const closing = compare(qty, trade.left) > 0 ? trade.left : qty;
    const share = costShare(cost, closing, qty);
    trade.left = sub(trade.left, closing);
    trade.exitValue = add(trade.exitValue, mul(px, closing));
    trade.fees = add(trade.fees, share);
    trade.exitAt = at;
    noteOrder(trade.exits, fill);
    const rest = sub(qty, closing);
    if (rest !== "0") this.#enter(this.#begin(buys, at), fill, px, rest, sub(cost, share));
  }

  /** Charges what is held. */
  charge(what: "fees" | "funding", cost: string): void {
    const trade = this.#open();
    assert(trade !== undefined, "only what is held is charged");
    trade[what] = add(trade[what], cost);
  }

  #open(): TradeSums | undefined {
    const last = this.all.at(-1);
    return last !== undefined && isOpen(last) ? last : undefined;
  }

  #begin(long: boolean, at: number): TradeSums {
    const trade = openTrade(long, at);
    this.all.push(trade);
    return trade;
  }

  #enter(trade: TradeSums, fill: TradeFill, px: string, qty: string, cost: string): void {
    trade.qty = add(trade.qty, qty);
    trade.left = add(trade.left, qty);
    trade.entryValue = add(trade.entryValue, mul(px, qty));
    trade.fees = add(trade.fees, cost);
    noteOrder(trade.entries, fill);
  }
}
