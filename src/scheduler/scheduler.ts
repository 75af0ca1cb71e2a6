/**
 * Decides which waiting action leaves next, and when. The only place that waits.
 *
 * Invariants: an action leaves only with a grant on all its layers; what to send is asked for when its slot has opened, so a
 * wanted order that was replaced or withdrawn costs nothing; the queue is bounded; an action withdrawn before it left never leaves.
 * Not here: the arithmetic of quota (quota/), what an answer means (client/parse-response.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { Transport } from "../contract/transport.ts";
import { SluiceError } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Action, Ending } from "./action.ts";
import { createInFlight } from "./in-flight.ts";
import { createLanes } from "./lanes.ts";
import { classRules, createBudgets } from "./priority.ts";
import type { Lane, QueuedAction, UserRound } from "./queued-action.ts";
import { extraOf } from "./quota/layers.ts";
import type { Ledger, Refusal } from "./quota/ledger.ts";
import type { Grant, Lease, QuotaPort } from "./quota/port.ts";
import { createWakeup } from "./wakeup.ts";

export interface Scheduler {
  /**
   * Queues an action, or sends it at once where there is quota; `done` may be called before this returns. Throws QUEUE_FULL.
   * The returned function withdraws the action: it is not sent if it still waits, and not told its end in any case.
   */
  submit(action: Action): () => void;
  /** The end of everything: nothing is sent any more and no answer is taken in. */
  close(): void;
  readonly queued: number;
  readonly inFlight: number;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  /** Where leave to speak comes from; the ledger of this process when left out. */
  readonly port?: QuotaPort;
  readonly transport: Transport;
  readonly journal: EventLog;
  readonly queueMax?: number;
  /** Parts of the quota by owner when several compete; 1 where none is named. */
  readonly shares?: Readonly<Record<string, number>>;
  /** Weight a minute an owner may spend on ordinary actions; exits are never counted. */
  readonly budgets?: Readonly<Record<string, number>>;
}

const clockStepMs = 100;
/**
 * What leaves together is charged as of one instant, so that the ledger has to look but once. A little early is safe: such a call
 * counts in the earliest window it can have reached and in every later one until it is answered.
 */
const instantMs = 0.2;
/** A quota port that fails is asked again after this. */
const unreachableMs = 1_000;
const never = Number.POSITIVE_INFINITY;

