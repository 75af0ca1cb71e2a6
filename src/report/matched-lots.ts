/**
 * Trades of one strategy in one instrument by lots: what closes is matched to the oldest that is held (first in, first
 * out).
 *
 * Invariants: fills of one pair of an opening and a closing order are one trade; fees and funding follow the quantity
 * that they were charged for, cut at the 18th place, and the last part takes what cutting left, so that sums over
 * trades lose nothing.
 * Not here: trades from flat to flat (round-trips.ts), the figures of a trade (trade-list.ts).
 */
import { add, compare, mul, sub, sum } from "../decimal.ts";
import { costShare, noteEntry, noteGain, noteOrder, openTrade, type TradeFill, type TradeSums } from "./trade-list.ts";

/** Quantity that one fill opened and no other has closed yet. */
interface Lot {
  readonly fill: TradeFill;
  readonly at: number;
  readonly rate: string;
  qty: string;
  fees: string;
  funding: string;
}

export class MatchedLots {
  readonly #closed = new Map<string, TradeSums>();
  /** From `#first` on, the oldest first. */
  readonly #lots: Lot[] = [];
  #first = 0;
  #long = true;

  /** Those that are closed, in the order in which that began; then what is held, by the orders that opened it. */
  get all(): readonly TradeSums[] {
    const held = new Map<string, TradeSums>();
    for (const lot of this.#lots.slice(this.#first)) {
      enter(tradeOf(held, lot.fill.ordId, this.#long, lot.at), lot, lot.qty, lot.fees, lot.funding);
    }
    return [...this.#closed.values(), ...held.values()];
  }

  /** `rate` is what a gain is in the run's currency. */
  take(fill: TradeFill, at: number, rate = "1"): void {
    const buys = fill.side === "buy";
    let { qty, cost } = fill;
    while (this.#long !== buys && qty !== "0") {
      const lot = this.#lots[this.#first];
      if (lot === undefined) break;
      const closing = compare(qty, lot.qty) > 0 ? lot.qty : qty;
      const share = costShare(cost, closing, qty);
      this.#close(lot, closing, share, fill, { at, rate });
      qty = sub(qty, closing);
      cost = sub(cost, share);
    }
    if (qty === "0") return;
    this.#long = buys;
    this.#lots.push({ fill, at, rate, qty, fees: cost, funding: "0" });
  }

  /** Charges what is held, by quantity. */
  charge(what: "fees" | "funding", cost: string): void {
    const held = this.#lots.slice(this.#first);
    let [left, whole] = [cost, sum(held.map(({ qty }) => qty))];
    for (const lot of held) {
      const share = costShare(left, lot.qty, whole);
      lot[what] = add(lot[what], share);
      left = sub(left, share);
      whole = sub(whole, lot.qty);
    }
  }

  #close(lot: Lot, closing: string, cost: string, fill: TradeFill, { at, rate }: Pick<Lot, "at" | "rate">): void {
    const [fees, funding] = [costShare(lot.fees, closing, lot.qty), costShare(lot.funding, closing, lot.qty)];
    const trade = tradeOf(this.#closed, `${lot.fill.ordId} ${fill.ordId}`, this.#long, lot.at);
    enter(trade, lot, closing, add(fees, cost), funding);
    const value = mul(fill.px, closing);
    noteGain(trade, value, mul(lot.fill.px, closing), rate);
    trade.left = sub(trade.left, closing);
    trade.exitValue = add(trade.exitValue, value);
    trade.exitAt = at;
    noteOrder(trade.exits, fill);
    lot.qty = sub(lot.qty, closing);
    lot.fees = sub(lot.fees, fees);
    lot.funding = sub(lot.funding, funding);
    if (lot.qty === "0") this.#drop();
  }

  /** The oldest lot is gone; the room of all that are gone is given back now and then. */
  #drop(): void {
    this.#first++;
    if (this.#first < 1_000 || this.#first * 2 < this.#lots.length) return;
    this.#lots.splice(0, this.#first);
    this.#first = 0;
  }
}

const tradeOf = (trades: Map<string, TradeSums>, key: string, long: boolean, at: number): TradeSums => {
  const known = trades.get(key);
  if (known !== undefined) return known;
  const trade = openTrade(long, at);
  trades.set(key, trade);
  return trade;
};

const enter = (trade: TradeSums, { fill, rate }: Lot, qty: string, fees: string, funding: string): void => {
  noteEntry(trade, qty, mul(fill.px, qty), rate);
  trade.fees = add(trade.fees, fees);
  trade.funding = add(trade.funding, funding);
  noteOrder(trade.entries, fill);
};
