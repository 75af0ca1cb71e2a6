/**
 * Finds out what became of orders whose placement or record is in doubt.
 *
 * Invariants: a placement is never repeated to find out; only a complete, successful, negative answer counts against an order, and
 * several of them, apart in time and backed by two full sweeps, are needed to call it absent; errors count for nothing; what
 * waits to be asked is not asked once there is evidence; a sweep serves all orders in doubt and only so many questions by id are
 * under way at once, so that many orders in doubt leave the others their quota; what goes on for long is told, with the reason.
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
  /** No negative answer counts before this long after the call was sent: it may still be on its way. */
  readonly settleMs?: number;
  readonly everyMs?: number;
  readonly negatives?: number;
  /** Between the two sweeps: longer than a service's views lag each other. */
  readonly lagMs?: number;
  /** Called with orders that stay in doubt for long, or whose own record cannot be read. */
  readonly journal: Pick<EventLog, "append">;
}

type Evidence = { readonly kind: "found"; readonly record: OrderRecord } | { readonly kind: "absent" };

interface Doubtful {
  readonly clOrdId: string;
  readonly instId: string;
  /** On the engine's clock. */
  readonly sentAt: number;
}

/** `void` proves nothing; `isOwn` where the order's own record came and could not be read. */
type Answer =
  | { readonly kind: "found"; readonly record: OrderRecord }
  | { readonly kind: "none" }
  | { readonly kind: "void"; readonly why: string; readonly isOwn?: true };

export interface OrderResolver {
  /**
   * One look by client id. It is not sent, and proves nothing, when it is not needed any more by the time its slot opens.
   */
  look(clOrdId: string, instId: string, needed: () => boolean): Observable<Answer>;
  /** Looks until there is evidence; calls back once. The returned function gives up. */
  pursue(order: Doubtful, done: (evidence: Evidence) => void): () => void;
}

const call = { class: "resolve", owner: "engine" } as const;
/** How far the service's calendar may be from what is known of it, and from ours where nothing is: its history is read so much further back. */
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
  /** A question by id waits or is under way; when the last one was answered. */
  looking: boolean;
  lookedAt: number;
  voids: number;
  why: string;
  toldUntil: number;
}

