/** Where windows begin: the calendar's guess, what falls prove, and what happens when the two disagree. */
import { describe, expect, it } from "vitest";
import { createServerClock, type ServerClock } from "../../../../src/scheduler/quota/server-clock.ts";
import { WindowLength } from "../../../../src/scheduler/quota/window-length.ts";
import { WindowPhase } from "../../../../src/scheduler/quota/window-phase.ts";
import { fixedClock, unasked } from "../../../support/harness/fixed-clock.ts";

const minute = 60_000;

/** Minutes of the stated length, unless it may be wrong by `lengthError`. */
const stage = (lo = -150, hi = 150, lengthError = 0) => {
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
  return { bounds, phase: new WindowPhase(minute, calendar, new WindowLength(minute, lengthError)) };
};

describe("The phase of windows", () => {
  it("is the calendar's until a count fell", () => {
    const { phase } = stage();
    expect([phase.first(60_100), phase.last(60_100), phase.begins(1, 0), phase.widthMs(0), phase.proofs]).toEqual([
      0, 1, 60_150, 300, 0,
    ]);
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

  it("is the calendar's again when falls are so old that they leave nine tenths of a window open", () => {
    const { phase } = stage();
    // Contradicts the calendar, which is not used any more.
    phase.fell(36_900, 37_100, 0, 0);
    const lostAt = 37_100 + (0.45 * minute - 100) / 0.65e-3;
    expect([phase.widthMs(lostAt - 1_000) > 53_900, phase.widthMs(lostAt + 1_000)]).toEqual([true, 300]);
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
    expect([phase.proofs, phase.openEnded]).toEqual([0, undefined]);
    phase.fell(20_001, 74_000, 0, 0);
    expect(phase.proofs).toBe(1);
  });
});

describe("A window that runs on", () => {
  it("has one number until a count falls, and begins to be known then", () => {
    const { phase } = stage();
    phase.runOn(7, 10_000);
    expect([phase.first(500_000), phase.last(500_000), phase.widthMs(0), phase.begins(8, 0)]).toEqual([
      7, 7, 0, 70_000,
    ]);
    expect(phase.fell(30_000, 30_200, 7, 7)).toBe(true);
    expect([phase.openEnded, phase.first(30_200), phase.last(29_999), phase.first(90_300)]).toEqual([
      undefined,
      8,
      7,
      9,
    ]);
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
    expect([phase.first(0), phase.lo(0), phase.isKnown(0)]).toEqual([-1, -150, true]);
    bounds.known = false;
    expect([phase.isKnown(500_000), phase.first(500_000), phase.last(500_000)]).toEqual([false, 0, 0]);
  });
});

describe("A fall that agrees with those before it", () => {
  /** The minute began between 59,950 and 60,020: the phase is -20 to 50, and 0.0455 for the drift between the two. */
  const fallen = () => {
    const { phase } = stage();
    phase.fell(59_950, 60_020, 0, 0);
    return phase;
  };

  it("narrows both bounds to its own where these are closer, and their drift begins anew", () => {
    const phase = fallen();
    expect(phase.fell(119_990, 120_010, 1, 1)).toBe(true);
    expect(phase.lo(120_010)).toBe(-10);
    expect(phase.hi(120_010)).toBeCloseTo(10.013, 6);
    expect([phase.lo(130_010), phase.lo(110_010)]).toEqual([-16.5, -16.5]);
    expect(phase.hi(130_010)).toBeCloseTo(16.513, 6);
  });

  it("leaves what was known where that is closer, as far as it may have drifted since", () => {
    const phase = fallen();
    expect(phase.fell(119_800, 120_200, 1, 1)).toBe(true);
    // 60,180 ms of 650 parts per million are 39.117.
    expect(phase.lo(120_200)).toBeCloseTo(-59.117, 6);
    expect(phase.hi(120_200)).toBeCloseTo(50.0455 + 39.117, 6);
  });

  it("may touch what was known in a single point", () => {
    const early = stage(0, 0).phase;
    // What began by 60,000 and after 59,900 begins at a phase of 0 to 100.
    expect([early.fell(59_900, 60_000, 0, 0), early.proofs, early.hi(60_000)]).toEqual([true, 1, 0]);
    const late = stage(0, 0).phase;
    expect([late.fell(60_000, 60_000, 0, 0), late.proofs, late.lo(60_000), late.hi(60_000)]).toEqual([true, 1, 0, 0]);
  });
});

describe("A contradiction of counts and calendar", () => {
  it("is a fall in which no window can have begun: the next begins there, whatever the calendar says", () => {
    const { phase } = stage(0, 0);
    // 1 began at 60,000, and 2 begins at 120,000.
    expect([phase.fell(60_500, 60_600, 0, 1), phase.first(60_600), phase.proofs]).toEqual([false, 2, 1]);
  });

  it("is a calendar that moves away from the counts: it is not trusted any more, even when it comes back", () => {
    const moved = (lo: number, hi: number) => {
      const { bounds, phase } = stage();
      phase.fell(60_000, 60_000, 0, 0);
      Object.assign(bounds, { lo, hi });
      const then = [phase.lo(60_000), phase.hi(60_000)];
      Object.assign(bounds, { lo: -10, hi: 10 });
      return [...then, phase.lo(120_000), phase.hi(120_000)];
    };
    // In a minute the counts' own bounds drift by 39 ms.
    expect([moved(1, 100), moved(-100, -1), moved(0, 100), moved(-100, 0)]).toEqual([
      [0, 0, -39, 39],
      [0, 0, -39, 39],
      [0, 0, -10, 10],
      [0, 0, -10, 10],
    ]);
  });

  it("is forgotten when our clock is disturbed: the calendar is trusted again", () => {
    const { bounds, phase } = stage();
    expect(phase.fell(36_900, 37_100, 0, 0)).toBe(false);
    phase.forget();
    phase.fell(59_950, 60_020, 0, 0);
    Object.assign(bounds, { lo: 0, hi: 10 });
    expect([phase.lo(60_020), phase.hi(60_020)]).toEqual([0, 10]);
  });
});

describe("A scope that goes by its counts alone", () => {
  it("knows where its windows begin though no time was ever told", () => {
    const { bounds, phase } = stage();
    bounds.known = false;
    expect([phase.isKnown(60_500), phase.at(60_500).known]).toEqual([false, false]);
    phase.runOn(0, 10_000);
    expect([phase.isKnown(60_500), phase.at(60_500).known]).toEqual([true, true]);
    phase.fell(60_000, 60_000, 0, 0);
    expect([phase.isKnown(60_500), phase.at(60_500).known]).toEqual([true, true]);
    expect([phase.first(60_500), phase.first(59_500)]).toEqual([1, 0]);
  });

  it("no longer knows it when beginnings may be nearly a window apart, unless the time is told", () => {
    const { bounds, phase } = stage(0, 0, 1 / 150);
    bounds.known = false;
    phase.runOn(0, 10_000);
    phase.fell(60_000, 60_000, 0, 0);
    // A window that may be 1/150 shorter or longer: after 68 windows, both make 0.9 of a window.
    expect([67, 68].map((windows) => phase.isKnown(60_000 + windows * minute))).toEqual([true, false]);
    bounds.known = true;
    expect(phase.isKnown(60_000 + 68 * minute)).toBe(true);
  });

  it("does not narrow what they say by the calendar, after a window ran on", () => {
    const { bounds, phase } = stage();
    phase.runOn(0, 10_000);
    phase.fell(59_950, 60_020, 0, 0);
    Object.assign(bounds, { lo: 0, hi: 10 });
    expect(phase.lo(60_020)).toBe(-20);
    expect(phase.hi(60_020)).toBeCloseTo(50.0455, 6);
  });
});

describe("What falls alone prove", () => {
  it("is every window where they are within a tenth of a second, drift included", () => {
    const phase = stage().phase;
    phase.fell(59_960, 60_040, 0, 0);
    // 80.052 wide; 2 parts of 650 in a million of 15,344 ms make it 100.
    expect([phase.proves(2, 75_300), phase.proves(2, 75_400), phase.proves(2, 44_700)]).toEqual([true, false, true]);
  });

  it("is the window whose beginning their lower bound has passed, where they are wider", () => {
    const phase = stage().phase;
    phase.fell(59_900, 60_100, 0, 0);
    expect([phase.proves(1, 60_099), phase.proves(1, 60_100), phase.proves(1, 60_101)]).toEqual([false, true, true]);
    // A minute later the bound has drifted by 39.
    expect([phase.proves(2, 120_139), phase.proves(2, 120_140)]).toEqual([false, true]);
  });

  it("is nothing before the first, and nothing once a window runs on", () => {
    const { phase } = stage();
    phase.fell(60_000, 60_001, 0, 0);
    expect(phase.proves(2, 120_500)).toBe(true);
    phase.runOn(1, 60_500);
    expect([phase.proves(1, 120_500), phase.proofs]).toEqual([false, 0]);
  });
});

describe("What was asked of an instant", () => {
  it("is answered anew once a fall told where a window begins", () => {
    const phase = new WindowPhase(minute, fixedClock(-150, 150));
    expect([phase.lo(60_020), phase.hi(60_020)]).toEqual([-150, 150]);
    phase.fell(60_020, 60_020, 0, 0);
    expect([phase.lo(60_020), phase.hi(60_020)]).toEqual([-20, -20]);
  });

  it("is answered anew once windows turned out to begin elsewhere", () => {
    const phase = new WindowPhase(minute, fixedClock(0, 0));
    expect(phase.first(37_100)).toBe(0);
    phase.fell(36_900, 37_100, 0, 0);
    expect(phase.first(37_100)).toBe(1);
  });

  it("is answered anew once a window runs on, and once that is forgotten", () => {
    const phase = new WindowPhase(minute, fixedClock(0, 0));
    expect([phase.first(60_500), phase.endsAt(60_500)]).toEqual([1, 120_000]);
    phase.runOn(0, 60_400);
    expect([phase.first(60_500), phase.endsAt(60_500), phase.widthMs(60_500)]).toEqual([0, 120_400, 0]);
    phase.forget();
    expect([phase.first(60_500), phase.endsAt(60_500)]).toEqual([1, 120_000]);
  });

  it("is answered anew once the calendar learned, and not by what it knows of another instant", () => {
    const clock = createServerClock({ driftPpm: 1_000, dateSlackMs: 0 });
    const phase = new WindowPhase(minute, clock);
    expect([phase.isKnown(500_000), phase.first(500_000), phase.endsAt(70_000)]).toEqual([false, 0, 70_000]);
    clock.observeDate(10_000, 10_000, 10_000);
    // A second wide, and one more to either side for each thousand that pass.
    const bounds = (at: number) => [phase.lo(at), phase.hi(at)];
    expect([bounds(10_000), bounds(20_000), bounds(40_000), bounds(20_000)]).toEqual([
      [0, 1_000],
      [-10, 1_010],
      [-30, 1_030],
      [-10, 1_010],
    ]);
    expect([phase.widthMs(30_000), phase.widthMs(30_000), phase.endsAt(130_000), phase.endsAt(40_000)]).toEqual([
      1_040, 1_040, 180_120, 60_030,
    ]);
    clock.observeDate(40_000, 40_000, 40_500);
    expect([phase.widthMs(40_000), phase.endsAt(40_000), bounds(40_000)]).toEqual([530, 59_500, [500, 1_030]]);
    clock.observeDate(40_000, 40_000, 40_600);
    expect([phase.endsAt(40_000), phase.widthMs(40_000)]).toEqual([59_400, 430]);
  });
});

describe("The stated length of windows", () => {
  /** Minute 1 began between 59,950 and 60,020. Nothing is proved of the length. */
  const unproved = () => {
    const { phase } = stage(-20_000, 20_000, 1 / 100);
    phase.fell(59_950, 60_020, 0, 0);
    return phase;
  };
  const widthAfter = (phase: WindowPhase, at: number): number => phase.widthMs(at + minute) - phase.widthMs(at);

  it("is not believed of a minute: the next one may begin 400 ms earlier or later", () => {
    const phase = new WindowPhase(minute, fixedClock(-20_000, 20_000));
    phase.fell(59_950, 60_020, 0, 0);
    expect(phase.lo(120_020)).toBeCloseTo(-20 - 400, 6);
    expect(widthAfter(phase, 60_020)).toBeCloseTo(2 * 400, 6);
  });

  it("is believed of a second, but for the drift of our clock", () => {
    const phase = new WindowPhase(1_000, fixedClock(-200, 200));
    phase.fell(950, 1_020, 0, 0);
    expect(phase.lo(2_020)).toBeCloseTo(-20 - 0.65, 6);
  });

  it("is proved by falls far apart, as nearly as these are known", () => {
    const phase = unproved();
    expect(phase.fell(119_950, 120_020, 1, 1)).toBe(true);
    // A minute lasts 59.93 s at least and 60.07 s at most.
    expect(widthAfter(phase, 120_020)).toBeCloseTo(2 * 70, 6);
    expect(phase.fell(6_059_950, 6_060_020, 100, 100)).toBe(true);
    expect(widthAfter(phase, 6_060_020)).toBeCloseTo(2 * 39, 6);
  });

  it("is measured from the fall that is known best", () => {
    const { phase } = stage(-20_000, 20_000, 1 / 100);
    phase.fell(59_750, 60_250, 0, 0);
    phase.fell(119_900, 120_100, 1, 1);
    phase.fell(239_900, 240_100, 3, 3);
    // Two minutes from the second fall are known to 200 ms, three from the first to 350 ms.
    expect(widthAfter(phase, 240_100)).toBeCloseTo((2 * 200) / 2, 6);
  });

  it("is contained in what is assumed of longer windows, which are entered when they have begun", () => {
    const phase = unproved();
    // Windows are longer by 300 ms; each is seen to begin within 70 ms.
    for (let index = 2; index <= 40; index++) {
      const beganAt = index * 60_300 - 300;
      expect(phase.begins(index, beganAt)).toBeGreaterThanOrEqual(beganAt);
      expect(phase.fell(beganAt - 35, beganAt + 35, index - 1, index - 1)).toBe(true);
    }
  });

  it("is doubted of a second once a beginning is later than others allow, so that no later one is entered early", () => {
    const phase = new WindowPhase(1_000, fixedClock(-20_000, 20_000));
    // Windows are longer by 5 ms, and each is seen to begin within 40 ms.
    const beganAt = (index: number): number => index * 1_005;
    const begin = (index: number): boolean =>
      phase.fell(beganAt(index) - 20, beganAt(index) + 20, index - 1, index - 1);
    for (let index = 1; index <= 10; index++) expect(begin(index)).toBe(true);
    // A call that leaves before the next beginning is refused.
    expect(phase.begins(11, beganAt(11))).toBeLessThan(beganAt(11));
    expect(phase.learnLate(11, beganAt(11) - 1)).toBe(true);
    for (let index = 11; index <= 200; index++) {
      expect(phase.begins(index, beganAt(index))).toBeGreaterThanOrEqual(beganAt(index));
      expect(begin(index)).toBe(true);
    }
    // They are known to be longer, so the next beginning is known almost as well as the last.
    expect(phase.widthMs(201_800) - phase.widthMs(201_000)).toBeLessThan(3);
    expect(phase.begins(201, 201_900)).toBeLessThan(beganAt(201) + 60);
    // Ten windows without a count begin 50 ms later.
    expect(phase.begins(210, beganAt(210))).toBeGreaterThanOrEqual(beganAt(210));
  });

  it("is doubted of a second whose beginning after a silence contradicts it by less than its largest error", () => {
    const secondsAfter = (silent: number, lateMs: number): WindowPhase => {
      const phase = new WindowPhase(1_000, fixedClock(-20_000, 20_000));
      phase.fell(980, 1_020, 0, 0);
      const beganAt = (silent + 1) * 1_000 + lateMs;
      expect(phase.fell(beganAt - 20, beganAt + 20, silent, silent)).toBe(false);
      return phase;
    };
    // After 40 silent seconds of 1.005 s the next 40 may be as long.
    const stretched = secondsAfter(40, 200);
    expect(stretched.begins(81, 81_400)).toBeGreaterThanOrEqual(81_400);
    // Seconds that begin half a second later are no longer than before: windows begin elsewhere.
    const moved = secondsAfter(40, 500);
    expect(moved.widthMs(42_520) - moved.widthMs(41_520)).toBeCloseTo(2 * 0.65, 6);
  });

  it("stays proved when the clock was disturbed, and is unproved again after a contradiction", () => {
    const phase = unproved();
    phase.fell(6_059_950, 6_060_020, 100, 100);
    phase.forget();
    phase.fell(6_119_950, 6_120_020, 101, 101);
    expect(widthAfter(phase, 6_120_020)).toBeCloseTo(2 * 39, 6);
    expect(phase.fell(6_150_000, 6_150_070, 102, 102)).toBe(false);
    expect(widthAfter(phase, 6_150_070)).toBeCloseTo(2 * 600, 6);
  });
});
