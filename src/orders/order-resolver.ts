/**
 * Order resolver: finds out what became of orders whose placement or record is in doubt.
 *
 * Invariants: a placement is never repeated to find out; only a complete, successful, negative answer counts against an
 * order, and several of them, apart in time and backed by two full sweeps, are needed to call it absent, or five sweeps
 * where a service tells of one order at a time nothing; they count half a minute after the placement was sent, or,
 * where the service had accepted the order, ten seconds after the search began; errors count for nothing; what waits to
 * be asked is not asked once there is evidence; the first questions about an urgent order, and those that may prove it
 * absent, go with exits, out of their reserve and before the end of a long pause; a sweep serves all orders in doubt
 * and only so many questions by id are under way at once, so that many orders in doubt leave the others their quota;
 * what goes on for long is told, with the reason.
 */
import { finalize, map, type Observable } from "rxjs";
import type { Gateway } from "../client/gateway.ts";
import { hiddenIn, type Outcome, whyNot } from "../client/outcome.ts";
import { walkOrders } from "../client/paging.ts";
import { type Clock, every } from "../clock/clock.ts";
import type { Profile } from "../contract/profile.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";

interface ResolveOptions {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly profile: Profile;
  /** The calendar of the service as its answers tell it, at the earliest; undefined while they have not. */
  readonly serviceNow?: (() => number | undefined) | undefined;
  /** Receives what is said of orders that stay in doubt for long, or whose own record cannot be read. */
  readonly journal: Pick<EventLog, "append">;
}

type Evidence = { readonly kind: "found"; readonly record: OrderRecord } | { readonly kind: "absent" };

interface Doubtful {
  readonly clOrdId: string;
  readonly instId: string;
  /** On the engine's clock. */
  readonly sentAt: number;
  /** A stop, or the size of an exit, waits for what became of it. */
  readonly isUrgent: boolean;
  /** The service gave it an id: its placement has arrived. */
  readonly isAccepted: boolean;
}

/** `void` proves nothing; `isOwn` where the order's own record came and could not be read. */
type Answer =
  | { readonly kind: "found"; readonly record: OrderRecord }
  | { readonly kind: "none" }
  | { readonly kind: "void"; readonly why: string; readonly isOwn?: true };

const call = { class: "resolve", owner: "engine" } as const;
const urgentCall = { class: "close", owner: "engine" } as const;
/**
 * Questions about one urgent order that may use the reserve for exits: 15 of its weight, less than one cancel and a
 * placement.
 */
const urgentLooksMax = 3;
/**
 * Questions whose negative answer counts, and sweeps: one more of each than a proof takes. Until the proof no stop is
 * placed again.
 */
const urgentProofsMax = 4;
const urgentSweepsMax = 3;
/**
 * No negative answer counts before this long after the call was sent: it may still be on its way, unless the service
 * has accepted it.
 */
const settleMs = 30_000;
const everyMs = 5_000;
/** Where no answer about one order tells of absence, the lists alone have to. */
const byLists = { negatives: 0, sweeps: 5 } as const;
/** Between the two sweeps, and before the first answer that counts: longer than a service's views lag each other. */
const lagMs = 10_000;
/**
 * How far the service's calendar may be from what is known of it, and from ours where nothing is: its history is read
 * so much further back.
 */
const calendarMs = 120_000;
const unknownCalendarMs = 900_000;
const unitsPerMs = { ms: 1, s: 0.001, us: 1_000 } as const;
/** Up to so many orders a question by id costs less than a sweep. */
const fewMax = 2;
/** Questions by id under way at once: placements of other slots need the same windows. */
const looksMax = 4;
/** A question by id that failed so often in a row is not relied upon to find the order. */
const voidsMax = 3;
/** A proof takes less than this where the service answers and there is quota. */
const stuckMs = 90_000;

interface Pursuit {
  readonly order: Doubtful;
  readonly startedAt: number;
  readonly finish: (evidence: Evidence) => void;
  over: boolean;
  negatives: number;
  sweeps: number;
  sweptAt: number;
  /** Questions by id so far. */
  looks: number;
  /** Of an urgent order: questions whose negative answer counts, and sweeps, that went with exits. */
  urgentProofs: number;
  urgentSweeps: number;
  /** One of them waits or is under way; when the last one was answered. */
  looking: boolean;
  lookedAt: number;
  voids: number;
  why: string;
  toldUntil: number;
}

export class OrderResolver {
  readonly #clock: Clock;
  readonly #gateway: Gateway;
  readonly #profile: Profile;
  readonly #journal: Pick<EventLog, "append">;
  readonly #serviceNow: (() => number | undefined) | undefined;
  /**
   * An earlier process may have sent until just before; how long ago that was only a calendar knows, and calendars
   * step.
   */
  readonly #bornAt: number;
  readonly #pursuits = new Set<Pursuit>();
  readonly #waiting: Pursuit[] = [];
  /** What it takes to call an order absent. */
  readonly #needed: { readonly negatives: number; readonly sweeps: number };
  #looks = 0;
  #sweeping = false;
  #sweptAt = Number.NEGATIVE_INFINITY;

