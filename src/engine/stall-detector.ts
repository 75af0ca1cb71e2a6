/**
 * Stall detector: measures by a late timer how long the event loop was blocked.
 *
 * Invariants: a stall is reported once, with its length; after a long one only reducing orders are sent until the state
 * has been read again; a mode set by others meanwhile is kept. On a virtual clock no timer is late, and nothing
 * happens. A strategy that does not return from a call blocks the whole process, this detector included: the stall is
 * reported afterwards. Only the watchdog, a second process, can act meanwhile.
 */
import { filter, merge, type Observable, Subscription, take, toArray } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { OrderManager } from "../orders/order-manager.ts";
import type { PolledResource } from "../orders/state/polled-resource.ts";

interface StallDetectorOptions {
  readonly clock: Clock;
  readonly journal: EventLog;
  readonly accounts: readonly {
    readonly orderManager: Pick<OrderManager, "mode" | "setMode">;
    readonly resources: { readonly pending: Pending };
  }[];
}

type Pending = Pick<PolledResource<unknown>, "value$" | "doubt">;

const tickMs = 250;
const reportedMsMin = 250;
const doubtMs = 5_000;

/** Watches until it is unsubscribed. */
export const detectStalls = ({ clock, journal, accounts }: StallDetectorOptions): Subscription => {
  let timer: Timer | undefined;
  /** Order managers that may not place until the state was read again. */
  const held = new Set<Pick<OrderManager, "mode" | "setMode">>();
  let recovery = new Subscription();

  /** Holds entries back until the state was read again, because pushes may be lost and wanted orders outdated. */
  const recover = (lateMs: number): void => {
    recovery.unsubscribe();
    const since = clock.now();
    const reason = `the process did not run for ${lateMs} ms`;
    for (const { orderManager } of accounts) {
      if (orderManager.mode !== "active") continue;
      held.add(orderManager);
      orderManager.setMode("reducing", reason);
    }
    for (const { resources } of accounts) resources.pending.doubt(reason);
    recovery = merge(...accounts.map(({ resources }) => readAgain(resources.pending, since)))
      .pipe(toArray())
      .subscribe(() => {
        for (const orderManager of held)
          if (orderManager.mode === "reducing") orderManager.setMode("active", "the state was read again");
        held.clear();
      });
  };
  const arm = (): void => {
    const dueAt = clock.now() + tickMs;
    timer = clock.setTimer(dueAt, () => {
      const lateMs = Math.round(clock.now() - dueAt);
      if (lateMs > reportedMsMin) journal.append({ type: "engine.stalled", lateMs });
      if (lateMs > doubtMs) recover(lateMs);
      arm();
    });
  };
  arm();
  return new Subscription(() => {
    recovery.unsubscribe();
    timer?.cancel();
  });
};

const readAgain = ({ value$ }: Pending, since: number): Observable<unknown> =>
  value$.pipe(
    filter(({ at, stale }) => !stale && at >= since),
    take(1),
  );
