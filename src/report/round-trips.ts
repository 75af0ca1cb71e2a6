/**
 * Trades of one strategy in one instrument from flat to flat.
 *
 * Invariants: a fill that reverses the position closes one trade and opens the next, each with its share of the fee;
 * every fill and every charge is in exactly one trade, so that sums over trades lose nothing.
 * Not here: trades by lots (matched-lots.ts), the figures of a trade (trade-list.ts).
 */
import { add, compare, mul, plain, sub } from "../decimal.ts";
import { assert } from "../errors.ts";
import { ClosedTrades } from "./closed-trades.ts";
import {
  costShare,
  isOpen,
  noteEntry,
  noteGain,
  noteOrder,
  openTrade,
  type TradeFill,
  type TradeSums,
} from "./trade-list.ts";

/** Trades that are kept one by one, besides sums over all. */
export interface KeptTrades {
  /** Those by lots as well. */
  readonly keepsLots?: boolean;
  /** False: the last one alone, and without its orders, as nothing lists them. */
  readonly keepsTrades?: boolean;
  /** For a run without a known end or recording: beyond so many the oldest trades are only in the sums. */
  readonly keptMax?: number;
}

export class RoundTrips {
  /** Trades in the order of their openings; the last one may still be open. */
  readonly all: TradeSums[] = [];
  /** Sums of all but the last one: each is added when the next one begins, since it is closed then. */
  readonly earlier = new ClosedTrades();
  readonly #listed: boolean;
  readonly #keptMax: number;
  /** The recording does not show later which prices were reached. */
  readonly #looks: boolean;

  constructor({ keepsTrades = true, keptMax }: KeptTrades) {
    this.#listed = keepsTrades;
    this.#keptMax = keepsTrades ? (keptMax ?? Number.POSITIVE_INFINITY) : 1;
    this.#looks = keptMax !== undefined;
  }

  /**
   * `rate` is what a gain is in the run's currency, `worth` the fill's price times its quantity where that is known.
   */
  take(fill: TradeFill, at: number, rate = "1", worth?: string): void {
    const { side, px, qty, cost } = fill;
    const buys = side === "buy";
    const last = this.all.at(-1);
    const trade = last?.left === "0" ? undefined : last;
    if (trade === undefined) {
      this.#begin(buys, at, fill, { qty: plain(qty), value: worth ?? mul(px, qty), cost: plain(cost) }, rate);
      return;
    }
    if (trade.long === buys) {
      noteEntry(trade, qty, worth ?? mul(px, qty), rate);
      trade.fees = add(trade.fees, cost);
      if (this.#listed) noteOrder(trade.entries, fill);
      return;
    }
    const isExact = qty === trade.left;
    const closing = !isExact && compare(qty, trade.left) > 0 ? trade.left : qty;
    if (this.#looks) reach(trade, px);
    const share = isExact ? cost : costShare(cost, closing, qty);
    const value = closing === qty && worth !== undefined ? worth : mul(px, closing);
    if (trade.converted !== undefined)
      noteGain(trade, value, costShare(trade.converted.entryLeft, closing, trade.left), rate);
    trade.left = isExact ? "0" : sub(trade.left, closing);
    // Products are in their shortest spelling.
    trade.exitValue = trade.exitValue === "0" ? value : add(trade.exitValue, value);
    trade.fees = add(trade.fees, share);
    trade.exitAt = at;
    if (this.#listed) noteOrder(trade.exits, fill);
    const rest = isExact ? "0" : sub(qty, closing);
    if (rest !== "0") this.#begin(buys, at, fill, { qty: rest, value: mul(px, rest), cost: sub(cost, share) }, rate);
  }

  /** Charges what is held. */
  charge(what: "fees" | "funding", cost: string): void {
    const trade = this.#open();
    assert(trade !== undefined, "only what is held is charged");
    trade[what] = add(trade[what], cost);
  }

  /** A fee that became known, or was corrected, after the fill; false where nothing was traded. */
  correct(cost: string): boolean {
    const last = this.all.at(-1);
    if (last !== undefined) last.fees = add(last.fees, cost);
    return last !== undefined;
  }

  /** The price at which what is held could be closed, for the furthest moves of trades without recorded prices. */
  look(px: string): void {
    const trade = this.#open();
    if (trade !== undefined) reach(trade, px);
  }

  #open(): TradeSums | undefined {
    const last = this.all.at(-1);
    return last !== undefined && isOpen(last) ? last : undefined;
  }

  /** A fill, or the rest of one, opens the next trade. */
  #begin(long: boolean, at: number, fill: TradeFill, { qty, value, cost }: Entered, rate: string): void {
    const trade = openTrade(long, at);
    trade.qty = qty;
    trade.left = qty;
    trade.entryValue = value;
    trade.fees = cost;
    if (rate !== "1") trade.converted = { gains: "0", entryLeft: value };
    if (this.#listed) noteOrder(trade.entries, fill);
    if (this.#looks) reach(trade, fill.px);
    const before = this.all.at(-1);
    if (before !== undefined) this.earlier.add(before);
    this.all.push(trade);
    while (this.all.length > this.#keptMax) this.all.shift();
  }
}

const reach = (trade: TradeSums, px: string): void => {
  const { low = px, high = px } = trade.reached ?? {};
  trade.reached = { low: compare(px, low) < 0 ? px : low, high: compare(px, high) > 0 ? px : high };
};

/** The part of a fill that opens a trade, and its part of the fee, in their shortest spelling. */
interface Entered {
  readonly qty: string;
  readonly value: string;
  readonly cost: string;
}
