/**
 * Trades of one strategy in one instrument from flat to flat.
 *
 * Invariants: a fill that reverses the position closes one trade and opens the next, each with its share of the fee; every fill and
 * every charge is in exactly one trade, so that sums over trades lose nothing.
 * Not here: trades by lots (matched-lots.ts), what is told of a trade (trade-list.ts).
 */
import { add, compare, mul, sub } from "../decimal.ts";
import { assert } from "../errors.ts";
import { costShare, isOpen, noteEntry, noteGain, noteOrder, openTrade, type TradeFill, type TradeSums } from "./trade-list.ts";

export class RoundTrips {
  /** In the order of their openings; the last one may still be open. */
  readonly all: TradeSums[] = [];

  /** `rate` is what a gain is in the run's currency. */
  take(fill: TradeFill, at: number, rate = "1"): void {
    const { side, px, qty, cost } = fill;
    const buys = side === "buy";
    const trade = this.#open();
    if (trade === undefined || trade.long === buys) {
      enter(trade ?? this.#begin(buys, at), fill, qty, cost, rate);
      return;
    }
    const closing = compare(qty, trade.left) > 0 ? trade.left : qty;
    const share = costShare(cost, closing, qty);
    const value = mul(px, closing);
    noteGain(trade, value, entryShare(trade, closing), rate);
    trade.left = sub(trade.left, closing);
    trade.exitValue = add(trade.exitValue, value);
    trade.fees = add(trade.fees, share);
    trade.exitAt = at;
    noteOrder(trade.exits, fill);
    const rest = sub(qty, closing);
    if (rest !== "0") enter(this.#begin(buys, at), fill, rest, sub(cost, share), rate);
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
}

/** At average cost. */
const entryShare = ({ converted, left }: TradeSums, closing: string): string =>
  converted === undefined ? "0" : costShare(converted.entryLeft, closing, left);

const enter = (trade: TradeSums, fill: TradeFill, qty: string, cost: string, rate: string): void => {
  noteEntry(trade, qty, mul(fill.px, qty), rate);
  trade.fees = add(trade.fees, cost);
  noteOrder(trade.entries, fill);
};
