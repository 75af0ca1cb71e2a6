/**
 * Clock check: compares this machine's calendar with the service's and reports a difference.
 *
 * Invariants: a difference is only reported, because signatures, quota windows and records use the service's calendar;
 * it is reported once, and again when it crosses the tolerance or changes by more than the tolerance.
 */
import type { Clock } from "../clock/clock.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ServerClock } from "../scheduler/quota/server-clock.ts";

interface ServiceCalendar {
  readonly from: number;
  readonly to: number;
}

/**
 * Current time at the service, in milliseconds since the Unix epoch; undefined before the first answer that carries it.
 */
export const serviceCalendar = (server: ServerClock, now: number): ServiceCalendar | undefined => {
  if (!server.known) return undefined;
  const { lo, hi } = server.bounds(now);
  return { from: now + lo, to: now + hi };
};

/** Shortest time between two comparisons of the calendars. */
const lookMs = 1_000;

export const watchCalendar = (journal: EventLog, clock: Clock, server: ServerClock, toleranceMs: number): void => {
  let lookedAt = Number.NEGATIVE_INFINITY;
  let reportedMs = 0;
  journal.on(["action.answered"], ({ at }) => {
    if (at - lookedAt < lookMs) return;
    lookedAt = at;
    if (!server.known) return;
    const { lo, hi } = server.bounds(at);
    const apartMs = distance(clock.wallNow(), at + lo, at + hi);
    const isApart = Math.abs(apartMs) > toleranceMs;
    if (!isApart && reportedMs === 0) return;
    if (isApart && Math.abs(apartMs - reportedMs) <= toleranceMs) return;
    reportedMs = isApart ? apartMs : 0;
    journal.append({
      type: "anomaly",
      what: isApart ? "clock.apart" : "clock.agrees",
      detail: sentence(apartMs, isApart),
    });
  });
};

/**
 * Minimum difference of our calendar to the service's, in milliseconds: positive if ours is ahead, negative if it is
 * behind.
 */
const distance = (wallNow: number, from: number, to: number): number => {
  if (wallNow > to) return wallNow - to;
  return wallNow < from ? wallNow - from : 0;
};

const sentence = (apartMs: number, isApart: boolean): string => {
  if (!isApart) return "this machine's clock agrees with the service's again";
  const side = apartMs > 0 ? "ahead of" : "behind";
  return `this machine's clock is ${spelled(Math.abs(apartMs))} ${side} the service's. Orders go by the service's; set the one that is wrong`;
};

const spelled = (ms: number): string =>
  ms < 90_000 ? `${Math.round(ms / 1_000)} s` : `${Math.round(ms / 60_000)} min`;
