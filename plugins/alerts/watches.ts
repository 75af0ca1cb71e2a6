/**
 * Watches over values without events: a user's profit by currency, and the age of the account's state.
 *
 * Invariants: pure but for their own memory; a crossed bound is reported once, and again only after the value has
 * returned within it; money of several users is never added.
 */
import { compare, isPositive, mul, neg } from "sluice";
import type { Finding } from "./rules.ts";

/**
 * Findings when a user's profit (decimal text by currency) falls to a bound's loss, and when it is back above half of
 * it. `user` is named in them; empty where there is one only.
 */
export const createLossWatch = (losses: Readonly<Record<string, readonly string[]>>, user: string) => {
  const below = new Set<string>();
  const whose = user === "" ? "" : ` of ${user}`;
  return (profits: ReadonlyMap<string, string>): readonly Finding[] =>
    Object.entries(losses).flatMap(([currency, bounds]) => {
      const profit = profits.get(currency);
      if (profit === undefined) return [];
      return bounds.flatMap((bound): readonly Finding[] => {
        const key = `${user} ${currency} ${bound}`;
        const lost = neg(profit);
        if (!below.has(key) && compare(lost, bound) >= 0) {
          below.add(key);
          return [
            { rule: "loss", subject: key, text: `profit${whose} is ${profit} ${currency}: a loss of ${bound} or more` },
          ];
        }
        if (below.has(key) && compare(lost, mul(bound, "0.5")) < 0) {
          below.delete(key);
          const text = `${isPositive(profit) ? "profit" : "loss"}${whose} is ${profit} ${currency}: less than half of ${bound} lost`;
          return [{ rule: "loss", subject: key, text, isOver: true }];
        }
        return [];
      });
    });
};

interface Fresh {
  readonly user: string;
  readonly name: string;
  /** Age of the data; undefined before it was read. Data that no strategy needs is never read. */
  readonly ageMs: number | undefined;
  readonly stale: boolean;
  readonly problem: string;
}

/** Findings when a part of the state has been stale for `staleMs`, and when it is fresh again. */
export const createStaleWatch = (staleMs: number) => {
  const since = new Map<string, { readonly at: number; isTold: boolean }>();
  return (resources: readonly Fresh[], now: number): readonly Finding[] =>
    resources.flatMap(({ user, name, ageMs, stale, problem }): readonly Finding[] => {
      const subject = `${user} ${name}`;
      const known = since.get(subject);
      if (!stale || ageMs === undefined) {
        since.delete(subject);
        return known?.isTold === true
          ? [{ rule: "stale", subject, text: `${name} of ${user} are fresh again`, isOver: true }]
          : [];
      }
      if (known === undefined) since.set(subject, { at: now, isTold: false });
      if (known === undefined || known.isTold || now - known.at < staleMs) return [];
      known.isTold = true;
      const why = problem === "" ? "" : `: ${problem}`;
      return [
        {
          rule: "stale",
          subject,
          text: `${name} of ${user} are stale for ${Math.round((now - known.at) / 1_000)} s${why}`,
        },
      ];
    });
};
