/**
 * Statistics over closed trades from flat to flat: how many won, what they brought, how long they lasted, and what is still held.
 *
 * Invariants: net profits decide, after fees, funding and fees of liquidations; sums are exact, so that `net` and `open` add up to
 * what strategies made, to the last digit; averages and rates are cut at their last digit; what cannot be said of so few trades is
 * left out, never 0 or infinite.
 * Not here: what a trade is (round-trips.ts), each of them (trade-list.ts).
 */
import { add, compare, div, mul, sum } from "../decimal.ts";
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
  /** How long anything was held, and its share of the run in percent. */
  readonly inMarketMs: number;
  readonly inMarketPercent: string;
}

/** How long something was held of the time that counts. */
interface InMarket {
  readonly ms: number;
  readonly ofMs: number;
}

/** Trades of one instrument, and what still held is worth there. */
interface MarkedTrades {
  readonly trades: readonly TradeSums[];
  readonly mark: Mark;
}

const averagePlaces = 8;

export const tradesOf = (marked: readonly MarkedTrades[], { ms, ofMs }: InMarket): TradeReport => {
  const all = marked.flatMap(({ trades, mark }) => trades.map((trade) => ({ trade, net: netOfTrade(trade, mark) })));
  const closed = all.filter(({ trade }) => !isOpen(trade));
  const held = all.filter(({ trade }) => isOpen(trade));
  const nets = closed.map(({ net }) => net);
  const [wins, losses] = [nets.filter((net) => compare(net, "0") > 0), nets.filter((net) => compare(net, "0") < 0)];
  const [profit, loss] = [sum(wins), sum(losses)];
  const net = add(profit, loss);
  return {
    count: closed.length,
    won: wins.length,
    lost: losses.length,
    net,
    profit,
    loss,
    ...(closed.length > 0 && {
      winPercent: div(String(100 * wins.length), String(closed.length), 2),
      expectancy: average(net, closed.length),
    }),
    ...(wins.length > 0 && { averageWin: average(profit, wins.length) }),
    ...(losses.length > 0 && { averageLoss: average(loss, losses.length), profitFactor: div(profit, mul(loss, "-1"), 4) }),
    ...extremesOf(nets),
    ...durationsOf(closed.map(({ trade }) => trade.exitAt - trade.openedAt)),
    held: held.length,
    open: sum(held.map((one) => one.net)),
    inMarketMs: Math.round(ms),
    inMarketPercent: Math.round(ofMs) > 0 ? div(String(Math.round(ms) * 100), String(Math.round(ofMs)), 2) : "0",
  };
};

const average = (money: string, count: number): string => div(money, String(count), averagePlaces);

const extremesOf = (nets: readonly string[]): Pick<TradeReport, "best" | "worst"> => {
  const [first] = nets;
  if (first === undefined) return {};
  return {
    best: nets.reduce((most, net) => (compare(net, most) > 0 ? net : most), first),
    worst: nets.reduce((least, net) => (compare(net, least) < 0 ? net : least), first),
  };
};

const durationsOf = (durations: readonly number[]): Pick<TradeReport, "averageMs" | "longestMs"> => {
  if (durations.length === 0) return {};
  const total = durations.reduce((sum, ms) => sum + ms, 0);
  // More values than a call takes arguments.
  return { averageMs: Math.round(total / durations.length), longestMs: Math.round(durations.reduce((most, ms) => Math.max(most, ms), 0)) };
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
