/** When a short window yields less than its floor, in units and waits worked out by hand. */
import { describe, expect, it } from "vitest";
import { YieldWatch } from "../../../../src/scheduler/quota/yield-watch.ts";

/** What happens in the sixty seconds of one comparison. */
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

  it("is not poor if they wait for less than half of the time, whatever is spent", () => {
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
    // A slot of the floor is taken for 1.5 s: six units in a second, and nine tenths of 360 in a minute.
    expect([isPoor(323, 100, 600), isPoor(324, 100, 600)]).toEqual([true, false]);
    // A long way that does not vary takes nothing.
    expect([isPoor(485, 600, 600), isPoor(486, 600, 600)]).toEqual([true, false]);
  });
});
