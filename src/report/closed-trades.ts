/**
 * Sums of closed trades, which replace the trades themselves.
 *
 * Invariants: exact, so that statistics over them are those of the trades themselves; a trade is added when it is
 * finally closed.
 */
import { compare } from "../decimal.ts";
import { RunningSum } from "./running-sum.ts";
import { netOfTrade, type TradeSums } from "./trade-list.ts";

/** A closed trade has no mark. */
const noMark = { px: "0", rate: "1" } as const;

export class ClosedTrades {
  count = 0;
  won = 0;
  lost = 0;
  readonly #profit = new RunningSum();
  readonly #loss = new RunningSum();
  best: string | undefined;
  worst: string | undefined;
  ms = 0;
  longestMs = 0;

  get profit(): string {
    return this.#profit.text;
  }

  get loss(): string {
    return this.#loss.text;
  }

  add(trade: TradeSums): void {
    const net = netOfTrade(trade, noMark);
    this.count++;
    // In its shortest spelling, as a difference is.
    if (net.startsWith("-")) {
      this.lost++;
      this.#loss.add(net);
    } else if (net !== "0") {
      this.won++;
      this.#profit.add(net);
    }
    if (this.best === undefined || (net !== this.best && compare(net, this.best) > 0)) this.best = net;
    if (this.worst === undefined || (net !== this.worst && compare(net, this.worst) < 0)) this.worst = net;
    const ms = trade.exitAt - trade.openedAt;
    this.ms += ms;
    this.longestMs = Math.max(this.longestMs, ms);
  }

  /** Joins the closed trades of several instruments or strategies. */
  static joined(all: readonly ClosedTrades[]): ClosedTrades {
    const sums = new ClosedTrades();
    for (const one of all) {
      sums.count += one.count;
      sums.won += one.won;
      sums.lost += one.lost;
      sums.#profit.add(one.profit);
      sums.#loss.add(one.loss);
      if (one.best !== undefined && (sums.best === undefined || compare(one.best, sums.best) > 0)) sums.best = one.best;
      if (one.worst !== undefined && (sums.worst === undefined || compare(one.worst, sums.worst) < 0))
        sums.worst = one.worst;
      sums.ms += one.ms;
      sums.longestMs = Math.max(sums.longestMs, one.longestMs);
    }
    return sums;
  }
}
