/**
 * Trading state: halts, resumes and reduces trading, of all users or of one strategy.
 *
 * Invariants: a halt queues the cancel of every order before any order manager acts; an unknown strategy throws an error that names it.
 * Not here: what a mode means (orders/risk/trading-mode.ts).
 */
import { merge, type Observable, ReplaySubject } from "rxjs";
import { didYouMean, SluiceError } from "../errors.ts";
import type { Whom } from "../host/context.ts";
import type { EventLog } from "../journal/event-log.ts";
import { type CancelResult, cancelAll } from "../orders/manual-orders.ts";
import type { Mode } from "../orders/risk/trading-mode.ts";
import type { UserAccounts } from "./user-account.ts";

/** No new orders; every open order is canceled with highest priority, including those in flight. */
export const haltWith =
  (accounts: UserAccounts, strategies: readonly string[]) =>
  (reason: string, { strategy }: Whom = {}): Observable<CancelResult> => {
    const results = new ReplaySubject<CancelResult>();
    const isMeant = (order: { readonly strategy: string }): boolean =>
      strategy === undefined || order.strategy === strategy;
    if (strategy !== undefined) checkStrategy(strategies, strategy);
    // All cancels are queued before any order manager acts: a batch holds what is queued when it is sent.
    merge(
      ...accounts.all.map(({ orderManager }) =>
        cancelAll(orderManager, orderManager.orders().filter(isMeant), "emergency"),
      ),
    ).subscribe(results);
    setMode(accounts, "halted", reason, strategy);
    return results;
  };

/** A second halt reports its own reason. */
const announceAgain = ({ all }: UserAccounts, journal: EventLog, reason: string): void => {
  if (all.every(({ orderManager }) => orderManager.mode === "halted"))
    journal.append({ type: "mode.changed", mode: "halted", reason });
};

/** Other engines that halt and resume with this one. */
interface Group {
  /** Why all of them are halted. */
  readonly halted: string | undefined;
  haltAll(reason: string | undefined): void;
}

export interface Switches {
  /** No new orders, and every order of ours is canceled first of all. */
  readonly halt: (reason: string, whom?: Whom) => Observable<CancelResult>;
  readonly resume: (reason: string, whom?: Whom) => void;
}

/** What people and plugins decide: of everything, it is reported again and outlives the process. */
export const switchesOf = (
  accounts: UserAccounts,
  journal: EventLog,
  halt: Switches["halt"],
  decide: (mode: "active" | "halted", reason: string) => void,
  group: { readonly joined: Group | undefined },
): Switches => ({
  halt: (reason, whom = {}) => {
    if (whom.everywhere === true) haltGroup(group, journal, reason);
    if (whom.strategy === undefined) announceAgain(accounts, journal, reason);
    const results = halt(reason, whom);
    if (whom.strategy === undefined) decide("halted", reason);
    return results;
  },
  resume: (reason, { strategy, everywhere } = {}) => {
    if (everywhere === true) haltGroup(group, journal, undefined);
    else if (strategy === undefined) checkGroup(group);
    setMode(accounts, "active", reason, strategy);
    if (strategy === undefined) decide("active", reason);
  },
});

/** One engine does not go on while its group is halted. */
const checkGroup = ({ joined }: { readonly joined: Group | undefined }): void => {
  if (joined?.halted === undefined) return;
  throw new SluiceError(
    "TRADING_HALTED",
    `All engines of the group are halted (${joined.halted}). Resume them all: sluice halt --everywhere STORE --group NAME --resume.`,
  );
};

/** Halts or resumes the group. An engine without a group halts itself and reports an anomaly, as no other engine is halted. */
const haltGroup = (
  { joined }: { readonly joined: Group | undefined },
  journal: EventLog,
  reason: string | undefined,
): void => {
  const detail =
    "only this engine was halted or resumed, as it is in no group: add quota: { shared: { store, group, of } } to the config";
  if (joined === undefined) journal.append({ type: "anomaly", what: "group.none", detail });
  else joined.haltAll(reason);
};

export const checkStrategy = (known: readonly string[], strategy: string): void => {
  if (known.includes(strategy)) return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `no strategy is named "${strategy}"; there is ${known.join(", ")}.${didYouMean(strategy, known)}`,
  );
};

/** Number of halts and resumes of all trading, from any source. */
const decided = new WeakMap<UserAccounts, number>();
export const decisionsOf = (accounts: UserAccounts): number => decided.get(accounts) ?? 0;

export const setMode = (accounts: UserAccounts, mode: Mode, reason: string, strategy?: string): void => {
  if (strategy === undefined) decided.set(accounts, decisionsOf(accounts) + 1);
  for (const { orderManager } of accounts.all) {
    if (strategy === undefined) orderManager.setMode(mode, reason);
    else orderManager.setStrategyMode(strategy, mode, reason);
  }
};
