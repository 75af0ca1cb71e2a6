/** Counts from before their own call: how many say so, and how many deny it. */
import { describe, expect, it } from "vitest";
import { CountLag, StaleCounts } from "../../../../src/scheduler/quota/count-lag.ts";
import type { LayerSpec } from "../../../../src/scheduler/quota/layers.ts";

const spec: LayerSpec = { name: "key", scope: "key", unit: "requests", capacity: 10, windowMs: 1_000, anchor: "wall_clock", banMs: 0 };

describe("A lag of counts", () => {
  it("is found after four windows that lack one call, though others look right by chance", () => {
    const lag = new CountLag();
    for (const told of [7, 7, 8, 7]) lag.observe(8, told);
    expect(lag.lagging).toBe(false);
    lag.observe(8, 7);
    expect(lag.lagging).toBe(false);
    lag.observe(8, 7);
    expect([lag.lagging, lag.turns]).toEqual([true, 1]);
  });

  it("is denied by sixteen windows in a row that count all", () => {
    const lag = new CountLag();
    for (let i = 0; i < 4; i++) lag.observe(8, 7);
    for (let i = 0; i < 15; i++) lag.observe(8, 8);
    lag.observe(8, 7);
    for (let i = 0; i < 15; i++) lag.observe(8, 8);
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

describe("Windows with stale counts", () => {
  const lagAfter = (given: Partial<LayerSpec>, unheard: number): boolean => {
    const lag = new CountLag();
    const stale = new StaleCounts(lag, { ...spec, ...given });
    for (let window = 0; window < 4; window++) {
      stale.note(window, 1);
      stale.note(window, 1);
      stale.observe(window, { settled: 8, reported: 7, unheard });
    }
    return lag.lagging;
  };
  it.each([
    ["tell of a lag when every answer was told or stale", {}, 2, true],
    ["tell nothing when an answer is missing", {}, 3, false],
    ["tell nothing where weight is counted", { unit: "weight" }, 2, false],
    ["tell nothing where they are long", { windowMs: 10_000 }, 2, false],
  ] as const)("%s", (_, given, unheard, lags) => {
    expect(lagAfter(given, unheard)).toBe(lags);
  });
});
