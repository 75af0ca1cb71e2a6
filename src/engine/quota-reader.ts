/**
 * How the quota stands, and who spent it.
 *
 * Invariants: every request that left is counted for its owner, from the engine's first moment on.
 * Not here: what may be spent (quota/).
 */
import type { Clock } from "../clock/clock.ts";
import type { QuotaState } from "../host/context.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Ledger } from "../scheduler/quota/ledger.ts";
import type { Scheduler } from "../scheduler/scheduler.ts";

export const quotaReader = (journal: EventLog, ledger: Ledger, scheduler: Scheduler, clock: Clock): (() => QuotaState) => {
  const spent: Record<string, number> = {};
  journal.on(["action.sent"], ({ owner, weight }) => {
    spent[owner] = (spent[owner] ?? 0) + weight;
  });
  return () => {
    const at = clock.now();
    return { at, layers: ledger.state(at), queued: scheduler.queued, inFlight: scheduler.inFlight, spent: { ...spent } };
  };
};
