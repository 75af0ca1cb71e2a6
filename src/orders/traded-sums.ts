/**
 * Sums of executions by instrument, of one strategy or of several, kept as they are booked.
 *
 * Invariants: the cash of instruments without a position is summed up, so that a valuation takes time for open positions
 * alone.
 * Not here: which executions belong to whom (positions.ts), valuations (risk/loss-limits.ts).
 */
import { add, type Decimal, isZero, sub, zero } from "../decimal-value.ts";

/** Sum of the executions in an instrument. */
export interface Traded {
  /** Base currency, positive when long. */
  readonly position: Decimal;
  /** Quote currency received less paid, costs included. */
  readonly cash: Decimal;
}

export const nothingTraded: Traded = { position: zero, cash: zero };

export class TradedSums {
  readonly #all = new Map<string, Traded>();
  readonly #open = new Map<string, Traded>();
  #flatCash = zero;

  /** Replaces the part `before` of an instrument's sum by `after`. */
  change(instId: string, before: Traded, after: Traded): void {
    const { position, cash } = this.of(instId);
    const next = {
      position: add(position, sub(after.position, before.position)),
      cash: add(cash, sub(after.cash, before.cash)),
    };
    this.#all.set(instId, next);
    if (isZero(position)) this.#flatCash = sub(this.#flatCash, cash);
    if (isZero(next.position)) {
      this.#flatCash = add(this.#flatCash, next.cash);
      this.#open.delete(instId);
    } else this.#open.set(instId, next);
  }

  of(instId: string): Traded {
    return this.#all.get(instId) ?? nothingTraded;
  }

  /** Sums of the instruments that have a position. */
  get open(): ReadonlyMap<string, Traded> {
    return this.#open;
  }

  /** Cash of the instruments that have none. */
  get flatCash(): Decimal {
    return this.#flatCash;
  }
}
