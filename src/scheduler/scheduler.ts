/**
 * Decides which waiting action leaves next, and when. The only place that waits.
 *
 * Invariants: an action leaves only with a grant on all its layers; what to send is asked for when its slot has opened, so a
 * wish that was replaced or withdrawn costs nothing; the queue is bounded; an action unsubscribed before it left never leaves.
 * Not here: the arithmetic of quota (quota/), what an answer means (gateway/).
 */
import { Observable } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import type { EndpointName } from "../contract/endpoints.ts";
import { SluiceError } from "../errors.ts";
import type { ActionClass } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { Charge } from "../quota/layers.ts";
import type { Ledger, Ticket, Verdict } from "../quota/ledger.ts";
import type { Transport, WireRequest, WireResponse } from "../transport/transport.ts";
import { createLanes, type Entry, type Lane } from "./lanes.ts";
import { classRules } from "./priority.ts";

/** Who calls. Several keys of one user share its weight but have a second each. */
export interface Account {
  readonly uid: string;
  readonly ip: string;
  /** Names of the user's keys that may make this call, in order of preference; none for an unsigned call. */
  readonly keys: readonly string[];
}

export interface Action {
  readonly endpoint: EndpointName;
  readonly class: ActionClass;
  readonly owner: string;
  readonly weight: number;
  readonly account: Account;
  /** Dropped, and said so, when still waiting at this instant. */
  readonly deadlineAt?: number;
  /** The request as of now, or undefined when nobody needs it any more. Called once, when the slot has opened. */
  build(key: string | undefined): WireRequest | undefined;
}

export type Ending =
  | { readonly kind: "answered"; readonly response: WireResponse; readonly waitedMs: number; readonly elapsedMs: number }
  | { readonly kind: "lost"; readonly message: string; readonly waitedMs: number }
  | { readonly kind: "dropped"; readonly reason: "withdrawn" | "deadline" };

export interface Scheduler {
  /** Emits the ending once and completes. Errors only with QUEUE_FULL. Unsubscribing before it was sent withdraws it. */
  schedule(action: Action): Observable<Ending>;
  /** The same without a stream: calls back once. The returned function withdraws, and is deaf to an answer that comes later. */
  submit(action: Action, done: (ending: Ending) => void): () => void;
  readonly queued: number;
  readonly inFlight: number;
}

export interface SchedulerOptions {
  readonly clock: Clock;
  readonly ledger: Ledger;
  readonly transport: Transport;
  readonly journal: Journal;
  readonly queueMax?: number;
  /** Parts of the quota by owner when several compete; 1 for whoever is not named. */
  readonly shares?: Readonly<Record<string, number>>;
}

const clockStepMs = 100;
const never = Number.POSITIVE_INFINITY;

