/**
 * Order records as the service pushes them to one user, over a connection that may be cut, silent or disorderly.
 *
 * Invariants: in order unless a fault says otherwise; what was under way when the connection went is lost; whoever joins hears
 * first whether pushes come.
 */
import { BehaviorSubject, type Observable, Subject } from "rxjs";
import type { VirtualClock } from "../../clock/virtual-clock.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import type { Venue } from "../../venue/venue.ts";
import type { Fault, FaultKind } from "./fault.ts";
import type { ProcessClock } from "./process-clock.ts";

export interface Pushes {
  /** The stream for a new process; the one before it hears nothing more. */
  join(clock: ProcessClock): { readonly pushes$: Observable<OrderRecord>; readonly pushing$: Observable<boolean> };
  arm(fault: Fault): void;
  calm(): void;
}

export const pushKinds: readonly FaultKind[] = ["push-lost", "push-double", "push-late", "push-cut", "push-silent"];

export const createPushes = (
  time: VirtualClock,
  venue: Venue,
  owner: string,
  wayMs: () => number,
  mark: (name: string) => void,
): Pushes => {
  let listener:
    | { readonly clock: ProcessClock; readonly pushes$: Subject<OrderRecord>; readonly pushing$: BehaviorSubject<boolean> }
    | undefined;
  let armed: Fault[] = [];
  let cutUntil = Number.NEGATIVE_INFINITY;
  let silentUntil = Number.NEGATIVE_INFINITY;
  let line = 0;
  let lastAt = Number.NEGATIVE_INFINITY;

  const isCut = (): boolean => time.now() < cutUntil;
  const deliverAt = (at: number, record: OrderRecord): void => {
    const mine = line;
    time.setTimer(at, () => {
      if (mine !== line) return;
      const to = listener;
      to?.clock.deliver(() => {
        to.pushes$.next(record);
      });
    });
  };
  const announce = (pushing: boolean): void => {
    const to = listener;
    to?.clock.deliver(() => {
      to.pushing$.next(pushing);
    });
  };
  venue.onOrder((uid, record) => {
    if (uid !== owner) return;
    if (isCut() || time.now() < silentUntil) {
      mark(isCut() ? "a change while pushes were cut" : "a change while pushes were silent");
      return;
    }
    const fault = armed.shift();
    const at = time.now() + wayMs();
    if (fault !== undefined) mark(`${fault.kind} met a push`);
    if (fault?.kind === "push-lost") return;
    if (fault?.kind === "push-late") {
      deliverAt(at + fault.size, record);
      return;
    }
    lastAt = Math.max(lastAt, at);
    deliverAt(lastAt, record);
    if (fault?.kind === "push-double") deliverAt(lastAt, record);
  });
  return {
    join: (clock) => {
      line++;
      listener = { clock, pushes$: new Subject(), pushing$: new BehaviorSubject(!isCut()) };
      return { pushes$: listener.pushes$, pushing$: listener.pushing$ };
    },
    arm: (fault) => {
      if (fault.kind === "push-silent") silentUntil = Math.max(silentUntil, time.now() + fault.forMs);
      else if (fault.kind !== "push-cut") armed.push(fault);
      else {
        cutUntil = Math.max(cutUntil, time.now() + fault.forMs);
        line++;
        announce(false);
        time.setTimer(cutUntil, () => {
          if (!isCut()) announce(true);
        });
      }
    },
    calm: () => {
      armed = [];
      silentUntil = time.now();
      if (!isCut()) return;
      cutUntil = time.now();
      announce(true);
    },
  };
};
