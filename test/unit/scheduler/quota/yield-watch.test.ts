/** Short windows that yield less than their floor, in units and waits worked out by hand, and the time that they then spend there. */
import { describe, expect, it } from "vitest";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import { Floor, type OnMode } from "../../../../src/scheduler/quota/floor.ts";
import { YieldWatch } from "../../../../src/scheduler/quota/yield-watch.ts";
import { second as key, user } from "../../../support/harness/evidence.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

/** Sixty seconds of one comparison. */
interface Minute {
  readonly waitedMs?: number;
  readonly spent: number;
}

/** A floor of this yields 540 units in a minute without a way; nine tenths are 486. */
const capacity = 9;

/** Results of the comparisons that follow each other, each with its minute. */
const compared = (minutes: readonly Minute[], trips = { low: 0, slow: 0 }): readonly boolean[] => {
  const watch = new YieldWatch(1_000, trips);
  watch.isPoor(0, 0, capacity);
  let at = 0;
  let begun = 0;
  return minutes.map(({ waitedMs = 60_000, spent }) => {
    watch.noteWaiting(at, at + waitedMs);
    at += 60_000;
    begun += spent;
    return watch.isPoor(at, begun, capacity);
  });
};
const times = (count: number, minute: Minute): readonly Minute[] => Array.from({ length: count }, () => minute);

describe("A window that calls wait for", () => {
  it("is poor after four comparisons in a row with less than nine tenths of what its floor yields", () => {
    expect(compared(times(5, { spent: 485 }))).toEqual([false, false, false, true, true]);
    expect(compared(times(5, { spent: 486 }))).toEqual([false, false, false, false, false]);
  });

  it("is poor four comparisons after the last one that was not", () => {
    const row = [...times(3, { spent: 400 }), { spent: 500 }, ...times(4, { spent: 400 })];
    expect(compared(row)).toEqual([...Array.from({ length: 7 }, () => false), true]);
  });

  it("is compared once in sixty windows, with all that was spent since the last time", () => {
    const watch = new YieldWatch(1_000, { low: 0, slow: 0 });
    const isPoor = (at: number, begun: number): boolean => {
      watch.noteWaiting(0, at);
      return watch.isPoor(at, begun, capacity);
    };
    // The first call is no comparison, because nothing is known of the time before.
    expect([0, 60_000, 120_000, 180_000].map((at) => isPoor(at, at / 1_000))).toEqual([false, false, false, false]);
    expect([isPoor(239_999, 240), isPoor(240_000, 240)]).toEqual([false, true]);
    // In ninety windows nine tenths of the floor are 729 units.
    expect([isPoor(299_999, 500), isPoor(330_000, 240 + 728), isPoor(420_000, 968 + 729)]).toEqual([
      false,
      true,
      false,
    ]);
  });

  it("is not poor if they wait for less than half of the time, even if nothing is spent", () => {
    expect(compared(times(4, { waitedMs: 30_000, spent: 0 })).at(-1)).toBe(true);
    expect(compared(times(4, { waitedMs: 29_999, spent: 0 })).at(-1)).toBe(false);
    expect(compared(times(4, { waitedMs: 0, spent: 0 })).at(-1)).toBe(false);
  });

  it("is compared for the time in which they wait", () => {
    // In half a minute nine tenths of the floor are 243 units.
    expect(compared(times(4, { waitedMs: 30_000, spent: 242 })).at(-1)).toBe(true);
    expect(compared(times(4, { waitedMs: 30_000, spent: 243 })).at(-1)).toBe(false);
  });

  it("is waited for once while several wait, and not for the time of earlier comparisons", () => {
    const waited = (...waits: readonly (readonly [number, number])[]): boolean => {
      const watch = new YieldWatch(1_000, { low: 0, slow: 0 });
      watch.isPoor(0, 0, capacity);
      let isPoor = false;
      for (let from = 0; from < 240_000; from += 60_000) {
        for (const [at, until] of waits) watch.noteWaiting(from + at, from + until);
        isPoor = watch.isPoor(from + 60_000, 0, capacity);
      }
      return isPoor;
    };
    expect([waited([0, 20_000], [10_000, 30_000]), waited([0, 20_000], [10_000, 29_999])]).toEqual([true, false]);
    expect([waited([0, 30_000], [5_000, 10_000]), waited([0, 20_000], [50_000, 60_000])]).toEqual([true, true]);
    const once = new YieldWatch(1_000, { low: 0, slow: 0 });
    once.isPoor(0, 0, capacity);
    once.noteWaiting(0, 60_000);
    expect([60_000, 120_000, 180_000, 240_000].map((at) => once.isPoor(at, 0, capacity)).at(-1)).toBe(false);
  });

  it("is compared with a floor that yields less where some answers take longer than others", () => {
    const isPoor = (spent: number, low: number, slow: number): boolean | undefined =>
      compared(times(4, { spent }), { low, slow }).at(-1);
    // A call uses the floor for 1.5 s: it yields six units in a second, and nine tenths of 360 in a minute.
    expect([isPoor(323, 100, 600), isPoor(324, 100, 600)]).toEqual([true, false]);
    // A long way that does not vary takes nothing.
    expect([isPoor(485, 600, 600), isPoor(486, 600, 600)]).toEqual([true, false]);
  });
});

