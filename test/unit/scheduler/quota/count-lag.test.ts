/** Counts from before their own call: how many say so, and how many deny it. */
import { describe, expect, it } from "vitest";
import { CountLag, StaleCounts } from "../../../../src/scheduler/quota/count-lag.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";

const spec: LayerSpec = {
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
  anchor: "wall_clock",
  banMs: 0,
};

describe("A lag of counts", () => {
  it("is found after four windows that lack one call, though others look right by chance", () => {
    const lag = new CountLag();
    for (const told of [7, 7, 8, 7]) lag.observe(8, told);
    expect(lag.lagging).toBe(false);
    lag.observe(8, 7);
    expect(lag.lagging).toBe(false);
    expect(lag.lagging).toBe(false);
    lag.observe(8, 7);
    expect([lag.lagging, lag.turns]).toEqual([true, 1]);
  });

  it("is denied by eight windows in a row that count all", () => {
    const lag = new CountLag();
    for (let i = 0; i < 4; i++) lag.observe(8, 7);
    for (let i = 0; i < 7; i++) lag.observe(8, 8);
    lag.observe(8, 7);
    for (let i = 0; i < 7; i++) lag.observe(8, 8);
    expect(lag.lagging).toBe(true);
    lag.observe(8, 8);
    expect([lag.lagging, lag.turns]).toEqual([false, 2]);
  });

  it("is not told by single calls, nor by what others used", () => {
    const lag = new CountLag();
    for (let i = 0; i < 20; i++) {
      lag.observe(1, 0);
      lag.observe(3, 5);
      lag.observe(5, 3);
    }
    expect(lag.turns).toBe(0);
  });
});

describe("A call by itself, longer than a window after others", () => {
  /** Bursts of so many calls every two seconds: what each answer told. */
  const lagAfter = (...bursts: readonly (readonly (number | undefined)[])[]): CountLag => {
    const lag = new CountLag();
    const stale = new StaleCounts(lag, spec);
    let begun = 0;
    for (const [index, counts] of bursts.entries()) {
      begun += counts.length;
      for (const [nth, used] of counts.entries())
        stale.hear(index * 2_000, index * 2_000 + 30 + nth, used, begun, counts.length - nth - 1);
    }
    return lag;
  };
  const burst = [1, 1, 2, 3];

  it("shows a lag where it is told the count of the burst before it, twice", () => {
    expect(lagAfter([1], burst, [4]).lagging).toBe(false);
    expect(lagAfter([1], burst, [4], burst, [4]).lagging).toBe(true);
    expect(lagAfter([1], [3, 1, 2, 1], [4], [1, 1], [2]).lagging).toBe(true);
  });

  it("denies what was shown before where it is told one", () => {
    expect(lagAfter(burst, [4], burst, [1], burst, [4]).lagging).toBe(false);
    expect(lagAfter(burst, [4], burst, [1], burst, [4], burst, [4]).lagging).toBe(true);
  });

  it.each([
    ["others are told as much, as where the limit is lower than stated", [6, 7, 8, 9, 10, 6], [6]],
    ["the burst fell into two windows", burst, [3]],
    ["others use the key, or it had calls before the burst", burst, [5]],
    ["there was none before it", [1], [1]],
    ["it was not counted", burst, [undefined]],
    ["one of the burst was not counted", [1, 1, undefined, 3], [4]],
    ["it was not by itself", burst, [4, 1]],
  ])("says nothing where %s", (_, run, told) => {
    expect(lagAfter(run, told, run, told, run, told, run, told, run, told).turns).toBe(0);
  });

  it("says nothing where it came within a window's length", () => {
    const lag = new CountLag();
    const stale = new StaleCounts(lag, spec);
    for (let round = 1; round < 9; round++) {
      for (let nth = 3; nth >= 0; nth--) stale.hear(round * 4_000, round * 4_000 + 30, 3 - nth, round * 5 - 1, nth);
      stale.hear(round * 4_000 + 1_030, round * 4_000 + 1_060, 4, round * 5, 0);
    }
    expect(lag.turns).toBe(0);
  });
});

describe("Windows with stale counts", () => {
  const lagAfter = (given: Partial<LayerSpec>, unheard: number): boolean => {
    const lag = new CountLag();
    const stale = new StaleCounts(lag, { ...spec, ...given });
    for (let window = 0; window < 5; window++) {
      stale.note(window, 1);
      stale.note(window, 1);
      stale.observe(window, { settled: 8, reported: 7, unheard });
    }
    return lag.lagging;
  };
  it("are one observation each, by their last counts", () => {
    const lag = new CountLag();
    const stale = new StaleCounts(lag, spec);
    // A call that landed in the window before makes every count of this one look late.
    for (let landed = 2; landed <= 8; landed++) stale.observe(1, { settled: landed, reported: landed - 1, unheard: 0 });
    expect(lag.turns).toBe(0);
    for (let window = 2; window <= 4; window++) stale.observe(window, { settled: 8, reported: 7, unheard: 0 });
    expect(lag.turns).toBe(0);
    stale.observe(5, { settled: 8, reported: 8, unheard: 0 });
    expect(lag.turns).toBe(1);
  });

  it.each([
    ["tell of a lag when every answer was told or stale", {}, 2, true],
    ["tell nothing when an answer is missing", {}, 3, false],
    ["tell nothing where weight is counted", { unit: "weight" }, 2, false],
    ["tell nothing where they are long", { windowMs: 10_000 }, 2, false],
  ] as const)("%s", (_, given, unheard, lags) => {
    expect(lagAfter(given, unheard)).toBe(lags);
  });
});
