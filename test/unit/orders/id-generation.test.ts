/** Numbers of client order ids: never twice, by whatever run. */
import { describe, expect, it } from "vitest";
import { generations, IdGeneration } from "../../../src/orders/client-order-id.ts";

const start = 1_700_000_000_000;
const half = (start / 500) % generations;

/** The next number of a run that began `afterMs` later and was shown `seen` of previous ones. */
const nextOf = (afterMs: number, ...seen: readonly number[]): number => {
  const generation = new IdGeneration(start + afterMs);
  for (const used of seen) generation.seen(used);
  return generation.next();
};

describe("The generation of an id", () => {
  it("counts half seconds of the calendar, and one more each time", () => {
    const generation = new IdGeneration(start + 1_499);
    expect([generation.next(), generation.next(), generation.next()]).toEqual([half + 2, half + 3, half + 4]);
  });

  it("stays where what was seen is far behind, or its own", () => {
    expect(nextOf(0, half - 101)).toBe(half);
    const generation = new IdGeneration(start);
    expect([generation.next(), generation.next()]).toEqual([half, half + 1]);
    generation.seen(half + 1);
    generation.seen(half);
    expect(generation.next()).toBe(half + 2);
  });

  it.each([
    ["just before ours: the run may have used ours next", half - 1],
    ["a hundred before ours", half - 100],
    ["ours", half],
    ["long after ours, as after the calendar was set back", half + 7_200],
  ])("goes on after a previous run's, by as many as may be unseen: %s", (_, seen) => {
    expect(nextOf(0, seen)).toBeGreaterThanOrEqual(seen + 101);
    expect(nextOf(0, seen)).toBeLessThanOrEqual(seen + 1 + 32 * 100);
  });

  it("does not repeat a hundred of a run that was shown the same and left nothing to be seen", () => {
    const seen = half + 7_200;
    const firsts = Array.from({ length: 32 }, (_, second) => nextOf(second * 1_000, seen)).sort((a, b) => a - b);
    for (let index = 1; index < firsts.length; index++) {
      expect((firsts[index] as number) - (firsts[index - 1] as number)).toBeGreaterThanOrEqual(100);
    }
  });
});
