/**
 * Pending orders and order history as streams, kept true by sweeps and made quick by pushes.
 *
 * Invariants: the pending list is read to its end before the history is looked at, so that an order moving from one to the
 * other is not missed; an order that is in neither is asked for by id; only a complete answer proves absence, and an order so
 * young that the service may not show it yet is not doubted unless it was cancelled; what a push has answered meanwhile is not asked.
 */
import { catchError, concatMap, defaultIfEmpty, from, last, map, type Observable, of, switchMap } from "rxjs";
import type { CallOptions, Gateway } from "../../client/gateway.ts";
import { hiddenIn, type Outcome, whyNot } from "../../client/outcome.ts";
import { type WalkOptions, walkOrders } from "../../client/paging.ts";
import type { Clock } from "../../clock/clock.ts";
import type { OrderRecord } from "../../contract/schemas.ts";
import type { EventLog } from "../../journal/event-log.ts";
import type { OrderStore } from "./order-store.ts";
import { createResource, failedReading, type Reading, type Resource } from "./polled-resource.ts";

interface OrderListsOptions {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly journal: EventLog;
  readonly store: OrderStore;
  readonly pushes$: Observable<OrderRecord>;
  readonly pendingFreshMs: () => number;
  /** Whether every change of an order is pushed at present. */
  readonly pushing: () => boolean;
  readonly historyFreshMs: number;
}

interface OrderLists {
  readonly pending: Resource<readonly OrderRecord[]>;
  readonly history: Resource<readonly OrderRecord[]>;
}

const call: CallOptions = { class: "read", owner: "engine" };
const lookupsMax = 10;
/** Questions by id that failed before it is told. */
const toldAfter = 3;
/** An accepted order may be missing from a listing for so long (the views of a service lag each other). */
const settleMs = 5_000;

const idsOf = ({ ordId, instId }: OrderRecord) => ({ ordId, instId });

export const createOrderLists = (options: OrderListsOptions): OrderLists => {
  const { clock, gateway, journal, store } = options;
  const seenAt = new Map<string, number>();
  const failures = new Map<string, number>();

  /** Nobody has told us more of the order than `known`: any news since says that it exists, and how it stands. */
  const isUntold = (known: OrderRecord): boolean => store.find(known) === known;

  /** An order whose end cannot be read is told, later and later. */
  const fail = ({ ordId, instId }: OrderRecord, why: string): void => {
    const count = (failures.get(ordId) ?? 0) + 1;
    failures.set(ordId, count);
    if (count < toldAfter || !Number.isInteger(Math.log2(count / toldAfter))) return;
    const detail = `${instId} ${ordId} is in no list, and what became of it cannot be read (${count} times): ${why}`;
    journal.append({ type: "anomaly", what: "order.unresolved", detail });
  };

  /** Asks for each order by id; what the service does not know any more is forgotten, and said so. */
  const lookUp = (missing: readonly OrderRecord[]): Observable<unknown> =>
    from(missing.slice(0, lookupsMax)).pipe(
      concatMap((listed) =>
        gateway.read("getOrder", idsOf(listed), { ...call, class: "resolve", needed: () => isUntold(listed) }).pipe(
          map((outcome) => {
            const { ordId, instId } = listed;
            const why = outcome.kind === "done" ? hiddenIn(outcome, listed) : whyNot(outcome);
            if (why !== undefined) {
              if (outcome.kind !== "dropped") fail(listed, why);
              return;
            }
            if (outcome.kind !== "done") return;
            const record = outcome.records.find((candidate) => candidate.ordId === ordId);
            if (record === undefined && outcome.records.length > 0) fail(listed, "the answer is about another order");
            else failures.delete(ordId);
            if (record !== undefined) store.merge(record);
            else if (outcome.records.length === 0 && isSettled(ordId, clock.now())) {
              store.forget(ordId);
              journal.append({
                type: "anomaly",
                what: "order.vanished",
                detail: `${instId} ${ordId} is in no listing and cannot be found`,
              });
            }
          }),
        ),
      ),
    );

  const sweepHistory = (extent: Pick<WalkOptions, "newestOnly" | "since" | "needed">): Observable<Outcome<OrderRecord>> =>
    walkOrders(gateway, "orderHistory", {}, { ...call, ...extent }).pipe(
      map((outcome) => {
        if (outcome.kind === "done") for (const record of outcome.records) store.merge(record);
        return outcome;
      }),
    );

  const readPending = (needed: () => boolean): Observable<Reading<readonly OrderRecord[]>> => {
    const startedAt = clock.now();
    return walkOrders(gateway, "pendingOrders", {}, { ...call, needed }).pipe(
      switchMap((outcome) => {
        if (outcome.kind === "dropped") return of<Reading<readonly OrderRecord[]>>({ kind: "withdrawn" });
        if (outcome.kind !== "done") return of(failedReading(outcome));
        const listed = new Set(outcome.records.map(({ ordId }) => ordId));
        for (const record of outcome.records) store.merge(record);
        const isHidden = (record: OrderRecord): boolean => hiddenIn(outcome, record) !== undefined;
        const missing = store.active().filter((record) => isMissing(record, listed, startedAt) && !isHidden(record));
        if (missing.length === 0) return of(whole());
        const since = Math.min(...missing.map(({ createdAt }) => Number(createdAt)));
        return sweepHistory({ since, needed: () => missing.some(isUntold) }).pipe(
          switchMap(() => lookUp(missing.filter(isUntold))),
          defaultIfEmpty(undefined),
          last(),
          map(whole),
        );
      }),
      catchError((error: unknown) => of<Reading<readonly OrderRecord[]>>({ kind: "failed", problem: String(error) })),
    );
  };
  const isSettled = (ordId: string, at: number): boolean => (seenAt.get(ordId) ?? at) < at - settleMs;
  const isMissing = ({ ordId }: OrderRecord, listed: ReadonlySet<string>, startedAt: number): boolean =>
    !listed.has(ordId) && (isSettled(ordId, startedAt) || store.isEnding(ordId));
  const whole = (): Reading<readonly OrderRecord[]> => ({ kind: "value", value: store.active() });

  const pending = createResource<readonly OrderRecord[]>({
    clock,
    initial: [],
    freshMs: options.pendingFreshMs,
    kept: options.pushing,
    read: readPending,
  });
  const history = createResource<readonly OrderRecord[]>({
    clock,
    initial: [],
    freshMs: options.historyFreshMs,
    read: () =>
      sweepHistory({ newestOnly: true }).pipe(
        map((outcome) => (outcome.kind === "done" ? { kind: "value", value: store.finished() } : failedReading(outcome))),
      ),
  });
  const drop = (ordId: string): void => {
    seenAt.delete(ordId);
    failures.delete(ordId);
  };
  store.changes$.subscribe(({ record, previous }) => {
    if (previous === undefined) seenAt.set(record.ordId, clock.now());
    const active = record.state === "live" || record.state === "partially_filled";
    if (!active) drop(record.ordId);
    pending.touch(store.active);
    if (!active) history.touch(store.finished);
  });
  store.forgotten$.subscribe(({ ordId }) => {
    drop(ordId);
    pending.touch(store.active);
  });
  options.pushes$.subscribe((record) => {
    store.merge(record);
  });
  return { pending, history };
};
