/** How the bench's service counts a layer otherwise than by windows of its clock. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../../src/random.ts";
import { type Count, type Counting, createCount } from "./counting.ts";

const count = (counting: Counting, windowMs = 60_000): Count =>
  createCount(counting, { limit: 1200, windowMs, fromMs: 0 }, createRandom(2));

describe("A layer of the bench's service", () => {
  it("empties every other window late", () => {
    const minute = count({ kind: "late-in-turn", ms: 3_000 });
    minute.add(59_000, 100);
    expect([60_000, 62_999, 63_000, 119_999].map((at) => minute.used(at))).toEqual([100, 100, 0, 0]);
    minute.add(119_999, 100);
    expect(minute.used(120_000)).toBe(0);
  });

  it("begins a window with the first call after the last one has ended", () => {
    const minute = count({ kind: "first-call" });
    minute.add(10_000, 100);
    expect([69_999, 70_000].map((at) => minute.used(at))).toEqual([100, 0]);
    minute.add(95_000, 200);
    expect(minute.block(100_000)).toBe(55_000);
    expect([154_999, 155_000].map((at) => minute.blocked(at))).toEqual([true, false]);
    expect(minute.used(155_000)).toBe(0);
  });

  it("weighs the window before by its share of the last minute", () => {
    const minute = count({ kind: "weighed" });
    minute.add(0, 1_000);
    expect([59_999, 60_000, 75_000, 90_000, 119_000, 120_000].map((at) => minute.used(at))).toEqual([
      1000, 1000, 750, 500, 17, 0,
    ]);
    minute.add(130_000, 100);
    expect(minute.used(130_000)).toBe(100);
  });

  it("holds more or less than the limit in a bucket", () => {
    const large = count({ kind: "bucket", holds: 2_400 });
    expect(large.used(0)).toBe(-1_200);
    large.add(0, 2_400);
    expect([0, 30_000].map((at) => large.used(at))).toEqual([1_200, 600]);
    const small = count({ kind: "bucket", holds: 20 });
    small.add(0, 20);
    expect([0, 50].map((at) => small.used(at))).toEqual([1_200, 1_199]);
  });

  it("forgets its count at random, and never counts more than a window does", () => {
    const minute = count({ kind: "forgetful", everyMs: 10_000 });
    const used = Array.from({ length: 600 }, (_, second) => {
      minute.add(second * 1_000, 1);
      return minute.used(second * 1_000);
    });
    expect(used.filter((units, second) => second % 60 !== 0 && units < (used[second - 1] ?? 0)).length).toBeGreaterThan(
      20,
    );
    for (let second = 0; second < 600; second += 60) expect(used[second]).toBeLessThanOrEqual(1);
    expect(Math.min(...used)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...used)).toBeLessThan(60);
  });

  it("keeps its window when the clock is set back", () => {
    const minute = count({ kind: "stretched", times: 1 });
    minute.add(60_500, 100);
    expect([59_000, 60_500, 119_999, 120_000].map((at) => minute.used(at))).toEqual([100, 100, 100, 0]);
  });
});
