/**
 * Statistics over closed trades from flat to flat: how many won, what they brought, how long they lasted, and what is
 * still held.
 *
 * Invariants: net profits decide, after fees, funding and fees of liquidations; sums are exact, so that `net` and
 * `open` add up to what strategies made, to the last digit; averages and rates are cut at their last digit; what cannot
 * be computed from so few trades is left out, never 0 or infinite.
 * Not here: what a trade is (round-trips.ts), each of them (trade-list.ts).
 */
import { add, div, mul, sum } from "../decimal.ts";
import { ClosedTrades } from "./closed-trades.ts";
import type { Mark } from "./converted-money.ts";
import { isOpen, netOfTrade, type TradeSums } from "./trade-list.ts";

/** Statistics of closed trades from flat to flat, after costs. */
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
  /** From the first fill to the last, on average and at most; absent without closed trades. */
  readonly averageMs?: number;
  readonly longestMs?: number;
  /** Trades that are still open at the end, which the figures above leave out. */
  readonly held: number;
  /** Net profit of those, what is held valued at its marks. */
  readonly open: string;
  /** Time with a position, and its share of the run in percent. */
  readonly inMarketMs: number;
  readonly inMarketPercent: string;
}

/** Time with a position within the time that counts. */
interface InMarket {
  readonly ms: number;
  readonly ofMs: number;
}

/** Trades of one instrument: the last one, sums of those before, and what is still held is worth there. */
interface MarkedTrades {
  readonly last: TradeSums | undefined;
  readonly earlier: ClosedTrades;
  readonly mark: Mark;
}

const averagePlaces = 8;

export const tradesOf = (marked: readonly MarkedTrades[], { ms, ofMs }: InMarket): TradeReport => {
  const held: string[] = [];
  const closed = new ClosedTrades();
  for (const { last, mark } of marked) {
    if (last === undefined) continue;
    if (isOpen(last)) held.push(netOfTrade(last, mark));
    else closed.add(last);
  }
  const sums = ClosedTrades.joined([...marked.map(({ earlier }) => earlier), closed]);
  const { count, won, lost, profit, loss, best, worst } = sums;
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
    ...(lost > 0 && { averageLoss: average(loss, lost), profitFactor: div(profit, mul(loss, "-1"), 4) }),
    ...(best !== undefined && worst !== undefined && { best, worst }),
    ...(count > 0 && { averageMs: Math.round(sums.ms / count), longestMs: Math.round(sums.longestMs) }),
    held: held.length,
    open: sum(held),
    inMarketMs: Math.round(ms),
    inMarketPercent: Math.round(ofMs) > 0 ? div(String(Math.round(ms) * 100), String(Math.round(ofMs)), 2) : "0",
  };
};

const average = (money: string, count: number): string => div(money, String(count), averagePlaces);

/** Counts open positions, and the time up to the end in which there was any. */
export class Presence {
  readonly #untilAt: () => number;
  #open = 0;
  #since = 0;
  #total = 0;

  /** The end is a function, because a run that continues has none yet. */
  constructor(untilAt: () => number) {
    this.#untilAt = untilAt;
  }

  get ms(): number {
    return this.#total + (this.#open > 0 ? Math.max(0, this.#untilAt() - this.#since) : 0);
  }

  opened(at: number): void {
    if (this.#open++ === 0) this.#since = at;
  }

  closed(at: number): void {
    if (--this.#open === 0) this.#total += Math.max(0, Math.min(at, this.#untilAt()) - this.#since);
  }
}
