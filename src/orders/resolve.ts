/**
 * Finds out what became of an order whose placement or record is in doubt.
 *
 * Invariants: a placement is never repeated to find out; only a complete, successful, negative answer counts against the order,
 * and several of them, apart in time and backed by two full sweeps, are needed to call it absent; errors count for nothing.
 */
import { map, type Observable } from "rxjs";
import { type Clock, every } from "../clock/clock.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { walkOrders } from "../gateway/paging.ts";

export interface ResolveOptions {
  readonly clock: Clock;
  readonly gateway: Gateway;
  /** No negative answer counts before this long after the call was sent: it may still be on its way. */
  readonly settleMs?: number;
  readonly everyMs?: number;
  readonly negatives?: number;
}

export type Evidence = { readonly kind: "found"; readonly record: OrderRecord } | { readonly kind: "absent" };

export interface Resolver {
  /** One look by client id: emits the record, if there is one, and completes. */
  look(clOrdId: string, instId: string): Observable<OrderRecord | undefined | "void">;
  /** Looks until there is evidence; calls back once. The returned function gives up. */
  pursue(
    order: { readonly clOrdId: string; readonly instId: string; readonly sentAt: number },
    done: (evidence: Evidence) => void,
  ): () => void;
}

const call = { class: "resolve", owner: "engine" } as const;

export const createResolver = ({ clock, gateway, settleMs = 30_000, everyMs = 5_000, negatives = 3 }: ResolveOptions): Resolver => {
  const look = (clOrdId: string, instId: string): Observable<OrderRecord | undefined | "void"> =>
    // Only the client id is sent: with both ids the service would go by its own, which may be stale.
    gateway.read("getOrder", { clOrdId, instId }, call).pipe(
      map((outcome) => {
        if (outcome.kind !== "done" || outcome.problems.length > 0) return "void";
        const record = outcome.records.find((candidate) => candidate.clOrdId === clOrdId);
        return record ?? (outcome.records.length === 0 ? undefined : "void");
      }),
    );

  return {
    look,
    pursue: ({ clOrdId, instId, sentAt }, done) => {
      let count = 0;
      let sweeps = 0;
      let busy = false;
      const finish = (evidence: Evidence): void => {
        ticks.unsubscribe();
        done(evidence);
      };
      const sweep = (): void => {
        // Pending to its end, then history: an order moving from one to the other is seen in one of them.
        walkOrders(gateway, "pendingOrders", {}, call).subscribe((pending) => {
          walkOrders(gateway, "orderHistory", {}, { ...call, since: sentAt - settleMs }).subscribe((history) => {
            busy = false;
            if (pending.kind !== "done" || history.kind !== "done") return;
            const record = [...pending.records, ...history.records].find((candidate) => candidate.clOrdId === clOrdId);
            if (record !== undefined) finish({ kind: "found", record });
            else if (pending.problems.length + history.problems.length === 0 && ++sweeps >= 2) finish({ kind: "absent" });
          });
        });
      };
      const ask = (): void => {
        if (busy) return;
        busy = true;
        const settled = clock.now() - sentAt >= settleMs;
        if (count >= negatives && settled) {
          sweep();
          return;
        }
        look(clOrdId, instId).subscribe((answer) => {
          busy = false;
          if (answer === "void") return;
          if (answer !== undefined) finish({ kind: "found", record: answer });
          else if (settled) count++;
        });
      };
      const ticks = every(clock, everyMs).subscribe(ask);
      ask();
      return () => {
        ticks.unsubscribe();
      };
    },
  };
};
