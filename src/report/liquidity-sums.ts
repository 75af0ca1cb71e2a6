/**
 * Sums of the fills of one liquidity, maker or taker: how many, their value and their fees.
 *
 * Invariants: exact; text is made when it is asked for.
 */
import { RunningSum } from "../decimal-units.ts";
import type { Liquidity } from "./report.ts";

export class LiquiditySums {
  fills = 0;
  readonly volume = new RunningSum();
  readonly fees = new RunningSum();

  get told(): Liquidity {
    return { fills: this.fills, volume: this.volume.text, fees: this.fees.text };
  }
}
