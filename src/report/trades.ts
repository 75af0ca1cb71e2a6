/**
 * Statistics over closed trades: how many won, what they brought on average, at best and at worst, and how long anything was held.
 *
 * Invariants: net profits decide, after fees, funding and fees of liquidations; sums are exact, so that `net` and `open` add up to
 * what strategies made, to the last digit; averages and rates are cut at their last digit; what cannot be said of so few trades is
 * left out, never 0 or infinite.
 * Not here: what a trade is (orders/average-cost.ts).
 */
import { add, compare, div, isZero, mul, sub, sum } from "../decimal.ts";
import { closedTrades, type Holding } from "../orders/average-cost.ts";

/** Statistics of closed trades, after costs. */
export interface TradeReport {
  /** Closed: those that neither won nor lost included. */
  readonly count: number;
  readonly won: number;
  readonly lost: number;
  /** Net profit of all of them. */
  readonly net: string;
  /** Net profits of those that won, and of those that lost (zero or below). */
  readonly profit: string;
  readonly loss: string;
  /** Share of those that won, in percent; it and the next six are absent where they would divide by nothing. */
  readonly winPercent?: string;
  readonly averageWin?: string;
  readonly averageLoss?: string;
  /** `profit` over `loss`, without its sign. */
  readonly profitFactor?: string;
  /** Net profit of a trade on average. */
  readonly expectancy?: string;
  readonly best?: string;
  readonly worst?: string;
  /** What is held at the end would bring at its marks, less the fees and funding it has cost so far. */
  readonly open: string;
  /** How long anything was held, and its share of the run in percent. */
  readonly inMarketMs: number;
  readonly inMarketPercent: string;
}

/** How long something was held of the time that counts. */
interface InMarket {
  readonly ms: number;
  readonly ofMs: number;
}

const averagePlaces = 8;

/** `unrealised` is that of the same holdings. */
export const tradesOf = (holdings: readonly Holding[], unrealised: string, { ms, ofMs }: InMarket): TradeReport => {
  const closed = holdings.map(closedTrades);
  const total = (of: "count" | "won" | "lost"): number => closed.reduce((all, one) => all + one[of], 0);
  const [count, won, lost] = [total("count"), total("won"), total("lost")];
  const profit = sum(closed.map((one) => one.profit));
  const loss = sum(closed.map((one) => one.loss));
  const net = add(profit, loss);
  return {
    count,
    won,
    lost,
    net,
    profit,
    loss,
    ...(count > 0 && { winPercent: div(String(100 * won), String(count), 2), expectancy: average(net, count) }),
    ...(won > 0 && { averageWin: average(profit, won) }),
    ...(lost > 0 && { averageLoss: average(loss, lost) }),
    ...(!isZero(loss) && { profitFactor: div(profit, mul(loss, "-1"), 4) }),
    ...extremesOf(closed.flatMap(({ best, worst }) => (best === undefined || worst === undefined ? [] : [{ best, worst }]))),
    open: sub(unrealised, sum(holdings.map(({ costs }) => costs))),
    inMarketMs: Math.round(ms),
    inMarketPercent: ofMs > 0 ? div(String(Math.round(ms) * 100), String(Math.round(ofMs)), 2) : "0",
  };
};

const average = (money: string, count: number): string => div(money, String(count), averagePlaces);

const extremesOf = (all: readonly { readonly best: string; readonly worst: string }[]): Pick<TradeReport, "best" | "worst"> => {
  const [first] = all;
  if (first === undefined) return {};
  return {
    best: all.reduce((most, { best }) => (compare(best, most) > 0 ? best : most), first.best),
    worst: all.reduce((least, { worst }) => (compare(worst, least) < 0 ? worst : least), first.worst),
  };
};

/** Counts open positions, and the time up to `untilAt` in which there was any. */
export class Presence {
  readonly #untilAt: number;
  #open = 0;
  #since = 0;
  #total = 0;

  constructor(untilAt: number) {
    this.#untilAt = untilAt;
  }

  get ms(): number {
    return this.#total + (this.#open > 0 ? this.#until(this.#untilAt) : 0);
  }

  opened(at: number): void {
    if (this.#open++ === 0) this.#since = at;
  }

  closed(at: number): void {
    if (--this.#open === 0) this.#total += this.#until(at);
  }

  #until(at: number): number {
    return Math.max(0, Math.min(at, this.#untilAt) - this.#since);
  }
}
