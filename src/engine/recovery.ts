/**
 * Recovery: the state an engine takes over from previous runs: orders that may exist, halts that were not lifted, and
 * positions.
 *
 * Invariants: a halt is in force before anything is read, so that orders found then are canceled; unfinished orders of
 * previous runs are resolved before anything new is sent in their slots; records of a user or strategy that is not in
 * the config are reported or kept, and never acted on.
 * Not here: reading the journal (placement-journal.ts) and the service's history (history-read-back.ts).
 */

import type { Clock } from "../clock/clock.ts";
import type { OrdType, Side } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Protected } from "../journal/protection-records.ts";
import { malformedProtect } from "../orders/protection/protect.ts";
import type { Recovered } from "./journal-port.ts";
import { setMode } from "./trading-state.ts";
import type { UserAccounts } from "./user-account.ts";

interface Heir {
  readonly accounts: UserAccounts;
  readonly journal: EventLog;
  readonly clock: Clock;
}

/** Records of the service beyond the end of the journal. */
interface ReadBack {
  /** The order history back to the end of the journal, by user. */
  readonly history: ReadonlyMap<string, readonly OrderRecord[]>;
  /** Own orders up to this generation are accounted for, by user. */
  readonly onReached: (latest: ReadonlyMap<string, number>) => void;
}

/** `strategies` are those of this run. */
export const holdAsBefore = (accounts: UserAccounts, strategies: readonly string[], { held }: Recovered): void => {
  for (const { strategy, mode: shown, reason, full } of held) {
    const mode = full === true ? "stopped" : shown;
    if (strategy === "") setMode(accounts, mode, reason);
    else if (strategies.includes(strategy)) setMode(accounts, mode, reason, strategy);
  }
};

/**
 * Returns whether a recorded protection is well formed. A journal may contain what older versions accepted. The start
 * does not fail for it, and the position is named.
 */
const isWellFormed = ({ strategy, name, instId, protect }: Protected, journal: EventLog): boolean => {
  const problem = malformedProtect(protect);
  if (problem === undefined) return true;
  const detail = `${strategy}/${name}: the journal holds a protection of ${instId} with ${problem}. It protects nothing: see what the strategy holds`;
  journal.append({ type: "anomaly", what: "protection.malformed", detail });
  return false;
};

export const recall = (
  { accounts, journal, clock }: Heir,
  { life, open, judged, holdings, protections, repaired, endOf }: Recovered,
  beyond?: ReadBack,
): void => {
  journal.append({ type: "journal.opened", run: life, unresolved: open.length, repaired });
  for (const { user, orderManager } of accounts.all) {
    orderManager.inherit(
      holdings.filter(({ uid }) => uid === user.uid),
      judged,
    );
    const own = open.filter(({ uid }) => uid === user.uid);
    const kept = protections.filter((record) => record.uid === user.uid && isWellFormed(record, journal));
    if (kept.length > 0) orderManager.restore(kept, own);
  }
  for (const { uid, strategy = "", clOrdId, sentAt, instId, side, ordType, px, sz, reduceOnly, planned } of open) {
    const account = accounts.all.find(({ user }) => user.uid === uid);
    if (account === undefined) {
      const detail = `${clOrdId} of user ${uid}, which this config does not have: look for it at the service`;
      journal.append({ type: "anomaly", what: "order.abandoned", detail });
      continue;
    }
    if (planned !== undefined) account.orderManager.expect(clOrdId, planned);
    const spec = { instId, side: side as Side, ordType: ordType as OrdType, px, sz, reduceOnly };
    // The service's history is read back to the time of sending. How long the order may still be on its way is counted
    // from the beginning of this run.
    account.orderManager.recall(clOrdId, spec, clock.now() - Math.max(0, clock.wallNow() - sentAt), strategy);
  }
  if (beyond !== undefined) goBeyond(accounts, endOf, beyond);
  for (const { orderManager } of accounts.all) orderManager.rearm();
};

const goBeyond = (accounts: UserAccounts, endOf: Recovered["endOf"], { history, onReached }: ReadBack): void => {
  const latest = new Map<string, number>();
  for (const { user, orderManager } of accounts.all) {
    orderManager.readBack(history.get(user.uid) ?? [], endOf(user.uid));
    if (orderManager.latestSeen !== undefined) latest.set(user.uid, orderManager.latestSeen);
  }
  onReached(latest);
};
