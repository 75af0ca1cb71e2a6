/**
 * Sums of the fills of one liquidity, maker or taker: how many, their value and their fees.
 *
 * Invariants: exact; text is made when it is asked for.
 */
import { sum } from "../decimal.ts";
import type { Liquidity } from "./report.ts";
import { RunningSum } from "./running-sum.ts";

export class LiquiditySums {
  fills = 0;
  readonly volume = new RunningSum();
  readonly fees = new RunningSum();

  /** Joins the sums of several instruments. */
  static joined(all: readonly LiquiditySums[]): Liquidity {
    return {
      fills: all.reduce((total, { fills }) => total + fills, 0),
      volume: sum(all.map(({ volume }) => volume.text)),
      fees: sum(all.map(({ fees }) => fees.text)),
    };
  }
}

type ByLiquidity = Readonly<Record<"maker" | "taker", LiquiditySums>>;

export const byLiquidity = (): ByLiquidity => ({ maker: new LiquiditySums(), taker: new LiquiditySums() });
