/**
 * The quota as a stream: now, and after whatever changed it, at most once in a while.
 *
 * Invariants: nothing is computed without a subscriber; the last change of a burst is always emitted.
 */
import { Observable } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { QuotaState } from "./context.ts";

const pauseMs = 250;

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