  constructor({ clock, gateway, profile, journal, serviceNow }: ResolveOptions) {
    this.#clock = clock;
    this.#gateway = gateway;
    this.#profile = profile;
    this.#journal = journal;
    this.#serviceNow = serviceNow;
    this.#bornAt = clock.now();
    this.#needed = profile.answers.notFound === "untold" ? byLists : { negatives: 3, sweeps: 2 };
  }

  /**
   * One look by client id. It is not sent, and proves nothing, when it is not needed any more by the time its slot
   * opens.
   */
  look(
    { clOrdId, instId, isUrgent }: Pick<Doubtful, "clOrdId" | "instId" | "isUrgent">,
    needed: () => boolean,
  ): Observable<Answer> {
    // Only the client id is sent: with both ids the service would go by its own, which may be stale.
    return this.#gateway.read("getOrder", { clOrdId, instId }, { ...(isUrgent ? urgentCall : call), needed }).pipe(
      map((outcome): Answer => {
        const answer = answerIn("getOrder", outcome, clOrdId);
        const isOther =
          answer.kind === "none" && outcome.kind === "done" && outcome.records.length + outcome.problems.length > 0;
        return isOther ? { kind: "void", why: "getOrder: the answer is about another order" } : answer;
      }),
    );
  }

  /** Looks until there is evidence; calls back once. The returned function gives up. */
  pursue(order: Doubtful, done: (evidence: Evidence) => void): () => void {
    const end = (): void => {
      pursuit.over = true;
      this.#pursuits.delete(pursuit);
      ticks.unsubscribe();
    };
    const pursuit: Pursuit = {
      order,
      startedAt: this.#clock.now(),
      finish: (evidence) => {
        if (pursuit.over) return;
        end();
        done(evidence);
      },
      over: false,
      negatives: 0,
      sweeps: 0,
      sweptAt: Number.NEGATIVE_INFINITY,
      looks: 0,
      urgentProofs: 0,
      urgentSweeps: 0,
      looking: false,
      lookedAt: Number.NEGATIVE_INFINITY,
      voids: 0,
      why: "the service has not answered yet",
      toldUntil: stuckMs,
    };
    this.#pursuits.add(pursuit);
    const ticks = every(this.#clock, everyMs).subscribe(() => {
      this.#ask(pursuit);
    });
    this.#ask(pursuit);
    return end;
  }

  #ask(pursuit: Pursuit): void {
    const now = this.#clock.now();
    const ms = now - pursuit.startedAt;
    if (ms >= pursuit.toldUntil) this.#stuck(pursuit, pursuit.why);
    const settled = this.#isSettled(pursuit);
    const crowded = this.#pursuits.size > fewMax;
    const asksAlone = !crowded || (pursuit.order.isUrgent && pursuit.looks < urgentLooksMax);
    const { negatives, sweeps } = this.#needed;
    if (settled ? pursuit.negatives < negatives : asksAlone) this.#queueLook(pursuit);
    const due = pursuit.sweeps < sweeps && now - pursuit.sweptAt >= lagMs;
    if (settled ? due : crowded || pursuit.voids >= voidsMax) this.#sweep();
  }

  #queueLook(pursuit: Pursuit): void {
    if (pursuit.looking || this.#clock.now() - pursuit.lookedAt < everyMs / 2) return;
    pursuit.looking = true;
    this.#waiting.push(pursuit);
    this.#drain();
  }

  #drain(): void {
    while (this.#looks < looksMax) {
      const pursuit = this.#waiting.shift();
      if (pursuit === undefined) return;
      if (pursuit.over) continue;
      const counts = this.#isSettled(pursuit);
      this.#looks++;
      const end = (): void => {
        this.#looks--;
        pursuit.looking = false;
        this.#drain();
      };
      this.look({ ...pursuit.order, isUrgent: isUrgentLook(pursuit, counts) }, () => !pursuit.over)
        .pipe(finalize(end))
        .subscribe((answer) => {
          if (!pursuit.over) this.#takeLook(pursuit, counts, answer);
        });
    }
  }

  #takeLook(pursuit: Pursuit, counts: boolean, answer: Answer): void {
    pursuit.lookedAt = this.#clock.now();
    pursuit.voids = answer.kind === "void" ? pursuit.voids + 1 : 0;
    if (answer.kind === "found") pursuit.finish(answer);
    else if (answer.kind === "void") this.#fail(pursuit, answer);
    else if (counts) pursuit.negatives++;
    this.#conclude(pursuit);
  }

  /** Pending to its end, then history: an order moving from one to the other is seen in one of them. */
  #sweep(): void {
    const startedAt = this.#clock.now();
    if (this.#sweeping || startedAt - this.#sweptAt < everyMs / 2) return;
    this.#sweeping = true;
    this.#sweptAt = startedAt;
    const counting = [...this.#pursuits].filter((one) => this.#isSettled(one) && startedAt - one.sweptAt >= lagMs);
    const sweep = counting.filter(isUrgentSweep).length > 0 ? urgentCall : call;
    const needed = (): boolean => this.#pursuits.size > 0;
    const end = (): void => {
      this.#sweeping = false;
    };
    walkOrders(this.#gateway, "pendingOrders", {}, { ...sweep, needed }).subscribe({
      next: (pending) => {
        const without = this.#readListing("pendingOrders", pending);
        if (this.#pursuits.size === 0) {
          end();
          return;
        }
        const since = Math.min(...[...this.#pursuits].map(({ order }) => this.#inService(order.sentAt)));
        walkOrders(this.#gateway, "orderHistory", {}, { ...sweep, needed, since })
          .pipe(finalize(end))
          .subscribe((history) => {
            const absent = this.#readListing("orderHistory", history);
            for (const pursuit of counting) {
              if (!without.has(pursuit) || !absent.has(pursuit)) continue;
              pursuit.sweeps++;
              pursuit.sweptAt = startedAt;
              this.#conclude(pursuit);
            }
          });
      },
      error: end,
    });
  }

  /** The orders in doubt that a listing surely does not have; those it has are found. */
  #readListing(endpoint: string, outcome: Outcome<OrderRecord>): ReadonlySet<Pursuit> {
    const none = new Set<Pursuit>();
    for (const pursuit of [...this.#pursuits]) {
      const answer = answerIn(endpoint, outcome, pursuit.order.clOrdId);
      if (answer.kind === "found") pursuit.finish(answer);
      else if (answer.kind === "void") this.#fail(pursuit, answer);
      else none.add(pursuit);
    }
    return none;
  }

  #isSettled({ order, startedAt }: Pursuit): boolean {
    const now = this.#clock.now();
    if (order.isAccepted && now - startedAt >= lagMs) return true;
    return now - Math.max(order.sentAt, this.#bornAt) >= settleMs;
  }

  /** An instant of ours in the words of the service's records, at the earliest. */
  #inService(at: number): number {
    const told = this.#serviceNow?.();
    const calendarAt = told === undefined ? this.#clock.wallNow() - unknownCalendarMs : told - calendarMs;
    return (calendarAt - (this.#clock.now() - at) - settleMs) * unitsPerMs[this.#profile.order.timeUnit];
  }

  #conclude(pursuit: Pursuit): void {
    const { negatives, sweeps } = this.#needed;
    if (!pursuit.over && pursuit.negatives >= negatives && pursuit.sweeps >= sweeps) pursuit.finish({ kind: "absent" });
  }

  #fail(pursuit: Pursuit, { why, isOwn }: Extract<Answer, { kind: "void" }>): void {
    const isNews = isOwn === true && pursuit.why !== why;
    pursuit.why = why;
    if (isNews) this.#stuck(pursuit, why);
  }

  #stuck(pursuit: Pursuit, why: string): void {
    const ms = this.#clock.now() - pursuit.startedAt;
    pursuit.toldUntil = Math.max(2 * ms, stuckMs);
    const { clOrdId, instId } = pursuit.order;
    const detail = `${clOrdId} (${instId}) has been in doubt for ${Math.round(ms / 1_000)} s and keeps its slot: ${why}`;
    this.#journal.append({ type: "anomaly", what: "order.unresolved", detail });
  }
}

