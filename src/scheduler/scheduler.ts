/**
 * Scheduler of API actions: decides which waiting action leaves next, and when. The only place where actions wait.
 *
 * Invariants: an action leaves only with a grant on all its layers; the content is requested when its slot has opened,
 * so a wanted order that was replaced or withdrawn costs nothing; the queue is bounded; an action withdrawn before it
 * left never leaves.
 * Not here: the arithmetic of quota (quota/), requests in flight (in-flight.ts), what an answer means
 * (client/parse-response.ts).
 */
import type { Clock } from "../clock/clock.ts";
import { SluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Action, Ending } from "./action.ts";
import { InFlight } from "./in-flight.ts";
import { Lanes } from "./lanes.ts";
import { Budgets, classRules } from "./priority.ts";
import type { Lane, LaneGroup, QueuedAction } from "./queued-action.ts";
import { extraOf } from "./quota/layers.ts";
import type { Ledger, Refusal } from "./quota/ledger.ts";
import type { Grant, Lease, QuotaPort } from "./quota/port.ts";
import { RequestTraces } from "./request-traces.ts";
import type { SchedulerOptions } from "./scheduler-options.ts";
import { Wakeup } from "./wakeup.ts";

const clockStepMs = 100;
/**
 * Actions that leave within this time are charged at one instant, so that the ledger is consulted only once. An instant
 * slightly too early is safe: the call counts in the earliest window that it can have reached and in every later one
 * until it is answered.
 */
const instantMs = 0.2;
/** Time after which a quota port that failed is asked again. */
const unreachableMs = 1_000;
const never = Number.POSITIVE_INFINITY;

/** The priority queue in front of a transport: calls leave in order of rank when the rate limiter grants them. */
export const createScheduler = (options: SchedulerOptions): Scheduler => new Scheduler(options);

export class Scheduler {
  /** Returns true if calls of an endpoint wait by product. */
  readonly byProduct: NonNullable<SchedulerOptions["byProduct"]>;
  readonly traces = new RequestTraces();
  readonly #clock: Clock;
  readonly #ledger: Ledger;
  readonly #port: QuotaPort;
  readonly #journal: EventLog;
  readonly #inFlight: InFlight;
  readonly #queueMax: number;
  readonly #budgets: Budgets;
  readonly #lanes: Lanes;
  readonly #wakeup: Wakeup;
  #pumping = false;
  #again = false;
  #round = 0;
  /** Instant for which the ledger is consulted. */
  #askedAt: number;
  /** A lane in which nothing could leave is not tried again before the next epoch. */
  #epoch = 1;
  #wallOffset: number;

