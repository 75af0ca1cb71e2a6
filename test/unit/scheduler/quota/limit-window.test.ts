/** One scope of one layer: when a call may leave, and which windows its answer is charged to. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/random.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import type { LimitWindow } from "../../../../src/scheduler/quota/limit-window.ts";
import type { OnMisread } from "../../../../src/scheduler/quota/parts.ts";
import { RollingWindow } from "../../../../src/scheduler/quota/rolling-window.ts";
import type { ServerClock } from "../../../../src/scheduler/quota/server-clock.ts";
import { unasked } from "../../../support/harness/fixed-clock.ts";

const spec: LayerSpec = {
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
  anchor: "wall_clock",
  banMs: 0,
};
const all = (): number => spec.capacity;

interface Heard {
  readonly afterAt: number;
  readonly byAt: number;
}

const clockOf = (lo: number, hi: number, boundaries: Heard[] = []): ServerClock => ({
  bounds: (at) => ({ at, lo, hi }),
  near: unasked,
  far: unasked,
  lo: () => lo,
  hi: () => hi,
  known: true,
  observeDate: () => undefined,
  observeBoundary: (afterAt, byAt) => boundaries.push({ afterAt, byAt }) > 0,
  forget: () => undefined,
  conflicts: 0,
  revision: 0,
});

/** A user's minute of 1,200 units, whose answers report what is used. */
const userMinute = (onMisread?: OnMisread): FixedWindow =>
  new FixedWindow(
    {
      ...spec,
      name: "uid",
      scope: "uid",
      unit: "weight",
      capacity: 1_200,
      windowMs: 60_000,
      header: { name: "x-ratelimit-uid-weight-used", kind: "used" },
    },
    "u",
    clockOf(0, 0),
    undefined,
    { onMisread },
  );

