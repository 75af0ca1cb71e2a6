/**
 * Search for orders whose placement or record is in doubt: the service is queried until their state is proved.
 *
 * Invariants: a placement is never repeated to find out; at most one search for an order, which ends with evidence of
 * any source, and whose remaining queries are not sent; only a complete, successful, negative answer counts against an
 * order, and several of them, apart in time and confirmed by two full sweeps, prove it absent, or five sweeps where a
 * service does not report absence of one order; they count half a minute after the placement was sent or, where the
 * service had accepted the order, ten seconds after the search began; errors do not count; the first questions about
 * an urgent order, and those that may prove it absent, use the reserve for exits; a sweep serves all orders in doubt,
 * and the number of questions by id under way is bounded; a long search is reported with the reason.
 * Not here: what follows from evidence (reconciliation.ts).
 */
import { finalize, map, type Observable, type Subscription } from "rxjs";
import { hiddenIn, type Outcome, whyNot } from "../client/outcome.ts";
import { walkOrders } from "../client/paging.ts";
import { DelayQueue, every } from "../clock/clock.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { type Effects, noEffects, publish, type Run, record as recordEvent } from "./effects.ts";
import type { OrderManagerOptions } from "./order-manager-options.ts";
import { advance, isClosed, type Order } from "./order-state.ts";

/** `void` proves nothing. `isOwn` means that the order's own record came but was unreadable. */
type Answer =
  | { readonly kind: "found"; readonly record: OrderRecord }
  | { readonly kind: "none" }
  | { readonly kind: "void"; readonly why: string; readonly isOwn?: true };

const call = { class: "resolve", owner: "engine" } as const;
const urgentCall = { class: "close", owner: "engine" } as const;
/** If the record of an accepted order or cancel does not arrive within this time, the order is queried. */
const recordMs = 1_500;
/**
 * Number of orders that are being canceled and are queried at once with the rank of exits. A query weighs 5, and the
 * cancel that it may save weighs 15.
 */
const exitLooksMax = 2;
/**
 * Number of queries about one urgent order that may use the reserve for exits. Their weight is 15, less than one cancel
 * and one placement.
 */
const urgentLooksMax = 3;
/**
 * Number of urgent queries whose negative answer counts, and of urgent sweeps. Each is one more than a proof takes. No
 * stop is placed again before the proof.
 */
const urgentProofsMax = 4;
const urgentSweepsMax = 3;
/**
 * No negative answer counts earlier, because the call may still be on its way. Does not apply if the service accepted
 * the order.
 */
const settleMs = 30_000;
const everyMs = 5_000;
/** Evidence of absence where no answer about one order reports it. */
const byLists = { negatives: 0, sweeps: 5 } as const;
/**
 * Pause between the two sweeps, and before the first answer that counts. It is longer than the views of a service lag
 * each other.
 */
const lagMs = 10_000;
/**
 * Error bound of the service's calendar, or of ours if the service's is not known. The history is read that much
 * further back.
 */
const calendarMs = 120_000;
const unknownCalendarMs = 900_000;
const unitsPerMs = { ms: 1, s: 0.001, us: 1_000 } as const;
/** Number of orders up to which a question by id costs less than a sweep. */
const fewMax = 2;
/** Number of simultaneous queries by id. It is bounded because placements of other slots need the same windows. */
const looksMax = 4;
/** Number of failures in a row after which queries by id are no longer relied upon. */
const voidsMax = 3;
/** A proof takes less time than this if the service answers and there is quota. */
const stuckMs = 90_000;

interface Search {
  readonly order: Order;
  readonly startedAt: number;
  /** True if a stop or the size of an exit depends on the order. */
  readonly isUrgent: boolean;
  /** True if the service gave the order an id, so that its placement has certainly arrived. */
  readonly isAccepted: boolean;
  ticks: Subscription | undefined;
  isOver: boolean;
  negatives: number;
  sweeps: number;
  sweptAt: number;
  /** Counts of urgent queries by id, of urgent queries whose negative answer counts, and of urgent sweeps. */
  looks: number;
  urgentProofs: number;
  urgentSweeps: number;
  /** True while a query waits or is under way. */
  isLooking: boolean;
  lookedAt: number;
  voids: number;
  why: string;
  reportAfterMs: number;
}