export const createScheduler = (options: SchedulerOptions): Scheduler => {
  const { clock, ledger, transport, journal, queueMax = 200_000 } = options;
  const lanes = createLanes(options.shares);
  const wake = createWake(clock, () => {
    release();
  });
  let inFlight = 0;
  let pumping = false;
  let again = false;
  let wallOffset = clock.wallNow() - clock.now();
  let lastHeld = "";

  /** The grant for one of the account's keys, or the verdict that frees up first. */
  const askAll = (lane: Lane, now: number): { verdict: Verdict; charge: Charge } => {
    const { rank } = classRules[lane.class];
    let best: { verdict: Verdict; charge: Charge } | undefined;
    for (const charge of lane.charges) {
      const verdict = ledger.ask(charge, rank, now);
      if (verdict.granted) return { verdict, charge };
      if (best === undefined || best.verdict.granted || verdict.until < best.verdict.until) best = { verdict, charge };
    }
    return best as { verdict: Verdict; charge: Charge };
  };

  const finish = (entry: Entry, ending: Ending): void => {
    const { done } = entry;
    entry.done = undefined;
    done?.(ending);
  };
  const drop = (entry: Entry, reason: "withdrawn" | "deadline"): void => {
    journal.append({ type: "action.dropped", action: entry.order, endpoint: entry.action.endpoint, reason });
    finish(entry, { kind: "dropped", reason });
  };

  const send = (entry: Entry, charge: Charge): void => {
    const { endpoint, class: kind, owner, weight } = entry.action;
    const request = entry.action.build(charge.key);
    if (request === undefined) {
      drop(entry, "withdrawn");
      return;
    }
    const sentAt = clock.now();
    const waitedMs = sentAt - entry.submittedAt;
    const ticket = ledger.spend(charge, sentAt);
    inFlight++;
    journal.append({ type: "action.sent", action: entry.order, endpoint, class: kind, owner, weight, key: charge.key, waitedMs });
    transport(request).subscribe(new Flight(entry, ticket, sentAt, waitedMs));
  };

  /** One request under way: takes the first thing that is heard of it, whatever the transport does after that. */
  class Flight {
    #entry: Entry | undefined;
    readonly #ticket: Ticket;
    readonly #sentAt: number;
    readonly #waitedMs: number;
    constructor(entry: Entry, ticket: Ticket, sentAt: number, waitedMs: number) {
      this.#entry = entry;
      this.#ticket = ticket;
      this.#sentAt = sentAt;
      this.#waitedMs = waitedMs;
    }
    next(response: WireResponse): void {
      if (this.#entry === undefined) return;
      const now = clock.now();
      const until = ledger.settle(this.#ticket, response, now);
      if (until !== undefined) journal.append({ type: "quota.refused", layer: "unknown", until });
      this.#land({ kind: "answered", response, waitedMs: this.#waitedMs, elapsedMs: now - this.#sentAt });
    }
    error(error: unknown): void {
      this.#lose(error instanceof Error ? error.message : String(error));
    }
    complete(): void {
      this.#lose("the transport ended without an answer");
    }
    #lose(message: string): void {
      if (this.#entry === undefined) return;
      ledger.lose(this.#ticket, clock.now());
      this.#land({ kind: "lost", message, waitedMs: this.#waitedMs });
    }
    #land(ending: Ending): void {
      const entry = this.#entry as Entry;
      this.#entry = undefined;
      inFlight--;
      finish(entry, ending);
      release();
    }
  }

  /** Quota came back or time moved on: what was stuck may not be any more. */
  const release = (): void => {
    lanes.unblock();
    pump();
  };

  const noteHeld = (entry: Entry, verdict: Exclude<Verdict, { granted: true }>): void => {
    const mark = `${entry.order}:${verdict.layer}`;
    if (mark === lastHeld || verdict.why === "start") return;
    lastHeld = mark;
    const { endpoint, class: kind } = entry.action;
    journal.append({ type: "action.held", action: entry.order, endpoint, class: kind, layer: verdict.layer, until: verdict.until });
  };

  /** Sends the best action that fits. False when none does; the wake-up is set then. */
  const pumpOne = (): boolean => {
    const now = clock.now();
    let next = never;
    // Only calls lighter than this may pass a heavier one of the same user that has to wait.
    const lighterThan = new Map<string, number>();
    for (const lane of lanes.ready(ledger.probing)) {
      const entry = lane.queue.head() as Entry;
      const { rank } = classRules[lane.class];
      const { uid } = lane.account;
      if (rank === "ordinary" && lane.weight >= (lighterThan.get(uid) ?? never)) {
        lane.blocked = true;
        continue;
      }
      const { verdict, charge } = askAll(lane, now);
      if (verdict.granted) {
        lanes.take(lane);
        send(entry, charge);
        return true;
      }
      next = Math.min(next, verdict.until);
      lane.blocked = true;
      noteHeld(entry, verdict);
      if (rank === "ordinary") lighterThan.set(uid, Math.min(lighterThan.get(uid) ?? never, verdict.lighterThan));
    }
    wake.at(next);
    return false;
  };

  /** A calendar that moves apart from the steady clock means a step or a suspend: the windows must be learned again. */
  const noticeSteps = (now: number): void => {
    const offset = clock.wallNow() - now;
    const moved = offset - wallOffset;
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
      noticeSteps(clock.now());
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

  const enter = (action: Action, done: (ending: Ending) => void): Entry => {
    if (lanes.count >= queueMax) {
      const text = `The request queue holds ${queueMax} actions; "${action.owner}" adds faster than the quota allows. Ask less often.`;
      throw new SluiceError("QUEUE_FULL", text);
    }
    const now = clock.now();
    const { rank } = classRules[action.class];
    const entry = lanes.add(action, now, done);
    if (rank !== "ordinary") ledger.noteExit(now);
    if (action.deadlineAt !== undefined) {
      clock.setTimer(action.deadlineAt, () => {
        if (lanes.withdraw(entry)) drop(entry, "deadline");
      });
    }
    if (!entry.lane.blocked) pump();
    return entry;
  };

  const submit = (action: Action, done: (ending: Ending) => void): (() => void) => {
    const entry = enter(action, done);
    return () => {
      entry.done = undefined;
      lanes.withdraw(entry);
    };
  };

  return {
    submit,
    schedule: (action) =>
      new Observable((subscriber) =>
        submit(action, (ending) => {
          subscriber.next(ending);
          subscriber.complete();
        }),
      ),
    get queued() {
      return lanes.count;
    },
    get inFlight() {
      return inFlight;
    },
  };
};

/** One timer, moved only when its instant changes. */
const createWake = (clock: Clock, run: () => void): { at(instant: number): void } => {
  let timer: Timer | undefined;
  let armedAt = never;
  return {
    at: (instant) => {
      if (instant === armedAt) return;
      timer?.cancel();
      timer = undefined;
      armedAt = instant;
      if (instant === never) return;
      timer = clock.setTimer(instant, () => {
        timer = undefined;
        armedAt = never;
        run();
      });
    },
  };
};
