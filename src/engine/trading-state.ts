/**
 * Trading state: halts, resumes and reduces trading, of all users or of one strategy.
 *
 * Invariants: a halt queues the cancel of every entry, and a full stop that of every order, before any order manager
 * acts; a halt never weakens a full stop; an unknown strategy throws an error that names it.
 * Not here: what a mode means (orders/risk/trading-mode.ts).
 */
import type { Observable } from "rxjs";
import { didYouMean, SluiceError } from "../errors.ts";
import type { HaltOptions, Whom } from "../host/context.ts";
import type { EngineGroup, ExtensionContext } from "../host/engine-extension.ts";
import type { EventLog } from "../journal/event-log.ts";
import { type CancelResult, cancelAll, cancelNow } from "../orders/manual-orders.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import type { Order } from "../orders/order-state.ts";
import { isStricter, type Restriction } from "../orders/risk/trading-mode.ts";
import type { UserAccounts } from "./user-account.ts";

/**
 * No new entries; every open entry is canceled with highest priority, including those in flight. With `full` there are
 * no new orders at all, and exits are canceled too. They are also canceled when the positions themselves are to be
 * closed.
 */
export const haltWith =
  (accounts: UserAccounts, strategies: readonly string[]) =>
  (reason: string, { strategy, full = false }: HaltOptions = {}, isToClose = false): Observable<CancelResult> => {
    if (strategy !== undefined) checkStrategy(strategies, strategy);
    const goes = (orderManager: OrderManager, order: Order): boolean =>
      (strategy === undefined || order.strategy === strategy) &&
      (full || isToClose || !(orderManager.isExit(order.clOrdId) || orderManager.isReserved(order)));
    // All cancels are queued before any order manager acts: a batch holds what is queued when it is sent.
    const results = cancelNow(
      ...accounts.all.map(({ orderManager }) =>
        cancelAll(
          orderManager,
          orderManager.orders().filter((order) => goes(orderManager, order)),
          "emergency",
        ),
      ),
    );
    restrict(accounts, full ? "stopped" : isToClose ? "closing" : "halted", reason, strategy);
    return results;
  };

/** Sets the mode of each account whose present mode is not stricter. */
const restrict = (accounts: UserAccounts, mode: Restriction, reason: string, strategy?: string): void => {
  noteDecision(accounts, strategy);
  for (const { orderManager } of accounts.all)
    if (!isStricter(orderManager.restrictionOf(strategy), mode)) setModeOf(orderManager, mode, reason, strategy);
};

/** Reports the reason of a second halt. */
const announceAgain = ({ all }: UserAccounts, journal: EventLog, reason: string): void => {
  if (all.every(({ orderManager }) => orderManager.mode === "halted"))
    journal.append({ type: "mode.changed", mode: "halted", reason, ...(isStopped({ all }) && { full: true }) });
};

const isStopped = ({ all }: Pick<UserAccounts, "all">): boolean =>
  all.every(({ orderManager }) => orderManager.restrictionOf() === "stopped");

/** Records a decision for the next run. */
export type Decide = (mode: "active" | "halted", reason: string, full?: boolean) => void;

/** Halts trading because all strategies together have lost more than the limit. */
export const haltForLoss = (
  accounts: UserAccounts,
  durable: { readonly decide: Decide } | undefined,
  reason: string,
): void => {
  if (accounts.all.every(({ orderManager }) => orderManager.mode === "halted")) return;
  durable?.decide("halted", reason);
  restrict(accounts, "halted", reason);
};

export interface Switches {
  /** Stops new entries and cancels every entry of ours first; with `full` exits as well. */
  readonly halt: (reason: string, options?: HaltOptions) => Observable<CancelResult>;
  readonly resume: (reason: string, whom?: Whom) => void;
}

interface ClosingSwitches extends Switches {
  /**
   * Halts as long as positions are being closed: no exit may close them a second time. `byCalls`: the account's
   * positions are closed, by calls that no order manager knows; a resume is refused until `closed`, because exits would
   * act on what a call under way closes.
   */
  readonly haltToClose: (reason: string, closing: Closing) => Observable<CancelResult>;
  /** The same closing has ended. After the last one what is still held is protected again, and the halt continues. */
  readonly closed: (reason: string, closing: Closing) => void;
}

export interface Closing extends Whom {
  readonly byCalls: boolean;
}