export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { clock, ledger, journal, queueMax = 200_000, port = ledger } = options;
  const flights = createInFlight(clock, port, journal, options.transport, (entry, ending) => {
    finish(entry, ending);
    release();
  });
  const budgets = createBudgets(options.budgets);
  const lanes = createLanes(ledger, flights, options.shares, (owner) => budgets.has(owner));
  const wake = createWakeup(clock, () => {
    release();
  });
  let pumping = false;
  let again = false;
  let round = 0;
  /** As of when the ledger is asked. */
  const asked = { at: clock.now() };
  let spell = 1;
  let wallOffset = clock.wallNow() - clock.now();
  let heldOrder = 0;
  let heldLayer = "";

  /** Leave for one of the account's keys, or the refusal that ends first; undefined while the port thinks about it. */
  const reserve = (lane: Lane, { action }: QueuedAction, now: number): Grant | undefined => {
    const { rank } = lane;
    const elements = Math.max(lane.elements, action.elementsNow?.() ?? 1);
    let best: Refusal | undefined;
    for (const charge of lane.charges) {
      const grant = port.reserve(charge, rank, now, elements);
      if (grant instanceof Promise) {
        lane.asking = true;
        grant.then(
          (later) => {
            answered(lane, later);
          },
          (error: unknown) => {
            journal.append({ type: "anomaly", what: "quota.unreachable", detail: error instanceof Error ? error.message : String(error) });
            answered(lane, { granted: false, layer: "port", until: clock.now() + unreachableMs, why: "used", lighterThan: 0 });
          },
        );
        return undefined;
      }
      if (grant.granted) return grant;
      if (best === undefined || grant.until < best.until) best = grant;
    }
    return best;
  };
  /** The port has made up its mind. What the lane holds by now decides what the leave is used for. */
  const answered = (lane: Lane, grant: Grant): void => {
    lane.asking = false;
    if (!grant.granted) {
      lane.blockedIn = spell;
      wake.by(grant.until);
      return;
    }
    const entry = lane.queue.head();
    if (entry === undefined || clock.now() > grant.expiresAt) port.release(grant);
    else {
      lanes.take(lane);
      send(entry, grant);
    }
    pump();
  };

  const finish = (entry: QueuedAction, ending: Ending): void => {
    if (entry.over) return;
    entry.over = true;
    entry.action.done(ending);
  };
  const drop = (entry: QueuedAction, reason: "withdrawn" | "deadline"): void => {
    journal.append({ type: "action.dropped", action: entry.order, endpoint: entry.action.endpoint, reason });
    finish(entry, { kind: "dropped", reason });
  };

  const send = (entry: QueuedAction, lease: Lease): void => {
    const { endpoint, class: kind, owner, weight: stated } = entry.action;
    const { key } = lease.charge;
    const request = entry.action.build(key, lease.elements);
    if (request === undefined) {
      port.release(lease);
      drop(entry, "withdrawn");
      return;
    }
    const now = clock.now();
    entry.sentAt = now;
    if (entry.lane.rank === "ordinary") budgets.spend(owner, stated, now);
    const weight = stated + extraOf(lease.charge, lease.elements);
    const waitedMs = now - entry.submittedAt;
    journal.append({ type: "action.sent", action: entry.order, endpoint, class: kind, owner, weight, key, waitedMs });
    flights.send(request, lease, entry);
  };

  /** Quota came back or time moved on: what was stuck may not be any more. */
  const release = (): void => {
    spell++;
    pump();
  };

  const noteHeld = (entry: QueuedAction, verdict: Refusal): void => {
    if ((entry.order === heldOrder && verdict.layer === heldLayer) || verdict.why === "start") return;
    heldOrder = entry.order;
    heldLayer = verdict.layer;
    const { endpoint, class: kind } = entry.action;
    journal.append({ type: "action.held", action: entry.order, endpoint, class: kind, layer: verdict.layer, until: verdict.until });
  };

  /** In this round only lighter calls may pass the heavier one of the same user that has to wait. */
  const holdBack = (party: UserRound, lighterThan: number): void => {
    party.lighterThan = party.round === round ? Math.min(party.lighterThan, lighterThan) : lighterThan;
    party.round = round;
  };

  /** Sends the best action that fits. False when none does; the wake-up is set then. */
  const pumpOne = (): boolean => {
    const at = clock.now();
    if (at - asked.at > instantMs) asked.at = at;
    const now = asked.at;
    let next = never;
    round++;
    for (const lane of lanes.ready()) {
      const entry = lane.queue.head();
      if (entry === undefined) continue;
      const { rank } = lane;
      if (rank === "ordinary" && lane.party.round === round && lane.weight >= lane.party.lighterThan) {
        lane.blockedIn = spell;
        continue;
      }
      if (lane.asking) continue;
      const saved = rank === "ordinary" ? budgets.blockedUntil(entry.action.owner, lane.weight, now) : undefined;
      if (saved !== undefined) {
        next = Math.min(next, saved);
        lane.blockedIn = spell;
        continue;
      }
      const grant = reserve(lane, entry, now);
      if (grant === undefined) continue;
      if (grant.granted) {
        lanes.take(lane);
        send(entry, grant);
        return true;
      }
      next = Math.min(next, grant.until);
      lane.blockedIn = spell;
      noteHeld(entry, grant);
      if (rank === "ordinary") holdBack(lane.party, grant.lighterThan);
    }
    wake.at(next);
    return false;
  };

  /** A calendar that moves apart from the steady clock means a step or a suspend: the windows must be learned again. */
  const noticeSteps = (now: number): void => {
    const offset = clock.wallNow() - now;
    const moved = offset - wallOffset;
    if (moved === 0) return;
    wallOffset = offset;
    if (Math.abs(moved) <= clockStepMs) return;
    ledger.disturb(now);
    journal.append({ type: "anomaly", what: "clock.step", detail: `the calendar moved by ${Math.round(moved)} ms` });
  };

  const pump = (): void => {
    if (pumping) {
      again = true;
      return;
    }
    pumping = true;
    try {
      asked.at = clock.now();
      noticeSteps(asked.at);
      do {
        again = false;
        while (lanes.count > 0 && pumpOne()) {
          // one action a turn
        }
      } while (again);
      if (lanes.count === 0) wake.at(never);
    } finally {
      pumping = false;
    }
  };

  const submit = (action: Action): (() => void) => {
    if (lanes.count >= queueMax) {
      const text = `The request queue holds ${queueMax} actions; "${action.owner}" adds faster than the quota allows. Ask less often.`;
      throw new SluiceError("QUEUE_FULL", text);
    }
    const now = clock.now();
    const { rank } = classRules[action.class];
    const entry = lanes.add(action, now);
    if (rank !== "ordinary") ledger.noteExit(now);
    if (action.deadlineAt !== undefined) {
      clock.setTimer(action.deadlineAt, () => {
        if (lanes.withdraw(entry)) drop(entry, "deadline");
      });
    }
    if (entry.lane.blockedIn !== spell) pump();
    return () => {
      entry.over = true;
      lanes.withdraw(entry);
    };
  };

  return {
    submit,
    close: () => {
      flights.close();
    },
    get queued() {
      return lanes.count;
    },
    get inFlight() {
      return flights.count;
    },
  };
};