  constructor(options: SchedulerOptions) {
    const {
      clock,
      ledger,
      port = ledger,
      transport,
      journal,
      queueMax = 200_000,
      shares,
      budgets,
      byProduct = () => false,
    } = options;
    this.byProduct = byProduct;
    this.#clock = clock;
    this.#ledger = ledger;
    this.#port = port;
    this.#journal = journal;
    this.#queueMax = queueMax;
    this.#budgets = new Budgets(budgets);
    this.#inFlight = new InFlight(clock, port, journal, transport, (entry, ending) => {
      this.#finish(entry, ending);
      this.wake(ending.kind === "answered" ? ending.at : undefined);
    });
    this.#lanes = new Lanes(ledger, this.#inFlight, shares, this.#budgets, this.byProduct);
    this.#wakeup = new Wakeup(clock, () => {
      this.wake();
    });
    this.#askedAt = clock.now();
    this.#wallOffset = clock.wallNow() - clock.now();
  }

  /** Number of actions that wait. */
  get queued(): number {
    return this.#lanes.count;
  }

  /** Number of actions that were sent and are not answered. */
  get inFlight(): number {
    return this.#inFlight.count;
  }

  /**
   * Queues an action, or sends it at once where there is quota; `done` may be called before this returns. Throws
   * QUEUE_FULL. The returned function withdraws the action: it is not sent if it still waits, and its end is not
   * reported in any case.
   */
  submit(action: Action): () => void {
    const lanes = this.#lanes;
    if (lanes.count >= this.#queueMax) {
      const text = `The request queue holds ${this.#queueMax} actions; "${action.owner}" adds faster than the quota allows. Ask less often.`;
      throw new SluiceError("QUEUE_FULL", text);
    }
    const now = this.#clock.now();
    const entry = lanes.add(action, now);
    if (this.traces.active) this.traces.submitted(entry.order);
    if (classRules[action.class].rank !== "ordinary") this.#ledger.noteExit(now);
    if (action.deadlineAt !== undefined) {
      this.#clock.setTimer(action.deadlineAt, () => {
        if (lanes.withdraw(entry)) this.#drop(entry, "deadline");
      });
    }
    if (entry.lane.blockedIn !== this.#epoch) this.#pump(now);
    return () => {
      entry.over = true;
      if (lanes.withdraw(entry)) this.traces.ended(entry.order);
    };
  }

  /** Ends the scheduler: nothing is sent and no answer is processed any more. */
  close(): void {
    this.#inFlight.closed = true;
  }

  /**
   * Called when quota was freed or time passed, so that waiting actions may leave. `now` is for callers that have
   * already read the clock.
   */
  wake(now = this.#clock.now()): void {
    this.#epoch++;
    this.#pump(now);
  }

  #pump(now: number): void {
    if (this.#pumping) {
      this.#again = true;
      return;
    }
    const lanes = this.#lanes;
    this.#pumping = true;
    try {
      this.#askedAt = now;
      const offset = this.#clock.wallNow() - now;
      if (offset !== this.#wallOffset) this.#noticeStep(now, offset);
      // The first turn is at this instant. Sending may take time.
      let at: number | undefined = now;
      do {
        this.#again = false;
        while (lanes.count > 0 && this.#pumpOne(at)) at = undefined;
        at = undefined;
      } while (this.#again);
      if (lanes.count === 0 && this.#wakeup.armedAt !== never) this.#wakeup.at(never);
    } finally {
      this.#pumping = false;
    }
  }

  /** Sends the best action that fits. Returns false if none does; the wake-up is set then. */
  #pumpOne(known: number | undefined): boolean {
    const at = known ?? this.#clock.now();
    if (at - this.#askedAt > instantMs) this.#askedAt = at;
    const now = this.#askedAt;
    const ready = this.#lanes.ready();
    let next = never;
    this.#round++;
    for (let index = 0; index < ready.length; index++) {
      const lane = ready[index] as Lane;
      const entry = lane.queue.head();
      if (entry === undefined) continue;
      const until = this.#waitsUntil(lane, entry, now);
      if (until !== undefined) {
        next = Math.min(next, until);
        continue;
      }
      const grant = this.#reserve(lane, entry.action, now);
      if (grant === undefined) continue;
      if (grant.granted) {
        this.#lanes.take(lane);
        this.#send(entry, grant, at);
        return true;
      }
      next = Math.min(next, grant.until);
      lane.blockedIn = this.#epoch;
      this.#noteHeld(entry, grant);
      if (lane.rank === "ordinary") this.#holdBack(lane, grant);
    }
    this.#wakeup.at(next);
    return false;
  }

  /**
   * Instant until which a lane must not ask for a lease. Infinite while another lane has to go first or this one is
   * already asking; undefined when it may ask.
   */
  #waitsUntil(lane: Lane, entry: QueuedAction, now: number): number | undefined {
    const isOrdinary = lane.rank === "ordinary";
    if (isOrdinary && (this.#holds(lane.user, lane.weight) || this.#holds(lane.sameKeys, lane.weight))) {
      lane.blockedIn = this.#epoch;
      return never;
    }
    if (lane.asking) {
      // The lane was refused before. While it asks again, it continues to hold back the lanes behind it.
      if (isOrdinary && lane.refusal !== undefined) this.#holdBack(lane, lane.refusal);
      return never;
    }
    if (!isOrdinary || this.#budgets.none) return undefined;
    const until = this.#budgets.blockedUntil(entry.action.owner, lane.weight, now);
    if (until !== undefined) lane.blockedIn = this.#epoch;
    return until;
  }

  #holds({ round, lighterThan }: LaneGroup, weight: number): boolean {
    return round === this.#round && weight >= lighterThan;
  }

  /**
   * In this round only lighter calls may pass the call that has to wait: of the same user, or on the same keys if a key
   * has no room.
   */
  #holdBack({ user, sameKeys }: Lane, { lighterThan, ofKey }: Refusal): void {
    const group = ofKey === true ? sameKeys : user;
    group.lighterThan = group.round === this.#round ? Math.min(group.lighterThan, lighterThan) : lighterThan;
    group.round = this.#round;
  }

  /**
   * A lease on one of the account's keys, or the refusal that ends first; undefined while the port has not answered.
   */
  #reserve(lane: Lane, action: Action, now: number): Grant | undefined {
    const { charges, rank, refusal } = lane;
    if (refusal !== undefined && lane.refusedIn === this.#epoch && now < refusal.until) return refusal;
    const elements = action.elementsNow === undefined ? lane.elements : Math.max(lane.elements, action.elementsNow());
    const grant = this.#port.reserve(charges, rank, now, elements);
    if (!(grant instanceof Promise)) return grant;
    this.#await(lane, grant);
    if (refusal !== undefined && rank === "ordinary") this.#holdBack(lane, refusal);
    return undefined;
  }

  #await(lane: Lane, grant: Promise<Grant>): void {
    lane.asking = true;
    // Changes that occurred while the port was deciding may change the answer.
    lane.refusedIn = this.#epoch;
    grant.then(
      (later) => {
        this.#granted(lane, later);
      },
      (error: unknown) => {
        const detail = error instanceof Error ? error.message : String(error);
        this.#journal.append({ type: "anomaly", what: "quota.unreachable", detail });
        const until = this.#clock.now() + unreachableMs;
        this.#granted(lane, { granted: false, layer: "port", until, why: "used", lighterThan: 0 });
      },
    );
  }

  /**
   * Called when the port has answered with a delay. The present content of the lane decides how the lease is used. A
   * refusal counts for the lane's next turn.
   */
  #granted(lane: Lane, grant: Grant): void {
    lane.asking = false;
    lane.refusal = grant.granted ? undefined : grant;
    const entry = lane.queue.head();
    const now = this.#clock.now();
    if (!grant.granted) this.#wakeup.by(grant.until);
    else if (entry === undefined || now > grant.expiresAt) this.#port.release(grant);
    else {
      this.#lanes.take(lane);
      this.#send(entry, grant, now);
    }
    this.#pump(this.#clock.now());
  }

  #send(entry: QueuedAction, lease: Lease, now: number): void {
    const { action, order } = entry;
    const { endpoint, class: kind, owner, weight: stated } = action;
    const { key } = lease.charge;
    const request = action.build(key, lease.elements, now);
    if (request === undefined) {
      this.#port.release(lease);
      this.#drop(entry, "withdrawn");
      return;
    }
    entry.sentAt = now;
    if (!this.#budgets.none && entry.lane.rank === "ordinary") this.#budgets.spend(owner, stated, now);
    const weight = entry.lane.elementWeight === 0 ? stated : stated + extraOf(lease.charge, lease.elements);
    const waitedMs = now - entry.submittedAt;
    this.#journal.append({
      seq: 0,
      at: now,
      type: "action.sent",
      action: order,
      endpoint,
      class: kind,
      owner,
      weight,
      key,
      waitedMs,
    });
    this.#inFlight.send(this.traces.active ? this.traces.leaving(order, request) : request, lease, entry);
  }

  #drop(entry: QueuedAction, reason: "withdrawn" | "deadline"): void {
    this.#journal.append({ type: "action.dropped", action: entry.order, endpoint: entry.action.endpoint, reason });
    this.#finish(entry, { kind: "dropped", reason });
  }

  #finish(entry: QueuedAction, ending: Ending): void {
    if (this.traces.active) this.traces.ended(entry.order);
    if (entry.over) return;
    entry.over = true;
    entry.action.done(ending);
  }

  #noteHeld({ order, action, lane: { sameKeys } }: QueuedAction, { layer, until, why }: Refusal): void {
    if ((order === sameKeys.heldOrder && layer === sameKeys.heldLayer) || why === "start") return;
    sameKeys.heldOrder = order;
    sameKeys.heldLayer = layer;
    const { endpoint, class: kind } = action;
    this.#journal.append({ type: "action.held", action: order, endpoint, class: kind, layer, until });
  }

  /**
   * A calendar that moves away from the steady clock indicates a step or a suspend: the windows must be learned again.
   */
  #noticeStep(now: number, offset: number): void {
    const moved = offset - this.#wallOffset;
    // This process was delayed between the two readings, so the calendar did not step.
    if (moved > clockStepMs && moved - (this.#clock.now() - now) <= clockStepMs) return;
    this.#wallOffset = offset;
    if (Math.abs(moved) <= clockStepMs) return;
    this.#ledger.disturb(now);
    this.#journal.append({
      type: "anomaly",
      what: "clock.step",
      detail: `the calendar moved by ${Math.round(moved)} ms`,
    });
  }
}
