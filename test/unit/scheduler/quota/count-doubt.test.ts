/** Doubt about a first count that goes on from the window before: when it comes up, and what ends it. Of a capacity of 100. */
import { describe, expect, it } from "vitest";
import type { Told } from "../../../../src/scheduler/quota/count-evidence.ts";
import { lagging, type Stage, stage, user } from "../../../support/harness/evidence.ts";

/** Window 7 was told 40, unless `before` is another. */
const staged = (before: number | undefined = 7): Stage => {
  const of = stage({ ...user, unit: "requests", capacity: 100 });
  if (before !== undefined) of.told(before, 40, 470_000);
  return of;
};
/** The first count of window 8 is 41, read at 510,030. */
const judge = (of: Stage, told: Partial<Told> = {}) =>
  of.evidence.judge({
    window: 8,
    used: 41,
    units: 1,
    sentAt: 510_010,
    receivedAt: 510_030,
    heardTo: 8,
    elsewhere: 0,
    ...told,
  });

describe("A first count", () => {
  it.each<[string, () => Stage, Partial<Told>]>([
    ["it is no more than that of the window before", () => staged(), { used: 40 }],
    ["nothing was told of the window before", () => stage({ ...user, capacity: 100 }), {}],
    ["what was told is of an older window", () => staged(6), {}],
    ["all but a quarter of the capacity is ours", () => staged(), { elsewhere: 16 }],
  ])("is believed where %s", (_, make, told) => {
    const of = make();
    expect([judge(of, told), of.evidence.isDoubting]).toEqual(["told", false]);
  });

  it("is doubted where it goes on from the window before, by more than a quarter of the capacity that is not ours", () => {
    const of = staged();
    expect([judge(of, { elsewhere: 15 }), of.evidence.isDoubting]).toEqual(["stale", true]);
  });
});

describe("A count in doubt", () => {
  const doubted = (of = staged()): Stage => {
    judge(of);
    return of;
  };

  it("is confirmed by a call that left once it was read and goes on as well", () => {
    const of = doubted();
    expect([judge(of, { used: 42, sentAt: 510_030, receivedAt: 510_050 }), of.evidence.isDoubting]).toEqual([
      "runs on",
      false,
    ]);
  });

  it("is not confirmed by one that left before", () => {
    const of = doubted();
    expect([judge(of, { used: 44, sentAt: 510_029, receivedAt: 510_050 }), of.evidence.isDoubting]).toEqual([
      "stale",
      true,
    ]);
  });

  it("is taken back by one that is no higher and does not go on", () => {
    const of = doubted();
    expect([judge(of, { used: 40, sentAt: 510_040 }), of.evidence.isDoubting]).toEqual(["told", false]);
  });

  it("takes three looks where counts lag, each after the one before was read", () => {
    const of = doubted(lagging(staged()));
    const look = (used: number, sentAt: number) => judge(of, { used, sentAt, receivedAt: sentAt + 20 });
    expect([look(42, 510_040), look(43, 510_070), look(44, 510_100)]).toEqual(["stale", "stale", "runs on"]);
  });

  it("says nothing of the window after it, whose own count is judged for itself", () => {
    const of = doubted();
    expect(of.evidence.entersAt(9, 1, 550_000)).toBeUndefined();
    expect(of.evidence.isDoubting).toBe(false);
  });

  it("lets one call leave at a time, for a second, of those into its window", () => {
    const of = doubted();
    const waits = (at: number): boolean => of.evidence.entersAt(8, 1, at) !== undefined;
    expect(waits(510_040)).toBe(false);
    of.evidence.noteBegun(8, 510_040);
    expect([waits(510_041), waits(511_039), waits(511_040)]).toEqual([true, true, false]);
    // A call that left before the doubt came up is over: the one that looks is not.
    of.evidence.noteEnded(510_029);
    expect(waits(510_041)).toBe(true);
    of.evidence.noteEnded(510_030);
    expect(waits(510_041)).toBe(false);
  });

  it("is forgotten with the call that looks", () => {
    const of = doubted();
    of.evidence.noteBegun(8, 510_040);
    of.evidence.forget();
    expect([of.evidence.isDoubting, of.evidence.entersAt(8, 1, 510_041)]).toEqual([false, undefined]);
  });
});

describe("A count that fell where no window can have begun", () => {
  const before = { sentAt: 509_900, receivedAt: 509_950, used: 40, first: 8, last: 8, beforeAt: 509_000 };
  const fell = (of: Stage, used: number, sentAt: number) =>
    of.evidence.learnBoundary(before, sentAt, sentAt + 20, used);

  it("changes nothing before a call that left after its answer is told as much, or a little more", () => {
    const of = staged();
    expect([fell(of, 10, 510_000), of.phase.proofs]).toEqual(["doubtful", 0]);
    // It left before the first was answered.
    expect(fell(of, 10, 510_019)).toBe("doubtful");
    expect([fell(of, 36, 510_100), fell(of, 37, 510_200), of.phase.proofs]).toEqual(["doubtful", "moved", 1]);
  });

  it("is doubtful, too, where a window begins that is still full", () => {
    const full = (used: number, held: number, missing = 0) => {
      const of = stage({ ...user, capacity: 100 }, { lo: 0, hi: 60_000 });
      of.usage.missing = missing;
      return of.evidence.learnBoundary({ ...before, used: held }, 510_000, 510_020, used);
    };
    expect([full(80, 95), full(50, 60), full(60, 90)]).toEqual(["shallow", "begins", "begins"]);
    // The missing part of the capacity is in every count: it does not make a window full.
    expect([full(80, 95, 29), full(80, 95, 30)]).toEqual(["shallow", "begins"]);
  });
});
