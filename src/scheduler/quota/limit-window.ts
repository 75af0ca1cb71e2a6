/**
 * One scope of one layer with its windows laid on the client's time: may a call leave now, and if not, when to ask again.
 *
 * Invariants: a call leaves only if it fits in every window it can land in, whatever its latency; an answer is placed by the
 * clock, then by the service's own numbers, and in every window that remains possible when neither decides.
 */

import type { LayerSpec } from "./layers.ts";
import type { ServerClock } from "./server-clock.ts";
import { WindowUsage } from "./window-usage.ts";

/** Most units that may be used, as of `at`, of a window that ends, at the latest, at client instant `endAt`. */
export type Ceiling = (endAt: number, startAt: number, at: number) => number;

export interface WindowTicket {
  readonly units: number;
  readonly first: number;
  /** Use of the first window that was beyond doubt when the call left: ours may be a lost call's, or have landed beside it. */
  readonly knownThen: number;
  /** What had been settled in it by then without the service's word: the answer's count includes it. */
  readonly unheardThen: number;
}

export interface LimitWindow {
  readonly spec: LayerSpec;
  readonly scope: string;
  /** Undefined when the call fits, otherwise the earliest instant at which more could fit. */
  blockedUntil(units: number, now: number, ceiling: Ceiling): number | undefined;
  /** Units that fit now if every window holds what `floor` says: no call of as many is blocked, unless the ceiling is lower. */
  room(now: number, floor: Ceiling): number;
  /** All units that were ever begun. */
  begun(): number;
  begin(units: number, now: number): WindowTicket;
  /** One more call that leaves at the same instant and of which the same is known. */
  again(ticket: WindowTicket): void;
  /**
   * Places an answered call. `used` is the service's number, if it gave one; only that of a call it `counted` tells where the
   * call landed. Returns newly seen use by others.
   */
  end(ticket: WindowTicket, sentAt: number, receivedAt: number, used: number | undefined, counted: boolean): number;
  /** The call failed unread: it may have landed in any window until now. */
  lose(ticket: WindowTicket, now: number): void;
  /** The call never left. */
  undo(ticket: WindowTicket): void;
  /** Refused or blocked: nothing more before the window after `at` has surely begun. */
  shut(at: number): number;
  /** The clock was disturbed: windows have to be named anew. */
  reset(): void;
  used(now: number): number;
  /** Units of calls that are not answered yet. */
  open(): number;
  windowEndsAt(now: number): number;
  state(now: number): { readonly used: number; readonly foreign: number; readonly windowEndsAt: number; readonly open: number };
}

interface Heard {
  sentAt: number;
  receivedAt: number;
  used: number;
}

const heardKept = 16;

