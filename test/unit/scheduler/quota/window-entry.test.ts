/** Entry of a window that only the calendar says has begun, in instants and counts worked out by hand. */
import { describe, expect, it } from "vitest";
import { CountDoubt } from "../../../../src/scheduler/quota/count-doubt.ts";
import { HeardCounts } from "../../../../src/scheduler/quota/heard-counts.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import { WindowEntry } from "../../../../src/scheduler/quota/window-entry.ts";
import { WindowPhase } from "../../../../src/scheduler/quota/window-phase.ts";
import { WindowUsage } from "../../../../src/scheduler/quota/window-usage.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

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
  const phase = new WindowPhase(windowMs, fixedClock(0, 0));
  const heard = new HeardCounts();
  const usage = new WindowUsage();
  const doubt = new CountDoubt(10);
  if (told > 0) heard.hear(7_880, 7_900, told, 7, 7);
  return { phase, heard, usage, doubt, entry: new WindowEntry({ spec: spec(windowMs), phase, heard, usage, doubt }) };
};

/** One call of `units` went ahead into window 8 at `at`. */
const entered = (of: ReturnType<typeof stage>, at: number, units = 1) => {
  of.entry.noteBegun(8, at);
  of.usage.begin(8, units);
  return of;
};

describe("A window that the calendar says has begun", () => {
  it("is unproved for as long as its length after the last count of the one before", () => {
    const { entry } = stage();
    expect([8_001, 8_899, 8_900].map((at) => entry.isUnproved(8, at))).toEqual([true, true, false]);
  });

  it("is not in question where no count was told, nor when its own was", () => {
    expect(stage({ told: 0 }).entry.isUnproved(8, 8_001)).toBe(false);
    const { entry } = stage();
    expect([6, 7, 9].map((index) => entry.isUnproved(index, 8_001))).toEqual([false, false, true]);
  });

  it("is proved by beginnings that counts have told as well", () => {
    const { entry, phase } = stage();
    expect(phase.fell(6_990, 7_010, 6, 6)).toBe(true);
    expect(entry.isUnproved(8, 8_015)).toBe(false);
  });

  it("is open to the first call, whatever the one before told", () => {
    expect(stage({ told: 10 }).entry.blockedUntil(8, 10, 8_001)).toBeUndefined();
  });

  it("is open to more calls as long as the one before could hold them as well", () => {
    const { entry } = entered(stage({ told: 6 }), 8_001);
    expect([1, 3, 4].map((units) => entry.blockedUntil(8, units, 8_002))).toEqual([undefined, undefined, 9_002]);
  });

  it("lets the others wait for the first one's answer, a second at most", () => {
    const { entry } = entered(stage({ told: 10 }), 8_001);
    // Window 8 stays in question as long as 7 goes on telling counts.
    const at = (now: number) => {
      const of = entered(stage({ told: 10 }), 8_001);
      of.heard.hear(8_500, 8_700, 10, 7, 7);
      return of.entry.blockedUntil(8, 1, now);
    };
    expect(entry.blockedUntil(8, 1, 8_899)).toBe(9_899);
    expect([at(9_000), at(9_001)]).toEqual([10_000, undefined]);
  });

  it("is asked for again after its length where that is less than a second, else after a second", () => {
    const short = entered(stage({ windowMs: 400, told: 10 }), 7_950);
    expect(short.entry.blockedUntil(8, 1, 8_000)).toBe(8_400);
    const long = entered(stage({ windowMs: 60_000, told: 10 }), 7_950);
    expect(long.entry.blockedUntil(8, 1, 8_000)).toBe(9_000);
  });

  it("holds nobody up once nothing of it is under way", () => {
    const { entry, usage } = entered(stage({ told: 10 }), 8_001);
    usage.end(8, 8, 8, 1, true);
    expect(entry.blockedUntil(8, 1, 8_100)).toBeUndefined();
  });

  it("was not entered by a call that left when nothing was in question", () => {
    const of = stage({ told: 10 });
    // A length after the last count nothing is.
    entered(of, 8_950);
    of.heard.hear(8_930, 8_960, 10, 7, 7);
    expect(of.entry.isUnproved(8, 8_970)).toBe(true);
    expect(of.entry.blockedUntil(8, 1, 8_970)).toBeUndefined();
  });
});

describe("A window whose first count went on from the one before", () => {
  /** Window 8 told 9, where 6 were used of 7 and none of ours in 8. */
  const doubted = () => {
    const of = stage({ told: 6 });
    const told = { window: 8, used: 9, sentAt: 8_010, receivedAt: 8_030, ours: 0 };
    expect(of.doubt.judge(told, { before: of.heard.top, top: of.heard.top, isFirst: true, lags: false })).toBe(
      "doubted",
    );
    return of;
  };

  it("is open to one call, and to the next when that is answered or a second has passed", () => {
    const { doubt, entry } = doubted();
    expect(entry.blockedUntil(8, 1, 8_040)).toBeUndefined();
    doubt.noteBegun(8_040);
    expect([8_041, 9_039, 9_040].map((at) => entry.blockedUntil(8, 1, at))).toEqual([9_041, 10_039, undefined]);
    doubt.noteEnded(8_040);
    expect(entry.blockedUntil(8, 1, 8_100)).toBeUndefined();
  });

  it("is not doubted any more in the window after it", () => {
    const { doubt, entry } = doubted();
    doubt.noteBegun(8_040);
    expect([entry.blockedUntil(9, 1, 9_001), doubt.current]).toEqual([undefined, undefined]);
  });
});
