/**
 * Pending orders and order history as streams. Regular reads keep them correct, and pushes make them quick.
 *
 * Invariants: the pending list is read to its end before the history is looked at, so that an order moving from one to
 * the other is not missed; an order that is in neither is asked for by id; only a complete answer proves absence, and
 * an order so young that the service may not show it yet is not doubted unless it was canceled; a query that a
 * push has answered meanwhile is not sent.
 */
import { catchError, concatMap, defaultIfEmpty, from, last, map, type Observable, of, switchMap, tap } from "rxjs";
import type { CallOptions, Gateway } from "../../client/gateway.ts";
import { failedReading, hiddenIn, type Outcome, type Reading, whyNot } from "../../client/outcome.ts";
import { type WalkOptions, walkOrders } from "../../client/paging.ts";
import type { Clock } from "../../clock/clock.ts";
import { activeIn, type OrderRecord } from "../../contract/schemas.ts";
import type { EventLog } from "../../journal/event-log.ts";
import type { OrderStore } from "./order-store.ts";
import { PolledResource } from "./polled-resource.ts";
import type { ShareRead } from "./read-sharing.ts";

interface OrderListsOptions {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly journal: EventLog;
  readonly store: OrderStore;
  readonly pushes$: Observable<OrderRecord>;
  readonly pendingFreshMs: () => number;
  /** Returns whether every change of an order is pushed now. */
  readonly pushing: () => boolean;
  readonly historyFreshMs: number;
  readonly share: ShareRead;
}

const call: CallOptions = { class: "read", owner: "engine" };
const lookupsMax = 10;
/** Number of failed queries by id before the failure is reported. */
const toldAfter = 3;
/** Time for which an accepted order may be missing from a listing, because the views of a service lag each other. */
const settleMs = 5_000;

export class OrderLists {
  readonly pending: PolledResource<readonly OrderRecord[]>;
  readonly history: PolledResource<readonly OrderRecord[]>;
  readonly #options: OrderListsOptions;
  readonly #seenAt = new Map<string, number>();
  readonly #failures = new Map<string, number>();
  readonly #active = (): readonly OrderRecord[] => this.#options.store.active();
  readonly #finished = (): readonly OrderRecord[] => this.#options.store.finished();

