/**
 * Watches over what is no event: profit by currency.
 *
 * Invariants: pure but for their own memory; a bound that was crossed is told once, and again only after it was left behind.
 */
import { compare, isPositive, mul, neg } from "sluice";
import type { Finding } from "./rules.ts";

/** Findings when profit (decimal text by currency) falls to a bound's loss, and when it is back above half of it. */
export const createLossWatch = (losses: Readonly<Record<string, readonly string[]>>) => {
  const below = new Set<string>();
  return (profits: ReadonlyMap<string, string>): readonly Finding[] =>
    Object.entries(losses).flatMap(([currency, bounds]) => {
      const profit = profits.get(currency);
      if (profit === undefined) return [];
      return bounds.flatMap((bound): readonly Finding[] => {
        const key = `${currency} ${bound}`;
        const lost = neg(profit);
        if (!below.has(key) && compare(lost, bound) >= 0) {
          below.add(key);
          return [{ rule: "loss", subject: key, text: `profit is ${profit} ${currency}: a loss of ${bound} or more` }];
        }
        if (below.has(key) && compare(lost, mul(bound, "0.5")) < 0) {
          below.delete(key);
          const text = `${isPositive(profit) ? "profit" : "loss"} is ${profit} ${currency}: less than half of ${bound} lost`;
          return [{ rule: "loss", subject: key, text, isOver: true }];
        }
        return [];
      });
    });
};
