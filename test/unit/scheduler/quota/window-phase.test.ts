/** Where windows begin: the calendar's guess, what falls prove, and what happens when the two disagree. */
import { describe, expect, it } from "vitest";
import type { ServerClock } from "../../../../src/scheduler/quota/server-clock.ts";
import { WindowPhase } from "../../../../src/scheduler/quota/window-phase.ts";
import { unasked } from "../../../support/harness/fixed-clock.ts";

const minute = 60_000;

const stage = (lo = -150, hi = 150) => {
  const bounds = { lo, hi, known: true, conflicts: 0 };
  let revision = 0;
  const calendar: ServerClock = {
    bounds: (at) => ({ at, lo: bounds.lo, hi: bounds.hi }),
    near: unasked,
    far: unasked,
    lo: () => bounds.lo,
    hi: () => bounds.hi,
    get known() {
      return bounds.known;
    },
    observeDate: () => undefined,
    observeBoundary: () => false,
    forget: () => undefined,
    get conflicts() {
      return bounds.conflicts;
    },
    // Bounds are set at will: what was said before does not hold.
    get revision() {
      return ++revision;
    },
  };
  return { bounds, phase: new WindowPhase(minute, calendar) };
};

describe("The phase of windows", () => {
  it("is the calendar's until a count fell", () => {
    const { phase } = stage();
    expect([phase.first(60_100), phase.last(60_100), phase.begins(1, 0), phase.widthMs(0), phase.proofs]).toEqual([0, 1, 60_150, 300, 0]);
    expect(phase.proves(1, 60_200)).toBe(false);
  });

  it("is narrowed by a fall that agrees with the calendar, and no further than either says", () => {
    const { phase } = stage();
    expect(phase.fell(59_950, 60_020, 0, 0)).toBe(true);
    expect([phase.lo(60_020), phase.proofs]).toEqual([-20, 1]);
    expect(phase.hi(60_020)).toBeCloseTo(50 + 0.07 * 0.65, 6);
    // Our clock may run a little fast or slow.
    expect(phase.lo(120_020)).toBeCloseTo(-20 - 39, 6);
    expect(phase.hi(180_020)).toBeCloseTo(50 + 78 + 0.0455, 6);
    expect(phase.hi(600_000)).toBe(150);
  });

  it("is the counts' where they contradict the calendar, under the next number", () => {
    const { phase } = stage();
    expect(phase.fell(36_900, 37_100, 0, 0)).toBe(false);
    expect([phase.first(37_100), phase.last(37_099), phase.first(37_099 - 300)]).toEqual([1, 1, 0]);
    // The calendar's minute begins nothing any more.
    expect([phase.first(60_500), phase.last(60_500), phase.first(97_500)]).toEqual([1, 1, 2]);
    expect([phase.proofs, phase.proves(1, 37_101), phase.proves(2, 37_101)]).toEqual([1, true, false]);
  });

  it("has no use for a calendar that contradicts itself", () => {
    const { bounds, phase } = stage();
    phase.fell(59_900, 60_100, 0, 0);
    bounds.lo = bounds.hi = 0;
    expect(phase.lo(60_100)).toBe(0);
    bounds.conflicts = 1;
    expect(phase.lo(60_100)).toBe(-100);
  });

  it("is proved by the calendar's own success, after four windows", () => {
    const { phase } = stage(-1_000, 1_000);
    for (let index = 1; index <= 4; index++) {
      expect(phase.proves(index, index * minute)).toBe(false);
      // Several falls of one window are one success.
      for (const late of [0, 5]) phase.fell(index * minute - 600, index * minute + 600 + late, index - 1, index - 1);
    }
    expect([phase.proofs, phase.proves(5, 5 * minute)]).toEqual([4, true]);
  });

  it("takes neither of two beginnings that can be meant", () => {
    const { phase } = stage(-40_000, 59_500);
    expect(phase.fell(60_000, 61_000, 0, 1)).toBe(true);
    expect([phase.proofs, phase.lo(61_000), phase.hi(61_000)]).toEqual([0, -40_000, 59_500]);
    expect(phase.fell(60_000, 61_000, 0, 0)).toBe(true);
    expect(phase.lo(61_000)).toBe(-1_000);
  });

  it("says nothing of a fall across nearly a window", () => {
    const { phase } = stage();
    expect(phase.fell(20_000, 74_000, 0, 0)).toBe(true);
    expect(phase.proofs).toBe(0);
    phase.fell(20_001, 74_000, 0, 0);
    expect(phase.proofs).toBe(1);
  });
});

describe("A window that runs on", () => {
  it("has one number until a count falls, and begins to be known then", () => {
    const { phase } = stage();
    phase.runOn(7, 10_000);
    expect([phase.first(500_000), phase.last(500_000), phase.widthMs(0), phase.begins(8, 0)]).toEqual([7, 7, 0, 70_000]);
    expect(phase.fell(30_000, 30_200, 7, 7)).toBe(true);
    expect([phase.openEnded, phase.first(30_200), phase.last(29_999), phase.first(90_300)]).toEqual([undefined, 8, 7, 9]);
  });

  it("runs on under the next number where the fall may have been any time", () => {
    const { phase } = stage();
    phase.runOn(7, 10_000);
    phase.fell(30_000, 84_000, 7, 7);
    expect(phase.openEnded).toEqual({ index: 8, since: 84_000 });
  });

  it("is forgotten with everything else when our clock is disturbed", () => {
    const { bounds, phase } = stage();
    phase.runOn(7, 10_000);
    phase.forget();
    expect([phase.first(0), phase.lo(0), phase.known]).toEqual([-1, -150, true]);
    bounds.known = false;
    expect([phase.known, phase.first(500_000), phase.last(500_000)]).toEqual([false, 0, 0]);
  });
});