type SearchOptions = Pick<OrderManagerOptions, "clock" | "gateway" | "contract" | "serviceNow" | "store" | "onDoubt">;

export class OrderSearch {
  readonly #options: SearchOptions;
  readonly #reconcile: (order: Order) => Effects;
  readonly #run: Run;
  /**
   * An earlier process may have sent until just before this instant. Only a calendar shows when it sent, and calendars
   * step.
   */
  readonly #bornAt: number;
  readonly #searches = new Map<Order, Search>();
  readonly #waiting: Search[] = [];
  /** Accepted orders whose record has not come. */
  readonly #expected: DelayQueue<Order>;
  /** Evidence that proves an order absent. */
  readonly #needed: { readonly negatives: number; readonly sweeps: number };
  #exitLooks = 0;
  #looks = 0;
  #isSweeping = false;
  #sweptAt = Number.NEGATIVE_INFINITY;

  /** `reconcile` applies what the store knows of an order. */
  constructor(options: SearchOptions, reconcile: (order: Order) => Effects, run: Run) {
    const { clock, contract } = options;
    this.#options = options;
    this.#reconcile = reconcile;
    this.#run = run;
    this.#bornAt = clock.now();
    this.#needed = contract.profile.answers.notFound === "untold" ? byLists : { negatives: 3, sweeps: 2 };
    const due = (order: Order): void => this.#lookFor(order);
    this.#expected = new DelayQueue(clock, { delayMs: recordMs, isSettled: isClosed, due });
  }

  /**
   * Called when the service accepted the order or its cancel. Queries the order if the record that must follow does not
   * arrive.
   */
  expect(order: Order): void {
    this.#foretell(order);
    this.#expected.add(order);
  }

