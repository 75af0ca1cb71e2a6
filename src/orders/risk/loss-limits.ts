/**
 * Watches what strategies have lost, realised and not, at the last known prices.
 *
 * Invariants: a breach is reported once, and again only after it was made good; prices are looked at every second while
 * anything is held, and at once when something was traded; without a limit nothing is watched.
 * Not here: what follows from a breach (orders/order-manager.ts).
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import { add, compare, isZero, mul, neg } from "../../decimal.ts";
import type { Exposure, Holding } from "./exposure.ts";
import type { RiskRules } from "./risk-limits.ts";

interface LossOptions {
  readonly clock: Clock;
  readonly rules: RiskRules;
  readonly exposure: Exposure;
  /** What the position would meet if it were closed now, if a quote is known. */
  readonly closingPx: (instId: string, side: "buy" | "sell") => string | undefined;
  readonly onStrategy: (strategy: string, reason: string) => void;
  readonly onAll: (reason: string) => void;
}

interface LossWatch {
  /** Something was traded, on average at this price. */
  traded(instId: string, px: string): void;
  /** Earlier lives traded; of `judged` (empty: all together) it was decided then what is to become of their losses. */
  inherited(judged: readonly string[]): void;
}

const lookMs = 1_000;

type Priced = (instId: string, position: string) => string | undefined;

/**
 * What holdings came to: money received less paid, and what closing them would bring. What has no price yet counts
 * nothing.
 */
export const profitOf = (holdings: ReadonlyMap<string, Holding>, priced: Priced): string => {
  let total = "0";
  for (const [instId, { cash, position }] of holdings) {
    const px = isZero(position) ? "0" : priced(instId, position);
    if (px !== undefined) total = add(total, add(cash, mul(position, px)));
  }
  return total;
};

export const createLossWatch = (options: LossOptions): LossWatch => {
  const { clock, rules, exposure, closingPx } = options;
  const { lossPerStrategy, lossInAll } = rules;
  const breached = new Set<string | undefined>();
  const lastPx = new Map<string, string>();
  let timer: Timer | undefined;

  /** Where nobody quotes any more the last price counts; where nobody ever did, the one that was traded at. */
  const priced: Priced = (instId, position) => {
    const side = compare(position, "0") > 0 ? "sell" : "buy";
    const px = closingPx(instId, side) ?? lastPx.get(instId);
    if (px !== undefined) lastPx.set(instId, px);
    return px;
  };
  /** What a previous run left has no price before the market tells one. */
  const isPriced = (holdings: ReadonlyMap<string, Holding>): boolean =>
    [...holdings].every(([instId, { position }]) => isZero(position) || priced(instId, position) !== undefined);
  const judge = (strategy: string | undefined, limit: string, tell: (reason: string) => void): void => {
    const holdings = exposure.holdings(strategy);
    const profit = profitOf(holdings, priced);
    const isBeyond = compare(neg(profit), limit) > 0;
    if (!isBeyond) {
      if (isPriced(holdings)) breached.delete(strategy);
      return;
    }
    if (breached.has(strategy)) return;
    breached.add(strategy);
    const key = strategy === undefined ? "lossInAll" : "lossPerStrategy";
    tell(`a loss of ${neg(profit)} is more than ${limit} (orders.${key})`);
  };
  const isHeld = (): boolean => {
    for (const strategy of exposure.strategies())
      for (const { position } of exposure.holdings(strategy).values()) if (!isZero(position)) return true;
    return false;
  };
  const look = (): void => {
    if (lossPerStrategy !== undefined) {
      for (const strategy of exposure.strategies()) {
        // What a previous run left behind is no strategy's loss yet.
        if (strategy === "") continue;
        judge(strategy, lossPerStrategy, (reason) => {
          options.onStrategy(strategy, reason);
        });
      }
    }
    if (lossInAll !== undefined) judge(undefined, lossInAll, options.onAll);
    if (timer !== undefined || !isHeld()) return;
    timer = clock.setTimer(clock.now() + lookMs, () => {
      timer = undefined;
      look();
    });
  };

  const isLimited = lossPerStrategy !== undefined || lossInAll !== undefined;

  return {
    inherited: (judged) => {
      if (!isLimited) return;
      for (const strategy of judged) breached.add(strategy === "" ? undefined : strategy);
      look();
    },
    traded: (instId, px) => {
      if (!isLimited) return;
      if (!lastPx.has(instId)) lastPx.set(instId, px);
      look();
    },
  };
};