/** True if the next question about an order goes with exits; counts it. */
const isUrgentLook = (pursuit: Pursuit, counts: boolean): boolean => {
  if (!pursuit.order.isUrgent) return false;
  return counts ? pursuit.urgentProofs++ < urgentProofsMax : pursuit.looks++ < urgentLooksMax;
};

/** True if the next sweep goes with exits because of an order; counts it. */
const isUrgentSweep = (pursuit: Pursuit): boolean => pursuit.order.isUrgent && pursuit.urgentSweeps++ < urgentSweepsMax;

/** A record that cannot be read stands for itself, or for any order where it does not say whose it is. */
const answerIn = (endpoint: string, outcome: Outcome<OrderRecord>, clOrdId: string): Answer => {
  if (outcome.kind !== "done") return { kind: "void", why: `${endpoint}: ${whyNot(outcome)}` };
  const record = outcome.records.find((candidate) => candidate.clOrdId === clOrdId);
  if (record !== undefined) return { kind: "found", record };
  const problem = hiddenIn(outcome, { clOrdId });
  if (problem === undefined) return { kind: "none" };
  const isOwn = outcome.unread?.some((ids) => ids.clOrdId === clOrdId) === true;
  return { kind: "void", why: `${endpoint}: ${problem}`, ...(isOwn && { isOwn: true }) };
};
