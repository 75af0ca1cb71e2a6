/**
 * Watch over losses of strategies, realised and unrealised, at the last known prices.
 *
 * Invariants: a breach is an effect once, and again only after the loss was made good; losses are compared when an order
 * or a closed position changes them, and at most once a second when the price of a held instrument changes; without a
 * limit nothing is watched.
 * Not here: the restriction that follows from a breach (orders/order-manager.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import { add, compare, type Decimal, isPositive, mul, neg, read, spell } from "../../decimal-value.ts";
import { type Effects, joined, noEffects, type Run } from "../effects.ts";
import { HeldPrices, type PriceChanges } from "../held-prices.ts";
import type { Positions } from "../positions.ts";
import type { TradedSums } from "../traded-sums.ts";
import type { RiskRules } from "./risk-limits.ts";

interface LossOptions {
  readonly clock: Clock;
  readonly rules: RiskRules;
  readonly positions: Pick<Positions, "heldInstruments" | "strategies" | "tradedBy">;
  /** Price at which the position could be closed now, if a quote is known. */
  readonly closingPx: (instId: string, side: "buy" | "sell") => string | undefined;
  readonly priceChanges: PriceChanges;
  /** Performs what follows from a price. */
  readonly run: Run;
}

interface LossWatch {
  /** Called when an order changed; `px` is its average price. */
  traded(instId: string, px: string): Effects;
  /** Called when holdings changed without an own order. */
  changed(): Effects;
  /**
   * Takes over holdings of previous runs. The losses of `judged` were already reported (empty: all strategies
   * together).
   */
  inherited(judged: readonly string[]): Effects;
  close(): void;
}

type Sums = Pick<TradedSums, "open" | "flatCash">;
type Priced = (instId: string, position: Decimal) => Decimal | undefined;

/**
 * Profit of what was traded: money received less money paid, plus the value of the positions. Instruments without a
 * known price are left out.
 */
export const profitOf = ({ open, flatCash }: Sums, priced: Priced): Decimal => {
  let total = flatCash;
  for (const [instId, { cash, position }] of open) {
    const px = priced(instId, position);
    if (px !== undefined) total = add(total, add(cash, mul(position, px)));
  }
  return total;
};

export const createLossWatch = (options: LossOptions): LossWatch => {
  const { clock, positions, closingPx, priceChanges, run } = options;
  const { lossPerStrategy, lossInAll } = options.rules;
  const breached = new Set<string | undefined>();
  const lastPx = new Map<string, Decimal>();

  /** Falls back to the last known price, or to the first traded price if no quote has arrived. */
  const priced: Priced = (instId, position) => {
    const quoted = closingPx(instId, isPositive(position) ? "sell" : "buy");
    const px = quoted === undefined ? lastPx.get(instId) : read(quoted);
    if (px !== undefined) lastPx.set(instId, px);
    return px;
  };

  /** Returns false while an inherited position has no price yet. */
  const isPriced = ({ open }: Sums): boolean =>
    [...open].every(([instId, { position }]) => priced(instId, position) !== undefined);

  const judge = (strategy: string | undefined, limit: string): Effects => {
    const traded = positions.tradedBy(strategy);
    const loss = neg(profitOf(traded, priced));
    const isKnown = breached.has(strategy);
    if (compare(loss, read(limit)) <= 0) {
      if (isKnown && isPriced(traded)) breached.delete(strategy);
      return noEffects;
    }
    if (isKnown) return noEffects;
    breached.add(strategy);
    const key = strategy === undefined ? "lossInAll" : "lossPerStrategy";
    return [{ kind: "restrict", strategy, reason: `a loss of ${spell(loss)} is more than ${limit} (orders.${key})` }];
  };

  const look = (): Effects => {
    if (lossPerStrategy === undefined && lossInAll === undefined) return noEffects;
    prices.looked();
    // Holdings of previous runs without a strategy count only in the total.
    const ofStrategies =
      lossPerStrategy === undefined
        ? noEffects
        : positions.strategies().flatMap((name) => judge(name, lossPerStrategy));
    const inAll = lossInAll === undefined ? noEffects : judge(undefined, lossInAll);
    prices.follow(positions.heldInstruments());
    return joined(ofStrategies, inAll);
  };
  const prices = new HeldPrices(clock, priceChanges, () => run(look()));

  return {
    changed: look,
    inherited: (judged) => {
      for (const strategy of judged) breached.add(strategy === "" ? undefined : strategy);
      return look();
    },
    traded: (instId, px) => {
      if (!lastPx.has(instId)) lastPx.set(instId, read(px));
      return look();
    },
    close: () => prices.close(),
  };
};
