/**
 * Cancels what rests until a listing shows that nothing does.
 *
 * Invariants: only a complete listing counts, and "flat" needs two of them in a row, as a placement may still be on its way; what
 * could not be read is not known and is said to be so; it goes on until it is flat or told to stop, ever more slowly while nothing
 * changes; what the service cannot cancel is named once and left.
 * Not here: when to begin (heartbeat-monitor.ts), which order is ours (watchdog.ts).
 */
import { concat, concatMap, from, ignoreElements, map, Observable, of, type Subscription, switchMap } from "rxjs";
import type { Gateway } from "../../client/gateway.ts";
import { isTurnedDown, type Outcome } from "../../client/outcome.ts";
import { walkOrders } from "../../client/paging.ts";
import { after, type Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import { instTypeOf } from "../../contract/inst-id.ts";
import type { OrderRecord } from "../../contract/schemas.ts";

export type CancelNews =
  | { readonly kind: "listed"; readonly open: number; readonly gone: number }
  /** The open orders could not be read. */
  | { readonly kind: "unread"; readonly why: string }
  /** Orders that the service describes no way to cancel. */
  | { readonly kind: "stuck"; readonly clOrdIds: readonly string[] }
  /** Ends: nothing rests but `stuck` orders. `gone`: orders that were seen and are gone. */
  | { readonly kind: "flat"; readonly gone: number; readonly stuck: number };

export interface CancelAllOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly isOurs: (order: Pick<OrderRecord, "clOrdId">) => boolean;
}

const call = { class: "emergency", owner: "watchdog" } as const;
const confirmMs = 2_000;
const pauseMs = 1_000;
const pauseMsMax = 30_000;
const elementsLeast = 1;

type Listed =
  /** `hidden`: why one more may be of ours, which cannot be read. */
  | { readonly kind: "orders"; readonly orders: readonly OrderRecord[]; readonly hidden?: string }
  /** The service said no: asking again will not change that. */
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "unread"; readonly why: string };

/** One listing of everything of ours that rests. */
export const listOpen = ({ gateway, isOurs }: Pick<CancelAllOptions, "gateway" | "isOurs">): Observable<Listed> =>
  walkOrders(gateway, "pendingOrders", {}, call).pipe(map((outcome) => readListing(outcome, isOurs)));

const readListing = (outcome: Outcome<OrderRecord>, isOurs: CancelAllOptions["isOurs"]): Listed => {
  switch (outcome.kind) {
    case "done": {
      // A record of another program's that cannot be read is none of ours, and does not keep ours from being canceled.
      const isHidden = (_: string, index: number): boolean => {
        const { clOrdId } = outcome.unread?.[index] ?? {};
        return clOrdId === undefined || isOurs({ clOrdId });
      };
      const orders = outcome.records.filter(isOurs);
      const problem = outcome.problems.find(isHidden);
      return problem === undefined ? { kind: "orders", orders } : { kind: "orders", orders, hidden: problem };
    }
    case "refused":
      return { kind: "refused", why: `${outcome.code} ${outcome.msg}`.trim() };
    case "limited":
      return { kind: "unread", why: "refused by a rate limit" };
    case "unknown":
      return { kind: "unread", why: outcome.message };
    case "dropped":
      return { kind: "unread", why: outcome.reason };
  }
};

interface Step {
  readonly waitMs: number;
  readonly orders: readonly OrderRecord[];
}

/** Completes after `flat`; unsubscribing stops it. */
export const cancelAll = (options: CancelAllOptions): Observable<CancelNews> =>
  new Observable((subscriber) => {
    const { clock, contract, gateway } = options;
    const seen = new Set<string>();
    let before = "";
    let empty = 0;
    let pause = pauseMs;
    let size = contract.profile.cancelBatch.elementsMax;
    let toldStuck = false;
    let step: Subscription | undefined;

    const isStuck = ({ instId }: OrderRecord): boolean => !contract.profile.capabilities.cancelSpot && instTypeOf(instId) === "SPOT";
    const cancel = (orders: readonly OrderRecord[]): Observable<never> => {
      const batches = chunks(orders, size);
      const send = (batch: readonly OrderRecord[]): Observable<never> => {
        const elements = batch.map(({ instId, ordId }) => ({ instId, ordId }));
        return gateway.call("cancelBatch", elements, call).pipe(
          // One element may spoil a batch: smaller ones find it.
          map((outcome) => {
            size = isTurnedDown(outcome) ? Math.max(elementsLeast, Math.floor(size / 2)) : size;
          }),
          ignoreElements(),
        );
      };
      return from(batches).pipe(concatMap(send));
    };
    const unread = (why: string, orders: readonly OrderRecord[]): Step => {
      subscriber.next({ kind: "unread", why });
      empty = 0;
      pause = Math.min(pause * 2, pauseMsMax);
      return { waitMs: pause, orders };
    };
    const judge = (listed: Listed): Step | "flat" => {
      if (listed.kind !== "orders") return unread(listed.why, []);
      const stuck = listed.orders.filter(isStuck);
      const orders = listed.orders.filter((order) => !isStuck(order));
      for (const { ordId } of orders) seen.add(ordId);
      if (listed.hidden !== undefined) return unread(listed.hidden, orders);
      const gone = seen.size - orders.length;
      subscriber.next({ kind: "listed", open: orders.length, gone });
      if (stuck.length > 0 && !toldStuck) {
        toldStuck = true;
        subscriber.next({ kind: "stuck", clOrdIds: stuck.map(({ clOrdId }) => clOrdId) });
      }
      if (orders.length === 0) {
        if (++empty < 2) return { waitMs: confirmMs, orders };
        subscriber.next({ kind: "flat", gone, stuck: stuck.length });
        return "flat";
      }
      empty = 0;
      const now = orders.map(({ ordId }) => ordId).join();
      pause = now === before ? Math.min(pause * 2, pauseMsMax) : pauseMs;
      before = now;
      return { waitMs: pause, orders };
    };
    const round = (): void => {
      step = listOpen(options)
        .pipe(
          switchMap((listed) => {
            const next = judge(listed);
            return next === "flat"
              ? of("flat" as const)
              : concat(cancel(next.orders), after(clock, next.waitMs).pipe(map(() => "again" as const)));
          }),
        )
        .subscribe((next) => {
          if (next === "flat") subscriber.complete();
          else round();
        });
    };
    round();
    return () => step?.unsubscribe();
  });

const chunks = <T>(list: readonly T[], size: number): readonly (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, index) => list.slice(index * size, (index + 1) * size));
