/** The service's time as an interval: never wrong, narrower with evidence, begun anew on contradiction. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createServerClock } from "../../src/quota/server-clock.ts";
import { createRandom } from "../../src/random.ts";

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

describe("server clock", () => {
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
    expect([clock.known, clock.lo(0), clock.hi(0)]).toEqual([false, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY]);
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

describe("a boundary proven by counters", () => {
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
    ["is refused when the instants are a window apart", 10_000, 11_000, 1_000, false],
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
