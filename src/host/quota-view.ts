/**
 * Quota as strategies and plugins see it: current use, use by owner, a stream of both, and the cost of planned actions.
 *
 * Invariants: every request that was sent is counted for its owner, from the engine's start on.
 * Not here: what may be spent (scheduler/quota/).
 */
import { Observable } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { LayerState, Ledger } from "../scheduler/quota/ledger.ts";
import type { Estimate, PlannedAction, QuotaState } from "./context.ts";

const pauseMs = 250;

/**
 * Emits now and after each change, at most once in a while: the last change of a burst is always emitted. Nothing is
 * computed without a subscriber.
 */
export const quotaStream = (clock: Clock, journal: EventLog, now: () => QuotaState): Observable<QuotaState> =>
  new Observable((subscriber) => {
    let emittedAt = Number.NEGATIVE_INFINITY;
    let timer: Timer | undefined;
    const emit = (): void => {
      timer = undefined;
      emittedAt = clock.now();
      subscriber.next(now());
    };
    const detach = journal.attach((event) => {
      if (!event.type.startsWith("action.") && event.type !== "quota.rejected") return;
      timer ??= clock.setTimer(Math.max(clock.now(), emittedAt + pauseMs), emit);
    });
    emit();
    return () => {
      detach();
      timer?.cancel();
    };
  });

/** Weight and waiting time of actions. */
export const estimateOf = (
  actions: readonly PlannedAction[],
  contract: Contract,
  minute: LayerState | undefined,
  at: number,
): Estimate => {
  const { uid, key } = contract.layers;
  const weight = actions.reduce((sum, { endpoint, count }) => sum + contract.endpoints[endpoint].weight * count, 0);
  const requests = actions.reduce((sum, { count }) => sum + count, 0);
  const reserved = minute?.reserved ?? 0;
  const free = minute === undefined ? uid.capacity : Math.max(0, minute.free - reserved);
  // Every later minute adds what the reserve leaves of it.
  const minutes = weight <= free ? 0 : Math.ceil((weight - free) / Math.max(1, uid.capacity - reserved));
  const byWeight = minutes === 0 || minute === undefined ? 0 : minute.windowEndsAt - at + (minutes - 1) * uid.windowMs;
  const bySecond = Math.floor(Math.max(0, requests - 1) / key.capacity) * key.windowMs;
  return { weight, requests, waitMs: Math.max(0, byWeight, bySecond) };
};

/** Returns a function that reads the current quota. */
export const quotaReader = (
  journal: EventLog,
  ledger: Ledger,
  scheduler: Pick<QuotaState, "queued" | "inFlight">,
  clock: Clock,
): (() => QuotaState) => {
  const spent: Record<string, number> = {};
  journal.on(["action.sent"], ({ owner, weight }) => {
    spent[owner] = (spent[owner] ?? 0) + weight;
  });
  return () => {
    const at = clock.now();
    return {
      at,
      layers: ledger.state(at),
      queued: scheduler.queued,
      inFlight: scheduler.inFlight,
      spent: { ...spent },
    };
  };
};