/** Switches of people and plugins: their decisions are reported again and outlive the process. */
export const switchesOf = (
  accounts: UserAccounts,
  journal: EventLog,
  halt: ReturnType<typeof haltWith>,
  decide: Decide,
  group: { readonly group: EngineGroup | undefined },
): ClosingSwitches => {
  const haltAs = (reason: string, options: HaltOptions, isToClose: boolean): Observable<CancelResult> => {
    if (options.everywhere === true) haltGroup(group, journal, reason);
    if (options.strategy === undefined) announceAgain(accounts, journal, reason);
    const results = halt(reason, options, isToClose);
    if (options.strategy === undefined) decide("halted", reason, isStopped(accounts));
    return results;
  };
  const closings = new Set<Closing>();
  const isClosing = (of: string | undefined, byCalls = false): boolean =>
    [...closings].some((one) => one.strategy === of && (one.byCalls || !byCalls));
  return {
    halt: (reason, options = {}) => haltAs(reason, options, false),
    haltToClose: (reason, closing) => {
      closings.add(closing);
      return haltAs(reason, closing, true);
    },
    closed: (reason, closing) => {
      const { strategy } = closing;
      closings.delete(closing);
      if (isClosing(strategy)) return;
      for (const { orderManager } of accounts.all)
        if (orderManager.restrictionOf(strategy) === "closing") setModeOf(orderManager, "halted", reason, strategy);
    },
    resume: (reason, { strategy, everywhere } = {}) => {
      if (isClosing(strategy, true)) refuseResume(strategy);
      if (everywhere === true) haltGroup(group, journal, undefined);
      else if (strategy === undefined) checkGroup(group);
      setMode(accounts, "active", reason, strategy);
      if (strategy === undefined) decide("active", reason);
    },
  };
};

const refuseResume = (strategy: string | undefined): never => {
  throw new SluiceError(
    "TRADING_HALTED",
    `${strategy === undefined ? "Positions" : `Positions of ${strategy}`} are being closed, for two minutes at most. Resume when that is over: until then stops and exits could close a second time what a close call closes.`,
  );
};

/** Refuses to resume one engine while its group is halted. */
const checkGroup = ({ group: joined }: { readonly group: EngineGroup | undefined }): void => {
  if (joined?.halted === undefined) return;
  throw new SluiceError(
    "TRADING_HALTED",
    `All engines of the group are halted (${joined.halted}). Resume them all: sluice halt --everywhere STORE --group NAME --resume.`,
  );
};

/**
 * Halts or resumes the group. An engine without a group halts itself and reports an anomaly, as no other engine is
 * halted.
 */
const haltGroup = (
  { group: joined }: { readonly group: EngineGroup | undefined },
  journal: EventLog,
  reason: string | undefined,
): void => {
  const detail =
    "only this engine was halted or resumed, as it is in no group: add sharedQuota({ store, group, of }) to the plugins of the config";
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
const decisionsOf = (accounts: UserAccounts): number => decided.get(accounts) ?? 0;

const noteDecision = (accounts: UserAccounts, strategy: string | undefined): void => {
  if (strategy === undefined) decided.set(accounts, decisionsOf(accounts) + 1);
};

/** Halt and resume of one extension, which ends only its own halt. */
export const haltOfExtension = (
  parts: () => { readonly accounts: UserAccounts; readonly halt: ReturnType<typeof haltWith> },
): Pick<ExtensionContext<never>, "halt" | "resume"> => {
  /** Number of decisions after its halt; undefined where trading was halted before. */
  let mark: number | undefined;
  return {
    halt: (reason) => {
      const { accounts, halt } = parts();
      const isHalted = accounts.all.every(({ orderManager }) => orderManager.mode === "halted");
      halt(reason);
      mark = isHalted ? undefined : decisionsOf(accounts);
    },
    resume: (reason) => {
      const { accounts } = parts();
      if (mark !== decisionsOf(accounts)) return false;
      mark = undefined;
      setMode(accounts, "active", reason);
      return true;
    },
  };
};

export const setMode = (accounts: UserAccounts, mode: Restriction, reason: string, strategy?: string): void => {
  noteDecision(accounts, strategy);
  for (const { orderManager } of accounts.all) setModeOf(orderManager, mode, reason, strategy);
};

const setModeOf = (orderManager: OrderManager, mode: Restriction, reason: string, strategy?: string): void => {
  if (strategy === undefined) orderManager.setMode(mode, reason);
  else orderManager.setStrategyMode(strategy, mode, reason);
};
