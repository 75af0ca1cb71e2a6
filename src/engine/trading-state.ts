/**
 * Changes what may be traded, of all users at once or of one strategy.
 *
 * Invariants: a halt asks for every order before any desk acts on it; a strategy nobody has is refused by name.
 * Not here: what a mode means (orders/risk/trading-mode.ts).
 */
import { merge, type Observable, ReplaySubject } from "rxjs";
import { didYouMean, SluiceError } from "../errors.ts";
import type { Whom } from "../host/context.ts";
import type { Journal } from "../journal/event-log.ts";
import { type CancelResult, cancelAll } from "../orders/manual-orders.ts";
import type { Mode } from "../orders/order-manager.ts";
import type { Branches } from "./user-accounts.ts";

/** No new orders, and every order that is not over is taken back first of all, those under way included. */
export const haltWith =
  (branches: Branches, strategies: readonly string[]) =>
  (reason: string, { strategy }: Whom = {}): Observable<CancelResult> => {
    const results = new ReplaySubject<CancelResult>();
    const isMeant = (order: { readonly strategy: string }): boolean => strategy === undefined || order.strategy === strategy;
    if (strategy !== undefined) checkStrategy(strategies, strategy);
    // All are asked for before any desk acts: one batch can only hold what is known when it leaves.
    merge(...branches.all.map(({ desk }) => cancelAll(desk, desk.orders().filter(isMeant), "emergency"))).subscribe(results);
    setMode(branches, "halted", reason, strategy);
    return results;
  };

/** Whoever halts what is halted already has a reason of their own, and it is told. */
const tellAgain = ({ all }: Branches, journal: Journal, reason: string): void => {
  if (all.every(({ desk }) => desk.mode === "halted")) journal.append({ type: "mode.changed", mode: "halted", reason });
};

export interface Switches {
  /** No new orders, and every order of ours is cancelled first of all. */
  readonly halt: (reason: string, whom?: Whom) => Observable<CancelResult>;
  readonly resume: (reason: string, whom?: Whom) => void;
}

/** What people and plugins decide: of everything, it is told again and outlives the process. */
export const switchesOf = (
  branches: Branches,
  journal: Journal,
  halt: Switches["halt"],
  decide: (mode: "active" | "halted", reason: string) => void,
): Switches => ({
  halt: (reason, whom = {}) => {
    if (whom.strategy === undefined) tellAgain(branches, journal, reason);
    const results = halt(reason, whom);
    if (whom.strategy === undefined) decide("halted", reason);
    return results;
  },
  resume: (reason, { strategy } = {}) => {
    setMode(branches, "active", reason, strategy);
    if (strategy === undefined) decide("active", reason);
  },
});

const checkStrategy = (known: readonly string[], strategy: string): void => {
  if (known.includes(strategy)) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `no strategy is named "${strategy}"; there is ${known.join(", ")}.${didYouMean(strategy, known)}`,
  );
};

export const setMode = ({ all }: Branches, mode: Mode, reason: string, strategy?: string): void => {
  for (const { desk } of all) {
    if (strategy === undefined) desk.setMode(mode, reason);
    else desk.setStrategyMode(strategy, mode, reason);
  }
};