  constructor(options: OrderListsOptions) {
    const { clock, store, pushes$, pendingFreshMs, pushing, historyFreshMs } = options;
    this.#options = options;
    this.pending = new PolledResource<readonly OrderRecord[]>({
      clock,
      initial: [],
      freshMs: pendingFreshMs,
      kept: pushing,
      read: (needed, maxAgeMs) => this.#readPending(needed, maxAgeMs),
    });
    this.history = new PolledResource<readonly OrderRecord[]>({
      clock,
      initial: [],
      freshMs: historyFreshMs,
      read: (_, maxAgeMs) => this.#readHistory(maxAgeMs),
    });
    store.onChange(this.#take);
    store.onForgotten(({ ordId }) => {
      this.#drop(ordId);
      this.pending.touch(this.#active);
    });
    pushes$.subscribe((record) => {
      store.merge(record);
    });
  }

  readonly #take = ({ ordId, state }: OrderRecord, previous: OrderRecord | undefined): void => {
    const now = this.#options.clock.now();
    const over = !activeIn[state];
    if (over) {
      this.#seenAt.delete(ordId);
      if (this.#failures.size > 0) this.#failures.delete(ordId);
    } else if (previous === undefined) this.#seenAt.set(ordId, now);
    this.pending.touch(this.#active, now);
    if (over) this.history.touch(this.#finished, now);
  };

  #drop(ordId: string): void {
    this.#seenAt.delete(ordId);
    this.#failures.delete(ordId);
  }

  #readPending(needed: () => boolean, maxAgeMs: number): Observable<Reading<readonly OrderRecord[]>> {
    const askedAt = this.#options.clock.now();
    const walk = () => walkOrders(this.#options.gateway, "pendingOrders", {}, { ...call, needed });
    return this.#options.share("pendingOrders", maxAgeMs, walk).pipe(
      switchMap(({ outcome, ageMs }) => {
        // An answer that another engine received is no evidence about orders sent since.
        const startedAt = ageMs > 0 ? this.#options.clock.now() - ageMs : askedAt;
        if (outcome.kind === "dropped") return of<Reading<readonly OrderRecord[]>>({ kind: "withdrawn" });
        if (outcome.kind !== "done") return of(failedReading(outcome));
        const listed = new Set(outcome.records.map(({ ordId }) => ordId));
        for (const record of outcome.records) this.#options.store.merge(record);
        const isHidden = (record: OrderRecord): boolean => hiddenIn(outcome, record) !== undefined;
        const missing = this.#options.store
          .active()
          .filter((record) => this.#isMissing(record, listed, startedAt) && !isHidden(record));
        return missing.length === 0 ? of(this.#whole(ageMs)) : this.#findMissing(missing);
      }),
      catchError((error: unknown) => of<Reading<readonly OrderRecord[]>>({ kind: "failed", problem: String(error) })),
    );
  }

  /** Reads the history first, then queries each order by id. A query that a push has answered meanwhile is not sent. */
  #findMissing(missing: readonly OrderRecord[]): Observable<Reading<readonly OrderRecord[]>> {
    // True if no news of the order has come since. Any news proves that it exists, and shows its state.
    const isUntold = (known: OrderRecord): boolean => this.#options.store.find(known) === known;
    const since = Math.min(...missing.map(({ createdAt }) => Number(createdAt)));
    return this.#sweepHistory({ since, needed: () => missing.some(isUntold) }).pipe(
      switchMap(() =>
        from(missing.filter(isUntold).slice(0, lookupsMax)).pipe(
          concatMap((listed) => this.#lookUp(listed, () => isUntold(listed))),
        ),
      ),
      defaultIfEmpty(undefined),
      last(),
      map(() => this.#whole()),
    );
  }

  /** Queries an order by id. An order that the service does not know any more is forgotten and reported. */
  #lookUp(listed: OrderRecord, needed: () => boolean): Observable<void> {
    const { ordId, instId } = listed;
    return this.#options.gateway.read("getOrder", { ordId, instId }, { ...call, class: "resolve", needed }).pipe(
      map((outcome) => {
        const why = outcome.kind === "done" ? hiddenIn(outcome, listed) : whyNot(outcome);
        if (why !== undefined) {
          if (outcome.kind !== "dropped") this.#fail(listed, why);
          return;
        }
        if (outcome.kind !== "done") return;
        const record = outcome.records.find((candidate) => candidate.ordId === ordId);
        if (record === undefined && outcome.records.length > 0) this.#fail(listed, "the answer is about another order");
        else this.#failures.delete(ordId);
        if (record !== undefined) this.#options.store.merge(record);
        else if (outcome.records.length === 0 && this.#isSettled(ordId, this.#options.clock.now())) {
          this.#options.store.forget(ordId);
          const detail = `${instId} ${ordId} is in no listing and cannot be found`;
          this.#options.journal.append({ type: "anomaly", what: "order.vanished", detail });
        }
      }),
    );
  }

  #readHistory(maxAgeMs: number): Observable<Reading<readonly OrderRecord[]>> {
    const walk = () => walkOrders(this.#options.gateway, "orderHistory", {}, { ...call, newestOnly: true });
    return this.#options.share("orderHistory", maxAgeMs, walk).pipe(
      map(({ outcome, ageMs }) => {
        this.#merge(outcome);
        return outcome.kind === "done"
          ? { kind: "value", value: this.#options.store.finished(), ageMs }
          : failedReading(outcome);
      }),
    );
  }

  #sweepHistory(extent: Pick<WalkOptions, "since" | "needed">): Observable<Outcome<OrderRecord>> {
    return walkOrders(this.#options.gateway, "orderHistory", {}, { ...call, ...extent }).pipe(
      tap((outcome) => {
        this.#merge(outcome);
      }),
    );
  }

  #merge(outcome: Outcome<OrderRecord>): void {
    if (outcome.kind === "done") for (const record of outcome.records) this.#options.store.merge(record);
  }

  #isMissing({ ordId }: OrderRecord, listed: ReadonlySet<string>, startedAt: number): boolean {
    return !listed.has(ordId) && (this.#isSettled(ordId, startedAt) || this.#options.store.isEnding(ordId));
  }

  #isSettled(ordId: string, at: number): boolean {
    return (this.#seenAt.get(ordId) ?? at) < at - settleMs;
  }

  #whole(ageMs = 0): Reading<readonly OrderRecord[]> {
    return { kind: "value", value: this.#options.store.active(), ageMs };
  }

  /** Reports an order whose end cannot be read, and tries again after longer and longer pauses. */
  #fail({ ordId, instId }: OrderRecord, why: string): void {
    const count = (this.#failures.get(ordId) ?? 0) + 1;
    this.#failures.set(ordId, count);
    if (count < toldAfter || !Number.isInteger(Math.log2(count / toldAfter))) return;
    const detail = `${instId} ${ordId} is in no list, and what became of it cannot be read (${count} times): ${why}`;
    this.#options.journal.append({ type: "anomaly", what: "order.unresolved", detail });
  }
}
