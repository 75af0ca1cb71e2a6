import { describe, expect, it } from "vitest";
import { selectionBiasOf } from "../../../plugins/sweep/selection-bias.ts";

describe("The selection bias of the best run", () => {
  // Means of the largest of n standard normal draws, from tables of order statistics.
  it.each([
    [2, 0.564],
    [10, 1.539],
    [100, 2.508],
    [1_000, 3.241],
  ])("of %i draws is near %f spreads", (count, expected) => {
    const draws = Array.from({ length: count }, (_, index) => (index % 2 === 0 ? 1 : -1));
    const { mean = 0, spread = 0, bestByChance = 0 } = selectionBiasOf(draws, "more") ?? {};
    expect(Math.abs((bestByChance - mean) / spread - expected)).toBeLessThan(0.06);
  });

  it("is none for a single trial, and unknown for none", () => {
    expect(selectionBiasOf([5], "more")).toEqual({
      trials: 1,
      best: 5,
      median: 5,
      mean: 5,
      spread: 0,
      bestByChance: 5,
    });
    expect(selectionBiasOf([], "more")).toBeUndefined();
  });

  it("lies on the side that is better", () => {
    const [more, less] = [selectionBiasOf([1, 2, 3, 4], "more"), selectionBiasOf([1, 2, 3, 4], "less")];
    expect(more).toMatchObject({ trials: 4, best: 4, median: 2.5, mean: 2.5, spread: 1.291 });
    expect(less).toMatchObject({ best: 1 });
    expect((more?.bestByChance ?? 0) - 2.5).toBeCloseTo(2.5 - (less?.bestByChance ?? 0), 3);
  });
});
