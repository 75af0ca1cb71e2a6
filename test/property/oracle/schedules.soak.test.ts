/**
 * The exhaustive small model: where random lives crowd the edges, this leaves out nothing within its bound.
 */
import { describe, expect, it } from "vitest";
import { FixedWindow } from "../../../src/scheduler/quota/fixed-window.ts";
import type { LayerSpec } from "../../../src/scheduler/quota/layers.ts";
import type { LimitWindow } from "../../../src/scheduler/quota/limit-window.ts";
import type { ServerClock } from "../../../src/scheduler/quota/server-clock.ts";
import { type Model, survey } from "./schedules.ts";

const model: Model = { capacity: 2, lo: -1, hi: 1, offset: 0, headers: true, depth: 11, callsMax: 4, leftBefore: 0 };

const sizes = [
  { capacity: 2, depth: 11, callsMax: 4, leftBefore: 0 },
  { capacity: 3, depth: 9, callsMax: 5, leftBefore: 1 },
  { capacity: 4, depth: 8, callsMax: 6, leftBefore: 3 },
];

const cases: readonly (readonly [string, Model])[] = sizes.flatMap((size) =>
  [-1, 0, 1].flatMap((offset) =>
    [true, false].map((headers) => {
      const name = `${size.capacity} a window, true offset ${offset}, ${headers ? "use told" : "nothing told"}`;
      return [name, { ...model, ...size, offset, headers }] as const;
    }),
  ),
);

describe("The exhaustive model of the ledger stays within every window:", () => {
  let schedules = 0;
  it.each(cases)("%s", (_, one) => {
    const found = survey(one);
    schedules += found.schedules;
    expect(found.overrun).toBe(false);
    // Safe must not mean idle.
    expect(found.granted).toBeGreaterThanOrEqual(Math.min(one.capacity, one.callsMax));
  });

  it.each(cases)("%s, with silent calls taken for lost", (_, one) => {
    const found = survey({ ...one, leftBefore: 0, silentBefore: one.capacity - 1, depth: 10 });
    expect(found.overrun).toBe(false);
    // Held for, they would leave room for one in each window.
    expect(found.granted).toBeGreaterThanOrEqual(one.capacity);
  });

  it("and at least a hundred thousand were tried", () => {
    expect(schedules).toBeGreaterThan(100_000);
  });

  it("with the offset known exactly, each of the windows is filled", () => {
    expect(survey({ ...model, lo: 0, hi: 0, callsMax: 6, depth: 10 }).granted).toBeGreaterThanOrEqual(4);
  });
});

/** A gauge with one deliberate fault. */
const faulty =
  (change: (real: LimitWindow) => Partial<LimitWindow>) =>
  (spec: LayerSpec, scope: string, clock: ServerClock): LimitWindow => {
    const real = new FixedWindow(spec, scope, clock);
    const whole: LimitWindow = {
      spec,
      scope,
      capacity: spec.capacity,
      learnRefusal: (sentAt, at) => real.learnRefusal(sentAt, at),
      restate: (now) => real.restate(now),
      changesAt: Number.POSITIVE_INFINITY,
      limitBetween: (from, to) => real.limitBetween(from, to),
      learnLate: (ticket, sentAt) => real.learnLate(ticket, sentAt),
      noteUnexplained: (sentAt, at) => real.noteUnexplained(sentAt, at),
      get mode() {
        return real.mode;
      },
      get begun() {
        return real.begun;
      },
      get open() {
        return real.open;
      },
      blockedUntil: (units, now, ceiling) => real.blockedUntil(units, now, ceiling),
      room: (now, floor) => real.room(now, floor),
      begin: (units, now) => real.begin(units, now),
      again: (ticket, now) => real.again(ticket, now),
      end: (ticket, sentAt, receivedAt, used, counted) => real.end(ticket, sentAt, receivedAt, used, counted),
      lose: (ticket, now) => real.lose(ticket, now),
      undo: (ticket) => real.undo(ticket),
      shut: (at) => real.shut(at),
      reset: () => real.reset(),
      used: (now) => real.used(now),
      foreign: (now) => real.foreign(now),
      widthMs: (at) => real.widthMs(at),
      paced: (at) => real.paced(at),
      isRisky: (units, at) => real.isRisky(units, at),
      get missing() {
        return real.missing;
      },
      get ambiguous() {
        return real.ambiguous;
      },
      get unsteady() {
        return real.unsteady;
      },
      get lags() {
        return real.lags;
      },
      get flows() {
        return real.flows;
      },
      windowEndsAt: (now) => real.windowEndsAt(now),
    };
    return Object.assign(whole, change(real));
  };

describe("The exhaustive model finds a limit window that", () => {
  it.each([
    [
      "charges the window of sending only",
      faulty((real) => ({
        begin: (units, now) => {
          const ticket = real.begin(units, now);
          real.end(ticket, now, now - 2, undefined, true);
          return ticket;
        },
        end: () => 0,
        lose: () => undefined,
      })),
    ],
    [
      "forgets what is in flight",
      faulty(() => ({
        begin: (units) => ({ units, first: 0, knownThen: 0, unheardThen: 0, surelyThen: 0 }),
        lose: () => undefined,
      })),
    ],
    [
      "holds one call too many",
      faulty((real) => ({
        blockedUntil: (units, now, ceiling) =>
          real.blockedUntil(units, now, (end, start, at) => ceiling(end, start, at) + 1),
      })),
    ],
    [
      "places an answer by the moment it was sent",
      faulty((real) => ({
        end: (ticket, sentAt, _receivedAt, _used, counted) => real.end(ticket, sentAt, sentAt - 2, undefined, counted),
      })),
    ],
    [
      "takes a lost call for one that never landed early",
      faulty((real) => ({ lose: (ticket) => real.lose(ticket, -10) })),
    ],
  ])("%s", (_, make) => {
    expect([-1, 0, 1].some((offset) => survey({ ...model, offset }, make).overrun)).toBe(true);
  });
});
