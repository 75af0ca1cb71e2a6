/**
 * Finds out what became of an order whose placement or record is in doubt.
 *
 * Invariants: a placement is never repeated to find out; only a complete, successful, negative answer counts against the order,
 * and several of them, apart in time and backed by two full sweeps, are needed to call it absent; errors count for nothing; what
 * waits to be asked is not asked once there is evidence.
 */
import { map, type Observable } from "rxjs";
import { type Clock, every } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Outcome } from "../gateway/outcome.ts";
import { walkOrders } from "../gateway/paging.ts";

export interface ResolveOptions {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly profile: Profile;
  /** No negative answer counts before this long after the call was sent: it may still be on its way. */
  readonly settleMs?: number;
  readonly everyMs?: number;
  readonly negatives?: number;
  /** Between the two sweeps: longer than a service's views lag each other. */
  readonly lagMs?: number;
}

export type Evidence = { readonly kind: "found"; readonly record: OrderRecord } | { readonly kind: "absent" };

export interface Doubtful {
  readonly clOrdId: string;
  readonly instId: string;
  /** On the engine's clock. */
  readonly sentAt: number;
}

export interface Resolver {
  /**
   * One look by client id: emits the record, undefined when there is none, "void" when the answer proves nothing. It is not
   * sent, and proves nothing, when it is not needed any more by the time its slot opens.
   */
  look(clOrdId: string, instId: string, needed: () => boolean): Observable<OrderRecord | undefined | "void">;
  /** Looks until there is evidence; calls back once. The returned function gives up. */
  pursue(order: Doubtful, done: (evidence: Evidence) => void): () => void;
}

const call = { class: "resolve", owner: "engine" } as const;
/** How far the service's calendar may be from ours: its history is read so much further back. */
const calendarMs = 120_000;
const unitsPerMs = { ms: 1, s: 0.001, us: 1_000 } as const;

export const createResolver = (options: ResolveOptions): Resolver => {
  const { clock, gateway, profile, settleMs = 30_000, everyMs = 5_000, negatives = 3, lagMs = 10_000 } = options;
  /** An earlier life may have sent until just before; how long ago that was only a calendar knows, and calendars step. */
  const bornAt = clock.now();

  const look = (clOrdId: string, instId: string, needed: () => boolean): Observable<OrderRecord | undefined | "void"> =>
    // Only the client id is sent: with both ids the service would go by its own, which may be stale.
    gateway.read("getOrder", { clOrdId, instId }, { ...call, needed }).pipe(
      map((outcome) => {
        if (outcome.kind !== "done" || outcome.problems.length > 0) return "void";
        const record = outcome.records.find((candidate) => candidate.clOrdId === clOrdId);
        return record ?? (outcome.records.length === 0 ? undefined : "void");
      }),
    );

  /** An instant of ours in the words of the service's records. */
  const inService = (at: number): number =>
    (clock.wallNow() - (clock.now() - at) - calendarMs - settleMs) * unitsPerMs[profile.order.timeUnit];

  /** Pending to its end, then history: an order moving from one to the other is seen in one of them. */
  const sweep = ({ clOrdId, sentAt }: Doubtful, needed: () => boolean, done: (answer: OrderRecord | undefined | "void") => void): void => {
    walkOrders(gateway, "pendingOrders", {}, { ...call, needed }).subscribe((pending) => {
      const rested = foundIn(pending, clOrdId);
      if (rested !== undefined) {
        done(rested);
        return;
      }
      walkOrders(gateway, "orderHistory", {}, { ...call, needed, since: inService(sentAt) }).subscribe((history) => {
        done(foundIn(history, clOrdId));
      });
    });
  };

  const pursue = (order: Doubtful, done: (evidence: Evidence) => void): (() => void) => {
    let count = 0;
    let sweeps = 0;
    let sweptAt = Number.NEGATIVE_INFINITY;
    let busy = false;
    let over = false;

    const finish = (evidence: Evidence): void => {
      if (over) return;
      over = true;
      ticks.unsubscribe();
      done(evidence);
    };
    const isOpen = (): boolean => !over;
    const isSettled = (): boolean => clock.now() - Math.max(order.sentAt, bornAt) >= settleMs;
    const takeSweep = (startedAt: number, answer: OrderRecord | undefined | "void"): void => {
      busy = false;
      if (answer === "void") return;
      if (answer !== undefined) finish({ kind: "found", record: answer });
      else if (++sweeps >= 2) finish({ kind: "absent" });
      sweptAt = startedAt;
    };
    const takeLook = (wasSettled: boolean, answer: OrderRecord | undefined | "void"): void => {
      busy = false;
      if (answer === "void") return;
      if (answer !== undefined) finish({ kind: "found", record: answer });
      else if (wasSettled) count++;
    };
    const ask = (): void => {
      if (busy || over) return;
      const now = clock.now();
      const settled = isSettled();
      const sweeping = count >= negatives && settled;
      if (sweeping && now - sweptAt < lagMs) return;
      busy = true;
      if (sweeping) {
        sweep(order, isOpen, (answer) => {
          takeSweep(now, answer);
        });
        return;
      }
      look(order.clOrdId, order.instId, isOpen).subscribe((answer) => {
        takeLook(settled, answer);
      });
    };
    const ticks = every(clock, everyMs).subscribe(ask);
    ask();
    return () => {
      over = true;
      ticks.unsubscribe();
    };
  };

  return { look, pursue };
};

/** An unreadable record may be any order: a listing with one proves nothing unless ours is among the others. */
const foundIn = (outcome: Outcome<OrderRecord>, clOrdId: string): OrderRecord | undefined | "void" => {
  if (outcome.kind !== "done") return "void";
  return outcome.records.find((record) => record.clOrdId === clOrdId) ?? (outcome.problems.length > 0 ? "void" : undefined);
};
