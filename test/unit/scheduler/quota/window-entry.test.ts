/** Entry of a window that only the calendar says has begun, in instants and counts worked out by hand. */
import { describe, expect, it } from "vitest";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import { stage as stageOf } from "../../../support/harness/evidence.ts";

const spec = (windowMs: number): LayerSpec => ({
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs,
  banMs: 0,
  anchor: "wall_clock",
  header: { kind: "remaining", name: "left" },
});

/** Window 7 told a count of 6 at 7,900; the calendar says that 8 begins at 8,000. */
const stage = ({ windowMs = 1_000, told = 6 }: { readonly windowMs?: number; readonly told?: number } = {}) => {
  const of = stageOf(spec(windowMs));
  if (told > 0) of.evidence.hear(7_880, 7_900, told, 7, 7);
  return of;
};

/** One call of `units` went ahead into window 8 at `at`. */
const entered = (of: ReturnType<typeof stage>, at: number, units = 1) => {
  of.evidence.noteBegun(8, at);
  of.usage.begin(8, units);
  return of;
};

describe("A window that the calendar says has begun", () => {
  it("is unproved for as long as its length after the last count of the one before", () => {
    const { evidence } = stage();
    expect([8_001, 8_899, 8_900].map((at) => evidence.isUnproved(8, at))).toEqual([true, true, false]);
  });

  it("is not in question where no count was told, nor when its own was", () => {
    expect(stage({ told: 0 }).evidence.isUnproved(8, 8_001)).toBe(false);
    const { evidence } = stage();
    expect([6, 7, 9].map((index) => evidence.isUnproved(index, 8_001))).toEqual([false, false, true]);
  });

  it("is proved by beginnings that counts have told as well", () => {
    const { evidence, phase } = stage();
    expect(phase.fell(6_990, 7_010, 6, 6)).toBe(true);
    expect(evidence.isUnproved(8, 8_015)).toBe(false);
  });

  it("is open to the first call, whatever the one before told", () => {
    expect(stage({ told: 10 }).evidence.entersAt(8, 10, 8_001)).toBeUndefined();
  });

  it("is open to more calls as long as the one before could hold them as well", () => {
    const { evidence } = entered(stage({ told: 6 }), 8_001);
    expect([1, 3, 4].map((units) => evidence.entersAt(8, units, 8_002))).toEqual([undefined, undefined, 9_002]);
  });

  it("lets the others wait for the first one's answer, a second at most", () => {
    const { evidence } = entered(stage({ told: 10 }), 8_001);
    // Window 8 stays in question as long as 7 goes on telling counts.
    const at = (now: number) => {
      const of = entered(stage({ told: 10 }), 8_001);
      of.evidence.hear(8_500, 8_700, 10, 7, 7);
      return of.evidence.entersAt(8, 1, now);
    };
    expect(evidence.entersAt(8, 1, 8_899)).toBe(9_899);
    expect([at(9_000), at(9_001)]).toEqual([10_000, undefined]);
  });

  it("is asked for again after its length where that is less than a second, else after a second", () => {
    const short = entered(stage({ windowMs: 400, told: 10 }), 7_950);
    expect(short.evidence.entersAt(8, 1, 8_000)).toBe(8_400);
    const long = entered(stage({ windowMs: 60_000, told: 10 }), 7_950);
    expect(long.evidence.entersAt(8, 1, 8_000)).toBe(9_000);
  });

  it("holds nobody up once nothing of it is under way", () => {
    const { evidence, usage } = entered(stage({ told: 10 }), 8_001);
    usage.end(8, 8, 8, 1, true);
    expect(evidence.entersAt(8, 1, 8_100)).toBeUndefined();
  });

  it("was not entered by a call that left when nothing was in question", () => {
    const of = stage({ told: 10 });
    // A length after the last count nothing is.
    entered(of, 8_950);
    of.evidence.hear(8_930, 8_960, 10, 7, 7);
    expect(of.evidence.isUnproved(8, 8_970)).toBe(true);
    expect(of.evidence.entersAt(8, 1, 8_970)).toBeUndefined();
  });
});

describe("A window whose first count went on from the one before", () => {
  /** Window 8 told 9, where 6 were used of 7 and none of ours in 8. */
  const doubted = () => {
    const of = stage({ told: 6 });
    const told = { window: 8, used: 9, units: 1, sentAt: 8_010, receivedAt: 8_030, heardTo: 8, elsewhere: 0 };
    expect([of.evidence.judge(told), of.evidence.isDoubting]).toEqual(["stale", true]);
    return of;
  };

  it("is open to one call, and to the next when that is answered or a second has passed", () => {
    const { evidence } = doubted();
    expect(evidence.entersAt(8, 1, 8_040)).toBeUndefined();
    evidence.noteBegun(8, 8_040);
    expect([8_041, 9_039, 9_040].map((at) => evidence.entersAt(8, 1, at))).toEqual([9_041, 10_039, undefined]);
    evidence.noteEnded(8_040);
    expect(evidence.entersAt(8, 1, 8_100)).toBeUndefined();
  });

  it("is not doubted any more in the window after it", () => {
    const { evidence } = doubted();
    evidence.noteBegun(8, 8_040);
    expect([evidence.entersAt(9, 1, 9_001), evidence.isDoubting]).toEqual([undefined, false]);
  });
});