  /** Queries the order once, and starts a search if it was not found. */
  look(order: Order): void {
    if (this.#searches.has(order)) return;
    const isUnseen = order.record === undefined;
    // If a record was already known, only the end of the order is news.
    const needed = (): boolean => !isClosed(order) && (!isUnseen || order.record === undefined);
    const isExit = isLeaving(order) && this.#exitLooks < exitLooksMax;
    if (isExit) this.#exitLooks++;
    const ended = (): void => {
      if (isExit) this.#exitLooks--;
    };
    this.#ask(order, isExit || isUrgent(order), needed)
      .pipe(finalize(ended))
      .subscribe((answer) => {
        if (isClosed(order)) return;
        if (answer.kind === "found") this.#find(order, answer.record);
        else if (needed()) this.search(order);
      });
  }

  /** Queries the order until there is evidence. */
  search(order: Order): void {
    if (isClosed(order) || this.#searches.has(order)) return;
    const { clock } = this.#options;
    const search: Search = {
      order,
      startedAt: clock.now(),
      isUrgent: isUrgent(order),
      isAccepted: order.ordId !== "",
      ticks: undefined,
      isOver: false,
      negatives: 0,
      sweeps: 0,
      sweptAt: Number.NEGATIVE_INFINITY,
      looks: 0,
      urgentProofs: 0,
      urgentSweeps: 0,
      isLooking: false,
      lookedAt: Number.NEGATIVE_INFINITY,
      voids: 0,
      why: "the service has not answered yet",
      reportAfterMs: stuckMs,
    };
    this.#searches.set(order, search);
    search.ticks = every(clock, everyMs).subscribe(() => this.#step(search));
    this.#step(search);
  }

  /** Called when evidence came from another source. */
  settle(order: Order): void {
    const search = this.#searches.get(order);
    if (search === undefined) return;
    search.isOver = true;
    search.ticks?.unsubscribe();
    this.#searches.delete(order);
  }

  #find(order: Order, record: OrderRecord): void {
    this.settle(order);
    this.#options.store.merge(record);
    this.#run(this.#reconcile(order));
  }

  #lookFor(order: Order): void {
    if (order.record === undefined) this.look(order);
    else if (this.#foretell(order)) this.#options.onDoubt(() => isCanceling(order));
  }

  /**
   * Registers a canceled order with the lists: if no list of open orders contains it, it is gone, even if it is young.
   */
  #foretell(order: Order): boolean {
    if (!isCanceling(order)) return false;
    if (order.record !== undefined) this.#options.store.ending(order.record.ordId);
    return true;
  }

  /**
   * Queries an order by its client id. The query is not sent if it is no longer needed. If given both ids, the service
   * would use its own, which may be outdated.
   */
  #ask({ clOrdId, spec: { instId } }: Order, isUrgentCall: boolean, needed: () => boolean): Observable<Answer> {
    const options = { ...(isUrgentCall ? urgentCall : call), needed };
    return this.#options.gateway.read("getOrder", { clOrdId, instId }, options).pipe(
      map((outcome): Answer => {
        const answer = answerIn("getOrder", outcome, clOrdId);
        const isOther = outcome.kind === "done" && outcome.records.length + outcome.problems.length > 0;
        if (answer.kind !== "none" || !isOther) return answer;
        return { kind: "void", why: "getOrder: the answer is about another order" };
      }),
    );
  }

  #step(search: Search): void {
    const now = this.#options.clock.now();
    if (now - search.startedAt >= search.reportAfterMs) this.#report(search, search.why);
    const isSettled = this.#isSettled(search);
    const isCrowded = this.#searches.size > fewMax;
    const asksAlone = !isCrowded || (search.isUrgent && search.looks < urgentLooksMax);
    const { negatives, sweeps } = this.#needed;
    if (isSettled ? search.negatives < negatives : asksAlone) this.#queueLook(search);
    const isDue = search.sweeps < sweeps && now - search.sweptAt >= lagMs;
    if (isSettled ? isDue : isCrowded || search.voids >= voidsMax) this.#sweep();
  }

  #queueLook(search: Search): void {
    if (search.isLooking || this.#options.clock.now() - search.lookedAt < everyMs / 2) return;
    search.isLooking = true;
    this.#waiting.push(search);
    this.#drain();
  }

  #drain(): void {
    while (this.#looks < looksMax) {
      const search = this.#waiting.shift();
      if (search === undefined) return;
      if (search.isOver) continue;
      const counts = this.#isSettled(search);
      this.#looks++;
      const end = (): void => {
        this.#looks--;
        search.isLooking = false;
        this.#drain();
      };
      this.#ask(search.order, isUrgentLook(search, counts), () => !search.isOver)
        .pipe(finalize(end))
        .subscribe((answer) => {
          if (!search.isOver) this.#takeLook(search, counts, answer);
        });
    }
  }

  #takeLook(search: Search, counts: boolean, answer: Answer): void {
    search.lookedAt = this.#options.clock.now();
    search.voids = answer.kind === "void" ? search.voids + 1 : 0;
    if (!this.#learn(search, answer) && counts) search.negatives++;
    this.#conclude(search);
  }

  /**
   * Reads the pending orders to their end, then the history. An order that moves from one to the other is seen in one
   * of them.
   */
  #sweep(): void {
    const { clock, gateway } = this.#options;
    const startedAt = clock.now();
    if (this.#isSweeping || startedAt - this.#sweptAt < everyMs / 2) return;
    this.#isSweeping = true;
    this.#sweptAt = startedAt;
    const counting = [...this.#searches.values()].filter(
      (one) => this.#isSettled(one) && startedAt - one.sweptAt >= lagMs,
    );
    const sweep = counting.filter(isUrgentSweep).length > 0 ? urgentCall : call;
    const needed = (): boolean => this.#searches.size > 0;
    const end = (): void => {
      this.#isSweeping = false;
    };
    walkOrders(gateway, "pendingOrders", {}, { ...sweep, needed }).subscribe({
      next: (pending) => {
        const without = this.#readListing("pendingOrders", pending);
        if (!needed()) {
          end();
          return;
        }
        const since = Math.min(...[...this.#searches.keys()].map(({ sentAt }) => this.#inService(sentAt)));
        walkOrders(gateway, "orderHistory", {}, { ...sweep, needed, since })
          .pipe(finalize(end))
          .subscribe((history) => {
            const absent = this.#readListing("orderHistory", history);
            for (const search of counting) {
              if (!without.has(search) || !absent.has(search)) continue;
              search.sweeps++;
              search.sweptAt = startedAt;
              this.#conclude(search);
            }
          });
      },
      error: end,
    });
  }

  /** Returns the searched orders that the listing certainly lacks. Orders in the listing count as found. */
  #readListing(endpoint: string, outcome: Outcome<OrderRecord>): ReadonlySet<Search> {
    const all = [...this.#searches.values()];
    return new Set(all.filter((search) => !this.#learn(search, answerIn(endpoint, outcome, search.order.clOrdId))));
  }

  /** Returns false for an answer without the order. */
  #learn(search: Search, answer: Answer): boolean {
    if (answer.kind === "none") return false;
    if (answer.kind === "found") {
      if (!search.isOver) this.#find(search.order, answer.record);
      return true;
    }
    const isNews = answer.isOwn === true && search.why !== answer.why;
    search.why = answer.why;
    if (isNews) this.#report(search, answer.why);
    return true;
  }

  #isSettled({ order, isAccepted, startedAt }: Search): boolean {
    const now = this.#options.clock.now();
    if (isAccepted && now - startedAt >= lagMs) return true;
    return now - Math.max(order.sentAt, this.#bornAt) >= settleMs;
  }

  /** Converts an instant of ours to the earliest possible time on the calendar of the service's records. */
  #inService(at: number): number {
    const { clock, serviceNow, contract } = this.#options;
    const told = serviceNow?.();
    const calendarAt = told === undefined ? clock.wallNow() - unknownCalendarMs : told - calendarMs;
    return (calendarAt - (clock.now() - at) - settleMs) * unitsPerMs[contract.profile.order.timeUnit];
  }

  #conclude(search: Search): void {
    const { negatives, sweeps } = this.#needed;
    if (search.isOver || search.negatives < negatives || search.sweeps < sweeps) return;
    const { order } = search;
    this.settle(order);
    if (order.ordId !== "") this.#options.store.forget(order.ordId);
    if (advance(order, { type: "provedAbsent" })) this.#run([publish(order)]);
  }

  #report(search: Search, why: string): void {
    const ms = this.#options.clock.now() - search.startedAt;
    search.reportAfterMs = Math.max(2 * ms, stuckMs);
    const { clOrdId, spec } = search.order;
    const seconds = Math.round(ms / 1_000);
    const detail = `${clOrdId} (${spec.instId}) has been in doubt for ${seconds} s and keeps its slot: ${why}`;
    this.#run([recordEvent({ type: "anomaly", what: "order.unresolved", detail })]);
  }
}

