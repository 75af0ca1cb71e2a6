/** The service's time as an interval: never wrong, narrower with evidence, begun anew on contradiction. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../../src/random.ts";
import { createServerClock } from "../../../../src/scheduler/quota/server-clock.ts";

const floorSecond = (at: number): number => Math.floor(at / 1_000) * 1_000;

/** A service `offset` ahead, drifting, whose `Date` is stamped by a clock up to `slack` off the one that counts. */
const world = fc.record({
  seed: fc.nat(),
  offset: fc.integer({ min: -120_000, max: 120_000 }),
  driftPpm: fc.integer({ min: -150, max: 150 }),
  slack: fc.integer({ min: -140, max: 140 }),
  slowest: fc.constantFrom(2, 60, 1_500),
  answers: fc.integer({ min: 1, max: 60 }),
});

describe("The estimate of the server clock:", () => {
  it("always holds the true offset between its bounds", () => {
    fc.assert(
      fc.property(world, ({ seed, offset, driftPpm, slack, slowest, answers }) => {
        const random = createRandom(seed);
        const clock = createServerClock();
        const trueAt = (at: number): number => offset + (at * driftPpm) / 1e6;
        let now = 10_000 + 60_000 * random.next();
        for (let i = 0; i < answers; i++) {
          const sentAt = now;
          const landedAt = sentAt + slowest * random.next();
          const receivedAt = landedAt + slowest * random.next();
          clock.observeDate(sentAt, receivedAt, floorSecond(landedAt + trueAt(landedAt) + slack));
          // A boundary of the counting clock is proven between two instants around it, when one lies there.
          const boundary = Math.ceil((landedAt + trueAt(landedAt)) / 1_000) * 1_000;
          const boundaryAt = landedAt + (boundary - landedAt - trueAt(landedAt)) / (1 + driftPpm / 1e6);
          const [afterAt, byAt] = [boundaryAt - 300 * random.next() - 0.01, boundaryAt + 300 * random.next()];
          if (random.next() < 0.5) clock.observeBoundary(afterAt, byAt, 1_000);
          now = Math.max(receivedAt, byAt) + 5_000 * random.next();
          expect(clock.lo(now)).toBeLessThanOrEqual(trueAt(now));
          expect(clock.hi(now)).toBeGreaterThanOrEqual(trueAt(now));
        }
        expect(clock.conflicts).toBe(0);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  it("narrows to little more than the slack with answers of random phase", () => {
    const clock = createServerClock({ dateSlackMs: 0, driftPpm: 0 });
    const random = createRandom("phase");
    for (let i = 0; i < 300; i++) {
      const at = i * 1_000 + 1_000 * random.next();
      clock.observeDate(at, at + 20, floorSecond(at + 10 + 4_321.5));
    }
    expect(clock.hi(300_000) - clock.lo(300_000)).toBeLessThan(30);
    expect(clock.lo(300_000)).toBeLessThanOrEqual(4_321.5);
    expect(clock.hi(300_000)).toBeGreaterThanOrEqual(4_321.5);
  });

  it("knows nothing before the first answer, and its bounds widen as it ages", () => {
    const clock = createServerClock({ driftPpm: 100, dateSlackMs: 10 });
    expect([clock.known, clock.lo(0), clock.hi(0)]).toEqual([
      false,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    clock.observeDate(1_100, 1_100, 5_000);
    expect([clock.known, clock.lo(1_100), clock.hi(1_100)]).toEqual([true, 3_890, 4_910]);
    expect([clock.lo(11_100), clock.hi(11_100)]).toEqual([3_889, 4_911]);
  });

  it("a contradiction starts over instead of averaging", () => {
    const clock = createServerClock({ driftPpm: 0, dateSlackMs: 0 });
    clock.observeDate(0, 10, 100_000);
    clock.observeDate(5_000, 5_010, 165_000);
    expect([clock.conflicts, clock.lo(5_010), clock.hi(5_010)]).toEqual([1, 159_990, 161_000]);
  });

  it("forgets on demand", () => {
    const clock = createServerClock();
    clock.observeDate(0, 10, 100_000);
    clock.forget();
    expect([clock.known, clock.lo(0)]).toEqual([false, Number.NEGATIVE_INFINITY]);
  });
});

describe("A boundary proven by counters", () => {
  const known = (): ReturnType<typeof createServerClock> => {
    const clock = createServerClock({ driftPpm: 0, dateSlackMs: 100 });
    // Offset 0..400 after two stamps.
    clock.observeDate(0, 0, 0);
    clock.observeDate(10_600, 10_600, 10_000);
    return clock;
  };

  it.each([
    ["is accepted when one boundary alone can be meant", 10_900, 11_050, 1_000, true],
    ["is refused when two boundaries can be meant", 10_090, 11_080, 1_000, false],
    ["is refused when none can be meant", 10_010, 10_020, 60_000, false],
    ["is refused when the instants are a window apart", 10_150, 11_150, 1_000, false],
    ["is accepted when they are less", 10_151, 11_150, 1_000, true],
  ] as const)("%s", (_, afterAt, byAt, windowMs, accepted) => {
    expect(known().observeBoundary(afterAt, byAt, windowMs)).toBe(accepted);
  });

  it("narrows the bounds below the slack of Date", () => {
    const clock = known();
    expect([clock.lo(10_600), clock.hi(10_600)]).toEqual([-100, 500]);
    expect(clock.observeBoundary(10_900, 10_950, 1_000)).toBe(true);
    expect([clock.lo(10_950), clock.hi(10_950)]).toEqual([50, 100]);
  });

  it("holds when the clock drifted between the two instants it lies between", () => {
    const clock = createServerClock({ driftPpm: 150, dateSlackMs: 0 });
    clock.observeDate(0, 0, 0);
    // The boundary is met at 59 900 with an offset of 100, which drifts on to 107.5 by the second instant.
    expect(clock.observeBoundary(59_899, 109_900, 60_000)).toBe(true);
    expect(clock.hi(109_900)).toBeGreaterThanOrEqual(107.5);
  });

  it("is refused before any Date was seen", () => {
    expect(createServerClock().observeBoundary(900, 1_000, 1_000)).toBe(false);
  });
});

describe("The bounds of the server clock", () => {
  type Clock = ReturnType<typeof createServerClock>;
  const boundsOf = (clock: Clock, at: number): readonly number[] =>
    [clock.lo(at), clock.hi(at)].map((ms) => Number(ms.toFixed(6)));
  /** A clock that drifts by a thousandth, and stamps that are exact. */
  const drifting = (): Clock => {
    const clock = createServerClock({ driftPpm: 1_000, dateSlackMs: 0 });
    // Left at 1 000, answered at 2 000; meanwhile the offset may have drifted by one.
    clock.observeDate(1_000, 2_000, 5_000);
    return clock;
  };
  /** Between 50 and 100 by the counters, 0 and 400 by stamps that may be off by a hundred. */
  const counted = (): Clock => {
    const clock = createServerClock({ driftPpm: 0, dateSlackMs: 100 });
    clock.observeDate(0, 0, 0);
    clock.observeDate(10_600, 10_600, 10_000);
    clock.observeBoundary(10_900, 10_950, 1_000);
    return clock;
  };

  it("are a second wide and as much as the answer took, and widen with the distance of the instant asked about", () => {
    const clock = drifting();
    expect([2_000, 12_000, -8_000, 2_000].map((at) => boundsOf(clock, at))).toEqual([
      [3_000, 5_001],
      [2_990, 5_011],
      [2_990, 5_011],
      [3_000, 5_001],
    ]);
  });

  it.each<[string, readonly [number, number, number], readonly number[]]>([
    ["both bounds by a closer stamp", [11_500, 12_000, 15_200], [3_200, 4_700.5]],
    ["the upper one", [12_000, 12_000, 14_500], [2_990, 3_500]],
    ["the lower one", [12_000, 12_000, 16_500], [4_500, 5_011]],
    ["none by a loose one", [5_000, 12_000, 14_500], [2_990, 5_011]],
    ["to a point", [12_000, 12_000, 13_990], [2_990, 2_990]],
  ])("are narrowed: %s", (_, stamp, bounds) => {
    const clock = drifting();
    const at = stamp[1];
    // Asked before, so that what is kept of an instant has to be forgotten.
    expect(boundsOf(clock, at)).toEqual([2_990, 5_011]);
    clock.observeDate(...stamp);
    expect(boundsOf(clock, at)).toEqual(bounds);
    expect(boundsOf(clock, at + 10_000)).toEqual([(bounds[0] ?? 0) - 10, (bounds[1] ?? 0) + 10]);
    expect(clock.conflicts).toBe(0);
  });

  it("a stamp beyond them starts over from it alone", () => {
    const clock = drifting();
    expect(boundsOf(clock, 12_000)).toEqual([2_990, 5_011]);
    clock.observeDate(12_000, 12_000, 13_989);
    expect([clock.conflicts, boundsOf(clock, 12_000)]).toEqual([1, [1_989, 2_989]]);
    clock.observeDate(12_000, 12_000, 15_000);
    expect([clock.conflicts, boundsOf(clock, 12_000)]).toEqual([2, [3_000, 4_000]]);
  });

  it("by counters age as well, and the closer of both counts", () => {
    const clock = createServerClock({ driftPpm: 1_000, dateSlackMs: 0 });
    clock.observeDate(0, 0, 0);
    expect(boundsOf(clock, 59_960)).toEqual([-59.96, 1_059.96]);
    expect(clock.observeBoundary(59_950, 59_960, 60_000)).toBe(true);
    expect([59_960, 69_960, 49_960].map((at) => boundsOf(clock, at))).toEqual([
      [40, 50.01],
      [30, 60.01],
      [30, 60.01],
    ]);
    // Far off what the stamps say is closer.
    const loose = createServerClock({ driftPpm: 1_000, dateSlackMs: 0 });
    loose.observeDate(0, 0, 0);
    expect(loose.observeBoundary(59_899, 109_900, 60_000)).toBe(true);
    expect(boundsOf(loose, 109_900)).toEqual([-109.9, 151.001]);
  });

  it("by counters are narrowed by counters, and begun anew where these contradict each other", () => {
    const clock = counted();
    expect(boundsOf(clock, 12_000)).toEqual([50, 100]);
    clock.observeBoundary(11_920, 12_000, 1_000);
    expect([clock.conflicts, boundsOf(clock, 12_000)]).toEqual([0, [50, 80]]);
    expect(clock.observeBoundary(12_800, 12_900, 1_000)).toBe(true);
    expect([clock.conflicts, boundsOf(clock, 12_000)]).toEqual([1, [100, 200]]);
  });

  it("by counters give way to stamps they contradict, not to such as they just agree with", () => {
    const clock = counted();
    expect(boundsOf(clock, 20_000)).toEqual([50, 100]);
    clock.observeDate(20_000, 20_000, 20_200);
    expect([clock.conflicts, boundsOf(clock, 20_000)]).toEqual([0, [100, 100]]);
    clock.observeDate(20_000, 20_000, 20_201);
    expect([clock.conflicts, boundsOf(clock, 20_000)]).toEqual([1, [101, 500]]);
    // Given up, they do not come back.
    clock.observeDate(20_000, 20_000, 20_202);
    expect([clock.conflicts, boundsOf(clock, 20_000)]).toEqual([1, [102, 500]]);
  });

  it("by counters are given up with the stamps they were named by", () => {
    const clock = counted();
    clock.observeDate(20_000, 20_000, 19_050);
    expect([clock.conflicts, boundsOf(clock, 20_000)]).toEqual([0, [50, 100]]);
    clock.observeDate(20_000, 20_000, 18_900);
    expect([clock.conflicts, boundsOf(clock, 20_000)]).toEqual([1, [-1_200, 0]]);
  });

  it("forgotten, are those of nothing, and what counters said is forgotten with them", () => {
    const clock = counted();
    expect(boundsOf(clock, 20_000)).toEqual([50, 100]);
    clock.forget();
    expect([clock.known, clock.lo(20_000), clock.hi(20_000)]).toEqual([
      false,
      Number.NEGATIVE_INFINITY,
      Number.POSITIVE_INFINITY,
    ]);
    clock.observeDate(20_000, 20_000, 20_000);
    expect([clock.known, ...boundsOf(clock, 20_000)]).toEqual([true, -100, 1_100]);
  });

  it("unless told otherwise allow for stamps off by 150 ms, a drift of 200 ppm, and for a slew of 450 more after five seconds", () => {
    const clock = createServerClock();
    clock.observeDate(0, 0, 0);
    expect([0, 5_000, 105_000, -105_000].map((at) => boundsOf(clock, at))).toEqual([
      [-150, 1_150],
      [-151, 1_151],
      [-216, 1_216],
      [-216, 1_216],
    ]);
  });

  it("hold through a slew of 500 ppm that nobody saw for two minutes", () => {
    const clock = createServerClock();
    const offset = (at: number): number => 300 - at * 0.0005;
    clock.observeDate(0, 0, 0);
    clock.observeDate(690, 690, 0);
    clock.observeBoundary(650, 720, 1_000);
    const then = 120_000;
    expect(clock.lo(then)).toBeLessThanOrEqual(offset(then));
    expect(clock.hi(then)).toBeGreaterThanOrEqual(offset(then));
  });

  it.each([
    // At 20 600 stamps of ten seconds ago may be off by 100 for drift and 100 besides: between -306 and 600.
    ["two boundaries can be meant", 20_306, 20_600, false],
    ["one alone", 20_307, 20_600, true],
    ["one alone", 20_300, 20_399, true],
    ["two can, by the drift", 20_300, 20_403, false],
    // A second before the stamp it may have drifted as well.
    ["one alone, by the drift", 9_400, 9_490, true],
  ] as const)("%s where the clock drifts, between %i and %i: %s", (_, afterAt, byAt, accepted) => {
    const clock = createServerClock({ driftPpm: 10_000, dateSlackMs: 100 });
    clock.observeDate(0, 0, 0);
    clock.observeDate(10_600, 10_600, 10_000);
    expect(clock.observeBoundary(afterAt, byAt, 1_000)).toBe(accepted);
  });
});