describe("A fixed limit window:", () => {
  it("an unanswered call counts in the window it was sent in and in every later one", () => {
    const gauge = new FixedWindow(spec, "k", clockOf(0, 0));
    for (let i = 0; i < 10; i++) gauge.begin(1, 500);
    expect(gauge.blockedUntil(1, 500, all)).toBe(1_000);
    expect(gauge.blockedUntil(1, 1_500, all)).toBe(2_000);
    expect(gauge.blockedUntil(1, 9_500, all)).toBe(10_000);
  });

  it("an answered one leaves room in the next window", () => {
    const gauge = new FixedWindow(spec, "k", clockOf(0, 0));
    const tickets = Array.from({ length: 10 }, () => gauge.begin(1, 500));
    for (const ticket of tickets) gauge.end(ticket, 500, 600, undefined, true);
    expect(gauge.blockedUntil(1, 999, all)).toBe(1_000);
    expect(gauge.blockedUntil(1, 1_000, all)).toBe(undefined);
  });

  it("a call that may land in two windows needs room in both", () => {
    const gauge = new FixedWindow(spec, "k", clockOf(-50, 50));
    const tickets = Array.from({ length: 10 }, () => gauge.begin(1, 1_060));
    for (const ticket of tickets) gauge.end(ticket, 1_060, 1_100, undefined, true);
    // At 1 960 the next window may have begun, at 2 040 the old one may still run.
    expect(gauge.blockedUntil(1, 1_960, all)).toBe(2_050);
    expect(gauge.blockedUntil(1, 2_040, all)).toBe(2_050);
    expect(gauge.blockedUntil(1, 2_050, all)).toBe(undefined);
  });

  it.each([
    [{ window: 1, units: 850 }, true, []],
    [{ window: 1, units: 400 }, true, ["continued"]],
    [{ window: 0, units: 850 }, true, ["continued"]],
    [{ window: 1, units: 850 }, false, ["continued"]],
    [undefined, true, ["continued"]],
  ])(
    "first counts of 900 and 905 after 600 of the window before, while others hold %o: divided %s, misread %j",
    (held, divided, misread) => {
      const told: string[] = [];
      const gauge = userMinute((_, what) => told.push(what));
      gauge.divided = divided;
      gauge.heldElsewhere = held;
      // It stood still from second 20 of one minute to second 40 of the next.
      gauge.end(gauge.begin(5, 20_000), 20_000, 20_010, 600, true);
      gauge.end(gauge.begin(5, 100_000), 100_000, 100_010, 900, true);
      gauge.end(gauge.begin(5, 100_020), 100_020, 100_030, 905, true);
      expect(told.map((what) => what.match(/continued/)?.[0])).toEqual(misread);
      // Where a window runs on nobody knows its number.
      expect(gauge.spanAt(100_030)).toEqual(misread.length === 0 ? { first: 1, last: 1 } : undefined);
    },
  );

  it.each([
    ["500, while other engines of the group hold the rest", 500, { window: 1, units: 700 }, 1_200],
    ["500, of which others hold next to nothing", 500, { window: 1, units: 50 }, 500],
    ["500, of which they held the rest a minute ago", 500, { window: 0, units: 700 }, 500],
    ["1,150, which one that the store has not heard yet may have used up", 1_150, { window: 1, units: 20 }, 1_200],
  ])("a refusal at %s, of 1,200 of a divided window leaves a limit of the right size", (_, used, held, capacity) => {
    const gauge = userMinute();
    gauge.divided = true;
    // A count that fell proves where minutes begin.
    gauge.end(gauge.begin(5, 59_000), 59_000, 59_010, 600, true);
    gauge.end(gauge.begin(5, 60_100), 60_100, 60_110, 5, true);
    gauge.end(gauge.begin(5, 80_000), 80_000, 80_010, used, true);
    gauge.heldElsewhere = held;
    gauge.learnRefusal(80_100, 80_110);
    expect(gauge.capacity).toBe(capacity);
  });

  it("a limit that was learned is gone beyond in a window's last moments, but never what is stated", () => {
    const gauge = userMinute();
    gauge.end(gauge.begin(5, 59_000), 59_000, 59_010, 600, true);
    gauge.end(gauge.begin(5, 60_100), 60_100, 60_110, 5, true);
    gauge.end(gauge.begin(5, 80_000), 80_000, 80_010, 500, true);
    expect(gauge.learnRefusal(80_100, 80_110)).toBe(true);
    gauge.end(gauge.begin(5, 120_100), 120_100, 120_110, 5, true);
    gauge.end(gauge.begin(5, 130_000), 130_000, 130_010, 1_160, true);
    const until = (units: number, at: number): number | undefined =>
      gauge.blockedUntil(units, at, () => gauge.capacity);
    expect([gauge.capacity, until(40, 176_000), until(40, 177_500), until(41, 177_500)]).toEqual([
      1_160,
      177_000,
      undefined,
      180_000,
    ]);
  });

  it("above half of a limit that was learned no two calls leave at one instant, and what is refused there is no other layer's doing", () => {
    const gauge = userMinute();
    gauge.end(gauge.begin(600, 59_000), 59_000, 59_010, 600, true);
    gauge.end(gauge.begin(5, 60_100), 60_100, 60_110, 5, true);
    gauge.end(gauge.begin(895, 80_000), 80_000, 80_010, 900, true);
    expect([gauge.isRisky(10, 80_100), gauge.learnRefusal(80_100, 80_110)]).toEqual([false, true]);
    gauge.end(gauge.begin(5, 180_100), 180_100, 180_110, 440, true);
    const all = (): number => gauge.capacity;
    expect([gauge.capacity, gauge.room(238_000, all), gauge.isRisky(10, 238_000)]).toEqual([900, 10, false]);
    gauge.end(gauge.begin(20, 238_000), 238_000, 238_010, 460, true);
    expect([gauge.room(238_020, all), gauge.blockedUntil(10, 238_020, all)]).toEqual([0, undefined]);
    gauge.begin(10, 238_020);
    expect([gauge.room(238_020, all), gauge.isRisky(10, 238_020)]).toEqual([-10, true]);
  });

  it.each([
    [
      "nearly to its limit leave one after the other, as fast as would spend it in a quarter of the time",
      1_080,
      false,
      0,
      [20, Number.POSITIVE_INFINITY],
    ],
    ["to less of it leave together", 1_079, false, 790, [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]],
    ["by several engines, too", 1_080, true, 790, [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]],
  ])("ordinary calls after a minute that was spent %s", (_, used, divided, room, paces) => {
    const gauge = userMinute();
    gauge.divided = divided;
    // Ten units a call, on average of thirty-two of which the others weighed nothing.
    gauge.end(gauge.begin(320, 59_960), 59_960, 59_970, used, true);
    gauge.end(gauge.begin(10, 60_030), 60_030, 60_040, 10, true);
    expect(gauge.room(60_500, () => 800)).toBe(room);
    const ticket = gauge.begin(10, 60_500);
    // A quarter of a minute holds 120 calls, one every 125 ms.
    expect([gauge.paced(60_624), gauge.paced(60_625)]).toEqual(paces);
    gauge.end(ticket, 60_500, 60_530, 20, true);
    expect(gauge.paced(60_530)).toBe(Number.POSITIVE_INFINITY);
  });

  it.each([
    ["is looked at until a count falls", false, "measured"],
    ["is spent evenly if engines divide it", true, "floor"],
  ])("a minute that was refused although it should have begun %s", (_, divided, mode) => {
    const gauge = userMinute();
    gauge.divided = divided;
    gauge.end(gauge.begin(1_195, 30_000), 30_000, 30_010, 1_195, true);
    const ticket = gauge.begin(10, 60_020);
    gauge.end(ticket, 60_020, 60_040, undefined, false);
    gauge.shut(60_040);
    expect([gauge.mode, gauge.spanAt(60_040)]).toEqual([mode, undefined]);
  });

  describe("an answer of two possible windows", () => {
    const usesOf = (used: number | undefined, counted = true, divided = false): [number, number] => {
      const gauge = new FixedWindow(spec, "k", clockOf(0, 0));
      gauge.divided = divided;
      // Three were reported for the old window before the call left.
      for (let i = 1; i <= 3; i++) gauge.end(gauge.begin(1, 100 * i), 100 * i, 100 * i + 10, i, true);
      const ticket = gauge.begin(1, 990);
      gauge.end(ticket, 990, 1_010, used, counted);
      return [gauge.used(999), gauge.used(1_000)];
    };
    it.each([
      ["belongs to the new one when the count fell", 1, [3, 1]],
      ["belongs to the old one when the count exceeds what the new one can hold", 4, [4, 0]],
      ["is charged to both when nothing is told", undefined, [4, 1]],
    ] as const)("%s", (_, used, expected) => {
      expect(usesOf(used)).toEqual(expected);
    });

    it("is charged to both when other engines may have used as much of the new one", () => {
      expect(usesOf(4, true, true)).toEqual([4, 1]);
    });

    it("is charged to both when the call was refused, whose count says nothing about it", () => {
      expect(usesOf(3, false)).toEqual([4, 1]);
    });
  });

  it("a lost call is charged to every window it may have reached", () => {
    const gauge = new FixedWindow(spec, "k", clockOf(0, 0));
    gauge.lose(gauge.begin(1, 500), 2_500);
    expect([500, 1_500, 2_500, 3_500].map((at) => gauge.used(at))).toEqual([1, 1, 1, 0]);
  });

  it("the service's number counts when it is higher", () => {
    const gauge = new FixedWindow(spec, "k", clockOf(0, 0));
    expect(gauge.end(gauge.begin(1, 500), 500, 510, 8, true)).toBe(7);
    expect([gauge.used(600), gauge.foreign(600)]).toEqual([8, 7]);
    expect(gauge.blockedUntil(3, 600, all)).toBe(1_000);
    expect(gauge.blockedUntil(2, 600, all)).toBe(undefined);
  });

  it("shut, it opens when the next window has surely begun, later when there is a ban", () => {
    const plain = new FixedWindow(spec, "k", clockOf(-50, 50));
    expect(plain.shut(1_500)).toBe(2_050);
    expect([plain.blockedUntil(1, 2_049, all), plain.blockedUntil(1, 2_050, all)]).toEqual([2_050, undefined]);
    const banned = new FixedWindow({ ...spec, banMs: 2_500 }, "k", clockOf(0, 0));
    expect(banned.shut(1_500)).toBe(5_000);
  });

  it("a count that did not rise proves a boundary; the answer to a refused call proves nothing", () => {
    const boundaries: Heard[] = [];
    const gauge = new FixedWindow(spec, "k", clockOf(-500, 500, boundaries));
    gauge.end(gauge.begin(1, 100), 100, 120, 5, true);
    gauge.end(gauge.begin(1, 200), 200, 220, 6, true);
    expect(boundaries).toEqual([]);
    gauge.end(gauge.begin(1, 300), 300, 320, 6, false);
    expect(boundaries).toEqual([]);
    gauge.end(gauge.begin(1, 400), 400, 420, 1, true);
    expect(boundaries).toEqual([{ afterAt: 200, byAt: 420 }]);
  });

  it("an overtaken answer proves no boundary", () => {
    const boundaries: Heard[] = [];
    const gauge = new FixedWindow(spec, "k", clockOf(-500, 500, boundaries));
    const early = gauge.begin(1, 100);
    gauge.end(gauge.begin(1, 110), 110, 120, 2, true);
    // Sent before the other's answer was in: it may simply have landed first.
    gauge.end(early, 100, 130, 1, true);
    expect(boundaries).toEqual([]);
  });

  it("a reset keeps what is in flight", () => {
    const gauge = new FixedWindow(spec, "k", clockOf(0, 0));
    gauge.end(gauge.begin(4, 100), 100, 110, 4, true);
    gauge.begin(3, 200);
    gauge.reset();
    expect([gauge.used(300), gauge.open]).toEqual([3, 3]);
  });

  it("before the service's time is known it blocks only what no window can hold", () => {
    const gauge = new FixedWindow(spec, "k", { ...clockOf(0, 0), known: false });
    expect(gauge.blockedUntil(10, 0, all)).toBe(undefined);
    expect(gauge.blockedUntil(11, 0, all)).toBe(1_000);
  });
});