const isCanceling = ({ phase }: Order): boolean => phase === "canceling";

/** Returns true if the coverage of a stop or the size of an exit depends on the order. */
const isUrgent = ({ wanted, spec }: Order): boolean =>
  wanted?.protect !== undefined || wanted?.reduceOnly === true || spec.reduceOnly;

/** Returns true if the cancel of the order uses the reserve for exits. */
const isLeaving = ({ unwanted }: Order): boolean => unwanted?.urgency === "cancel" || unwanted?.urgency === "emergency";

/** Returns true if the next question about an order uses the reserve for exits; counts it. */
const isUrgentLook = (search: Search, counts: boolean): boolean => {
  if (!search.isUrgent) return false;
  return counts ? search.urgentProofs++ < urgentProofsMax : search.looks++ < urgentLooksMax;
};

/** Returns true if the next sweep uses the reserve for exits because of an order; counts it. */
const isUrgentSweep = (search: Search): boolean => search.isUrgent && search.urgentSweeps++ < urgentSweepsMax;

/** A record that cannot be read may belong to any order, unless it has a readable id. */
const answerIn = (endpoint: string, outcome: Outcome<OrderRecord>, clOrdId: string): Answer => {
  if (outcome.kind !== "done") return { kind: "void", why: `${endpoint}: ${whyNot(outcome)}` };
  const record = outcome.records.find((candidate) => candidate.clOrdId === clOrdId);
  if (record !== undefined) return { kind: "found", record };
  const problem = hiddenIn(outcome, { clOrdId });
  if (problem === undefined) return { kind: "none" };
  const isOwn = outcome.unread?.some((ids) => ids.clOrdId === clOrdId) === true;
  return { kind: "void", why: `${endpoint}: ${problem}`, ...(isOwn && { isOwn: true }) };
};

/**
 * Marks an order whose placement was not answered, or not readably. `verdict` is a refusal by the service that alone
 * proves nothing. A record outranks an answer: an order that was seen needs no search.
 */
export const doubt = (order: Order, reason: string, verdict = ""): Effects =>
  advance(order, { type: "doubted", reason, verdict })
    ? [publish(order), { kind: "query", order, how: "search" }]
    : noEffects;