describe("A window that yields less than its floor", () => {
  /** Returns for the end of each minute, while a call waits all the time, whether the floor is better. */
  const better = (floor: Floor, ends: readonly number[], spent: number, missing = 0, doubted = false): boolean[] =>
    ends.map((end) => {
      floor.noteWaiting(0, end);
      if (doubted) floor.doubt(end - 1, end - 1);
      return floor.isBetter(end, (spent * end) / 60_000, 10, missing);
    });
  const minutes = (from: number, count: number): readonly number[] =>
    Array.from({ length: count }, (_, index) => 60_000 * (from + index));

  it("falls to it after four minutes, and keeps it for twelve", () => {
    const floor = new Floor(key);
    expect(better(floor, minutes(0, 5), 485)).toEqual([false, false, false, false, true]);
    floor.enter(240_000, 10);
    expect([floor.mayLeave(959_999), floor.mayLeave(960_000)]).toEqual([false, true]);
  });

  it("is compared with the floor that it would fall to, however much the last one was cut", () => {
    const floor = new Floor(key);
    floor.enter(0, 10);
    for (let second = 1; second < 20; second++) floor.refused(second * 1_000);
    floor.leave(30_000);
    expect([floor.spending.capacity, better(floor, minutes(1, 5), 485).at(-1)]).toEqual([1, true]);
  });

  it("is not found if it is a long one", () => {
    expect(better(new Floor(user), minutes(0, 301), 0)).not.toContain(true);
  });

  it("yields less by what is missing according to its counts, unless one was doubted lately", () => {
    // Of the five units that are there, the floor spends four in a second.
    expect(better(new Floor(key), minutes(0, 5), 215, 5).at(-1)).toBe(true);
    expect(better(new Floor(key), minutes(0, 5), 216, 5).at(-1)).toBe(false);
    expect(better(new Floor(key), minutes(0, 5), 485, 5, true).at(-1)).toBe(true);
    expect(better(new Floor(key), minutes(0, 5), 486, 5, true).at(-1)).toBe(false);
  });

  it("keeps it four times as long when it yields less again within fifteen minutes, an hour at most", () => {
    const floor = new Floor(key);
    const kept = (minute: number): number => {
      const at = 60_000 * minute;
      expect(better(floor, minutes(minute - 4, 5), 0).at(-1)).toBe(true);
      floor.enter(at, 10);
      const ms = floor.neededMs(at);
      floor.leave(at + ms);
      return ms / 60_000;
    };
    expect([kept(4), kept(4 + 12 + 14), kept(30 + 48 + 1), kept(79 + 60 + 14), kept(153 + 60 + 15)]).toEqual([
      12, 48, 60, 60, 12,
    ]);
  });

  it("is not found on the floor, and four minutes after it was left at the earliest", () => {
    const floor = new Floor(key);
    better(floor, minutes(0, 4), 0);
    floor.enter(180_000, 10);
    expect(better(floor, minutes(4, 10), 0)).not.toContain(true);
    expect([floor.neededMs(840_000), floor.mayLeave(840_000)]).toEqual([0, true]);
    floor.leave(840_000);
    expect(better(floor, minutes(14, 5), 0)).toEqual([false, false, false, false, true]);
  });

  it("falls with its next answer, unless engines divide it", () => {
    const fallsTo = (slow: number, divided = false): readonly [string, readonly string[]] => {
      const told: string[] = [];
      const options = { onMode: ({ why }: Parameters<OnMode>[0]) => told.push(why), trips: { low: 100, slow } };
      const gauge = new FixedWindow(key, "k", fixedClock(0, 0), undefined, options);
      gauge.divided = divided;
      for (let at = 0; at <= 300_000; at += 200) {
        gauge.floor.noteWaiting(at, at + 200);
        gauge.end(gauge.begin(1, at), at, at + 10, 1 + ((at / 200) % 5), true);
      }
      return [gauge.mode, told];
    };
    // Five units in a second, where the floor yields six.
    expect(fallsTo(600)).toEqual(["floor", ["less was spent than on the floor"]]);
    expect(fallsTo(600, true)).toEqual(["measured", []]);
    // It yields three if some answers take 1.8 s longer than others.
    expect(fallsTo(1_900)).toEqual(["measured", []]);
  });
});