/** Windows fixed on the service's clock. */
export const fixedWindow = (spec: LayerSpec, scope: string, clock: ServerClock): LimitWindow => {
  const counter = new WindowUsage();
  const { windowMs } = spec;
  const heard: Heard[] = [];
  let write = 0;
  let begun = 0;
  const earliest = (at: number): number => Math.floor((at + clock.lo(at)) / windowMs);
  const latest = (at: number): number => Math.floor((at + clock.hi(at)) / windowMs);
  /** First instant from which a call surely lands in window `index` or later. */
  const gate = (index: number, at: number): number => index * windowMs - clock.lo(at);
  const current = (at: number): number => (clock.known ? latest(at) : 0);
  const windowEndsAt = (at: number): number => (clock.known ? gate(latest(at) + 1, at) : at);

  const learnBoundary = (sentAt: number, receivedAt: number, used: number): void => {
    let after = Number.NEGATIVE_INFINITY;
    for (let index = 0; index < heard.length; index++) {
      const other = heard[index] as Heard;
      // Sent after the other's answer was in, and yet the count did not rise: a window began in between.
      if (other.receivedAt < sentAt && other.used >= used && other.sentAt > after) after = other.sentAt;
    }
    if (receivedAt - after < windowMs * 0.9) clock.observeBoundary(after, receivedAt, windowMs);
    const oldest = heard[write];
    if (oldest === undefined) heard[write] = { sentAt, receivedAt, used };
    else {
      oldest.sentAt = sentAt;
      oldest.receivedAt = receivedAt;
      oldest.used = used;
    }
    write = (write + 1) % heardKept;
  };

  return {
    spec,
    scope,
    blockedUntil: (units, now, ceiling) => {
      // Whatever window it is, it cannot hold more than this.
      if (!clock.known) return counter.open + units > spec.capacity ? now + windowMs : undefined;
      const lo = clock.lo(now);
      const first = Math.floor((now + lo) / windowMs);
      if (first <= counter.closedThrough) return (counter.closedThrough + 1) * windowMs - lo;
      const last = Math.max(latest(now), Math.min(counter.newest, first + 2));
      for (let index = first; index <= last; index++) {
        const startAt = index * windowMs - lo;
        if (counter.used(index) + units > ceiling(startAt + windowMs, startAt, now)) return startAt + windowMs;
      }
      // A window not begun yet holds what is in flight already; it must hold this call as well.
      if (counter.open + units > spec.capacity) return now + windowMs;
      return undefined;
    },
    room: (now, floor) => {
      let room = spec.capacity - counter.open;
      if (!clock.known) return room;
      const lo = clock.lo(now);
      const first = Math.floor((now + lo) / windowMs);
      if (first <= counter.closedThrough) return 0;
      const last = Math.max(latest(now), Math.min(counter.newest, first + 2));
      for (let index = first; index <= last; index++) {
        const startAt = index * windowMs - lo;
        room = Math.min(room, floor(startAt + windowMs, startAt, now) - counter.used(index));
      }
      return room;
    },
    begun: () => begun,
    begin: (units, now) => {
      begun += units;
      const first = clock.known ? earliest(now) : 0;
      const { reported, unheard } = counter.begin(first, units);
      return { units, first, knownThen: reported, unheardThen: unheard };
    },
    again: ({ units, first }) => {
      begun += units;
      counter.begin(first, units);
    },
    end: (ticket, sentAt, receivedAt, used, counted) => {
      if (used !== undefined && counted) learnBoundary(sentAt, receivedAt, used);
      let first = Math.max(ticket.first, clock.known ? earliest(sentAt) : 0);
      let last = clock.known ? Math.max(first, latest(receivedAt)) : first;
      if (used !== undefined && counted && first < last) {
        // In the window it was sent in, the count could only have grown by this call.
        if (used < ticket.knownThen + ticket.units) first++;
        else if (last === first + 1 && used > counter.used(last) + ticket.units) last = first;
      }
      const told = used !== undefined && first === last;
      counter.end(ticket.first, first, last, ticket.units, told);
      return told ? counter.report(first, used, first === ticket.first ? ticket.unheardThen : 0) : 0;
    },
    lose: (ticket, now) => {
      counter.end(ticket.first, ticket.first, clock.known ? Math.max(ticket.first, latest(now)) : ticket.first, ticket.units);
    },
    undo: (ticket) => {
      counter.undo(ticket.first, ticket.units);
    },
    shut: (at) => {
      counter.closedThrough = Math.max(counter.closedThrough, latest(at) + Math.ceil(spec.banMs / windowMs));
      return gate(counter.closedThrough + 1, at);
    },
    reset: () => {
      counter.reset();
      heard.length = 0;
      write = 0;
    },
    used: (now) => counter.used(current(now)),
    open: () => counter.open,
    windowEndsAt,
    state: (now) => ({
      used: counter.used(current(now)),
      foreign: counter.foreign(current(now)),
      windowEndsAt: windowEndsAt(now),
      open: counter.open,
    }),
  };
};

/**
 * Windows that begin anywhere: no stretch of one window's length, as the service sees it, may hold more than the capacity. Our
 * clock may be fast by `driftPpm`.
 */
export const rollingWindow = (spec: LayerSpec, scope: string, driftPpm = 0): LimitWindow => {
  const windowMs = spec.windowMs * (1 + driftPpm / 1e6);
  /** Units that leave the count at an instant; unanswered ones have none yet. */
  const leaving: { at: number; units: number }[] = [];
  let answered = 0;
  let open = 0;
  let begun = 0;
  let shutUntil = Number.NEGATIVE_INFINITY;
  const expire = (now: number): void => {
    while (leaving.length > 0 && (leaving[0] as { at: number }).at <= now) answered -= (leaving.shift() as { units: number }).units;
  };
  const leave = (units: number, now: number): void => {
    answered += units;
    leaving.push({ at: now + windowMs, units });
  };
  const used = (now: number): number => {
    expire(now);
    return answered + open;
  };
  const windowEndsAt = (now: number): number => {
    expire(now);
    return leaving[0]?.at ?? now;
  };
  return {
    spec,
    scope,
    blockedUntil: (units, now, ceiling) => {
      expire(now);
      if (now < shutUntil) return shutUntil;
      if (answered + open + units <= ceiling(now + windowMs, now, now)) return undefined;
      return Math.max(leaving[0]?.at ?? now + windowMs, now + 1);
    },
    room: (now, floor) => {
      expire(now);
      return now < shutUntil ? 0 : floor(now + windowMs, now, now) - answered - open;
    },
    begun: () => begun,
    begin: (units) => {
      begun += units;
      open += units;
      return { units, first: 0, knownThen: 0, unheardThen: 0 };
    },
    again: ({ units }) => {
      begun += units;
      open += units;
    },
    end: (ticket, _sentAt, receivedAt) => {
      open -= ticket.units;
      leave(ticket.units, receivedAt);
      return 0;
    },
    lose: (ticket, now) => {
      open -= ticket.units;
      leave(ticket.units, now);
    },
    undo: (ticket) => {
      open -= ticket.units;
    },
    shut: (at) => {
      shutUntil = at + windowMs + spec.banMs;
      return shutUntil;
    },
    // Lengths of time hold even when the calendar does not.
    reset: () => undefined,
    used,
    open: () => open,
    windowEndsAt,
    state: (now) => ({ used: used(now), foreign: 0, windowEndsAt: windowEndsAt(now), open }),
  };
};