/** Two services that do not use the calendar, each a few lines that share nothing with the gauge. */
const meters = {
  sliding: (capacity: number) => {
    const landed: number[] = [];
    return (at: number): boolean => {
      landed.push(at);
      return landed.filter((other) => other > at - 1_000).length <= capacity;
    };
  },
  first_request: (capacity: number) => {
    let beganAt = Number.NEGATIVE_INFINITY;
    let used = 0;
    return (at: number): boolean => {
      if (at >= beganAt + 1_000) {
        beganAt = at;
        used = 0;
      }
      used++;
      return used <= capacity;
    };
  },
};

describe("A rolling limit window:", () => {
  it.each(Object.entries(meters))("no call that fits is refused by a %s meter, whatever the latency", (_, meter) => {
    fc.assert(
      fc.property(
        fc.nat(),
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom(5, 300, 2_500),
        (seed, capacity, slowest) => {
          const random = createRandom(seed);
          const gauge: LimitWindow = new RollingWindow({ ...spec, capacity, anchor: "sliding" }, "k");
          const judge = meter(capacity);
          const events: { at: number; run: () => void }[] = [];
          let granted = 0;
          let refused = 0;
          let now = 0;
          const until = (limit: number): void => {
            for (;;) {
              events.sort((a, b) => a.at - b.at);
              if (events.length === 0 || (events[0]?.at ?? 0) > limit) break;
              const event = events.shift();
              now = event?.at ?? now;
              event?.run();
            }
            now = limit;
          };
          for (let i = 0; i < 150; i++) {
            const blocked = gauge.blockedUntil(1, now, () => capacity);
            if (blocked === undefined) {
              const sentAt = now;
              const ticket = gauge.begin(1, sentAt);
              granted++;
              const lands = sentAt + slowest * random.next();
              const answers = lands + slowest * random.next();
              events.push({
                at: lands,
                run: () => {
                  if (!judge(lands)) refused++;
                },
              });
              const lost = random.next() < 0.1;
              events.push({
                at: answers,
                run: () => (lost ? gauge.lose(ticket, now) : gauge.end(ticket, sentAt, now, undefined, true)),
              });
              if (random.next() < 0.3) until(now + 200 * random.next());
            } else {
              expect(blocked).toBeGreaterThan(now);
              until(Math.min(blocked, events[0]?.at ?? blocked));
            }
          }
          expect(refused).toBe(0);
          expect(granted).toBeGreaterThan(20);
        },
      ),
      { seed: 3, numRuns: 60 },
    );
  });

  it("a unit comes back one window after its answer, and a lost one after its loss", () => {
    const gauge: LimitWindow = new RollingWindow({ ...spec, capacity: 2, anchor: "sliding" }, "k");
    const two = (): number => 2;
    gauge.end(gauge.begin(1, 0), 0, 30, undefined, true);
    gauge.lose(gauge.begin(1, 0), 500);
    expect([
      gauge.blockedUntil(1, 600, two),
      gauge.blockedUntil(1, 1_030, two),
      gauge.blockedUntil(2, 1_030, two),
    ]).toEqual([1_030, undefined, 1_500]);
  });

  it("shut, it stays shut for a window and the ban", () => {
    const gauge: LimitWindow = new RollingWindow({ ...spec, anchor: "first_request", banMs: 500 }, "k");
    expect(gauge.shut(100)).toBe(1_600);
    expect([gauge.blockedUntil(1, 1_599, all), gauge.blockedUntil(1, 1_600, all)]).toEqual([1_600, undefined]);
  });
});