export const createOrderResolver = (options: ResolveOptions): OrderResolver => {
  const { clock, gateway, profile, journal, settleMs = 30_000, everyMs = 5_000, negatives = 3, lagMs = 10_000 } = options;
  /** An earlier process may have sent until just before; how long ago that was only a calendar knows, and calendars step. */
  const bornAt = clock.now();
  const pursuits = new Set<Pursuit>();
  const waiting: Pursuit[] = [];
  let looks = 0;
  let sweeping = false;
  let sweptAt = Number.NEGATIVE_INFINITY;

  const look = (clOrdId: string, instId: string, needed: () => boolean): Observable<Answer> =>
    // Only the client id is sent: with both ids the service would go by its own, which may be stale.
    gateway.read("getOrder", { clOrdId, instId }, { ...call, needed }).pipe(
      map((outcome): Answer => {
        const answer = answerIn("getOrder", outcome, clOrdId);
        const isOther = answer.kind === "none" && outcome.kind === "done" && outcome.records.length + outcome.problems.length > 0;
        return isOther ? { kind: "void", why: "getOrder: the answer is about another order" } : answer;
      }),
    );

  /** An instant of ours in the words of the service's records, at the earliest. */
  const inService = (at: number): number => {
    const told = options.serviceNow?.();
    const calendarAt = told === undefined ? clock.wallNow() - unknownCalendarMs : told - calendarMs;
    return (calendarAt - (clock.now() - at) - settleMs) * unitsPerMs[profile.order.timeUnit];
  };
  const isSettled = ({ order }: Pursuit): boolean => clock.now() - Math.max(order.sentAt, bornAt) >= settleMs;

  const stuck = (pursuit: Pursuit, why: string): void => {
    const ms = clock.now() - pursuit.startedAt;
    pursuit.toldUntil = Math.max(2 * ms, stuckMs);
    const { clOrdId, instId } = pursuit.order;
    const detail = `${clOrdId} (${instId}) has been in doubt for ${Math.round(ms / 1_000)} s and keeps its slot: ${why}`;
    journal.append({ type: "anomaly", what: "order.unresolved", detail });
  };
  const fail = (pursuit: Pursuit, { why, isOwn }: Extract<Answer, { kind: "void" }>): void => {
    const isNews = isOwn === true && pursuit.why !== why;
    pursuit.why = why;
    if (isNews) stuck(pursuit, why);
  };
  const conclude = (pursuit: Pursuit): void => {
    if (!pursuit.over && pursuit.negatives >= negatives && pursuit.sweeps >= 2) pursuit.finish({ kind: "absent" });
  };

  const takeLook = (pursuit: Pursuit, counts: boolean, answer: Answer): void => {
    pursuit.lookedAt = clock.now();
    pursuit.voids = answer.kind === "void" ? pursuit.voids + 1 : 0;
    if (answer.kind === "found") pursuit.finish(answer);
    else if (answer.kind === "void") fail(pursuit, answer);
    else if (counts) pursuit.negatives++;
    conclude(pursuit);
  };
  const drain = (): void => {
    while (looks < looksMax) {
      const pursuit = waiting.shift();
      if (pursuit === undefined) return;
      if (pursuit.over) continue;
      const counts = isSettled(pursuit);
      looks++;
      const end = (): void => {
        looks--;
        pursuit.looking = false;
        drain();
      };
      look(pursuit.order.clOrdId, pursuit.order.instId, () => !pursuit.over)
        .pipe(finalize(end))
        .subscribe((answer) => {
          if (!pursuit.over) takeLook(pursuit, counts, answer);
        });
    }
  };
  const queueLook = (pursuit: Pursuit): void => {
    if (pursuit.looking || clock.now() - pursuit.lookedAt < everyMs / 2) return;
    pursuit.looking = true;
    waiting.push(pursuit);
    drain();
  };

  /** What a listing says of each order that is in doubt by now; those it has are found. */
  const readListing = (endpoint: string, outcome: Outcome<OrderRecord>): ReadonlySet<Pursuit> => {
    const none = new Set<Pursuit>();
    for (const pursuit of [...pursuits]) {
      const answer = answerIn(endpoint, outcome, pursuit.order.clOrdId);
      if (answer.kind === "found") pursuit.finish(answer);
      else if (answer.kind === "void") fail(pursuit, answer);
      else none.add(pursuit);
    }
    return none;
  };
  /** Pending to its end, then history: an order moving from one to the other is seen in one of them. */
  const sweep = (): void => {
    const startedAt = clock.now();
    if (sweeping || startedAt - sweptAt < everyMs / 2) return;
    sweeping = true;
    sweptAt = startedAt;
    const counting = [...pursuits].filter((pursuit) => isSettled(pursuit) && startedAt - pursuit.sweptAt >= lagMs);
    const needed = (): boolean => pursuits.size > 0;
    const end = (): void => {
      sweeping = false;
    };
    walkOrders(gateway, "pendingOrders", {}, { ...call, needed }).subscribe({
      next: (pending) => {
        const without = readListing("pendingOrders", pending);
        if (pursuits.size === 0) {
          end();
          return;
        }
        const since = Math.min(...[...pursuits].map(({ order }) => inService(order.sentAt)));
        walkOrders(gateway, "orderHistory", {}, { ...call, needed, since })
          .pipe(finalize(end))
          .subscribe((history) => {
            const absent = readListing("orderHistory", history);
            for (const pursuit of counting) {
              if (!without.has(pursuit) || !absent.has(pursuit)) continue;
              pursuit.sweeps++;
              pursuit.sweptAt = startedAt;
              conclude(pursuit);
            }
          });
      },
      error: end,
    });
  };

  const ask = (pursuit: Pursuit): void => {
    const now = clock.now();
    const ms = now - pursuit.startedAt;
    if (ms >= pursuit.toldUntil) stuck(pursuit, pursuit.why);
    const settled = isSettled(pursuit);
    const crowded = pursuits.size > fewMax;
    if (settled ? pursuit.negatives < negatives : !crowded) queueLook(pursuit);
    const due = pursuit.sweeps < 2 && now - pursuit.sweptAt >= lagMs;
    if (settled ? due : crowded || pursuit.voids >= voidsMax) sweep();
  };

  const pursue = (order: Doubtful, done: (evidence: Evidence) => void): (() => void) => {
    const startedAt = clock.now();
    const end = (): void => {
      pursuit.over = true;
      pursuits.delete(pursuit);
      ticks.unsubscribe();
    };
    const pursuit: Pursuit = {
      order,
      startedAt,
      finish: (evidence) => {
        if (pursuit.over) return;
        end();
        done(evidence);
      },
      over: false,
      negatives: 0,
      sweeps: 0,
      sweptAt: Number.NEGATIVE_INFINITY,
      looking: false,
      lookedAt: Number.NEGATIVE_INFINITY,
      voids: 0,
      why: "the service has not answered yet",
      toldUntil: stuckMs,
    };
    pursuits.add(pursuit);
    const ticks = every(clock, everyMs).subscribe(() => {
      ask(pursuit);
    });
    ask(pursuit);
    return end;
  };

  return { look, pursue };
};

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
