/** Numbers of client order ids: never twice, by whatever run. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { generations, IdGeneration } from "../../../src/orders/client-order-id.ts";

const start = 1_700_000_000_000;
const half = (start / 500) % generations;

/** The next number of a run that began `afterMs` later and was shown `seen` of previous ones. */
const nextOf = (afterMs: number, ...seen: readonly number[]): number => {
  const generation = new IdGeneration(createVirtualClock(start + afterMs));
  for (const used of seen) generation.seen(used);
  return generation.next();
};

describe("The generation of an id", () => {
  it("counts half seconds of the calendar, and one more each time", () => {
    const generation = new IdGeneration(createVirtualClock(start + 1_499));
    expect([generation.next(), generation.next(), generation.next()]).toEqual([half + 2, half + 3, half + 4]);
  });

  it("stays where what was seen is far behind, or its own", () => {
    expect(nextOf(0, half - 101)).toBe(half);
    const generation = new IdGeneration(createVirtualClock(start));
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
    expect(nextOf(0, seen)).toBeLessThanOrEqual(seen + 1 + 132 * 100);
    expect(nextOf(0, seen, seen - 1, seen - 50)).toBe(nextOf(0, seen));
  });

  it("goes on after the latest of what was seen before its first order, and knows its own again", () => {
    const generation = new IdGeneration(createVirtualClock(start));
    const before = generation.next();
    generation.seen(half + 500);
    generation.seen(half + 7_200);
    const after = generation.next();
    expect(after).toBeGreaterThan(half + 7_300);
    expect([before, after, after + 1, half + 500, half + 7_200].map((used) => generation.isGiven(used))).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
    expect(generation.latest).toBe(half + 7_200);
  });

  it.each([
    ["long after the calendar", half + 7_200],
    ["which the calendar passes within the minute", half],
    ["just before the calendar", half - 100],
  ])(
    "does not repeat a hundred of another run of that minute that left nothing to be seen, after one %s",
    (_, seen) => {
      const runs = Array.from({ length: 120 }, (_, index) => ({
        calendar: half + index,
        first: nextOf(index * 500, seen),
      }));
      const continued = runs.filter(({ calendar, first }) => first !== calendar);
      expect(continued.length).toBeGreaterThan(0);
      for (const one of continued) {
        const others = runs.filter((other) => other !== one).map(({ first }) => Math.abs(first - one.first));
        expect(Math.min(...others)).toBeGreaterThanOrEqual(100);
      }
    },
  );

  it("does not repeat those of a run that waited with its first order, whenever the next run began", () => {
    // The waiting times make up whole turns of whatever distance depends on the start alone.
    for (const waitedMs of [32_000, 64_000, 3_200_000]) {
      const clock = createVirtualClock(start);
      const waiting = new IdGeneration(clock);
      waiting.seen(half + 7_200);
      clock.advanceTo(start + waitedMs - 2_000);
      const unseen = waiting.next();
      expect(Math.abs(nextOf(waitedMs, half + 7_200) - unseen)).toBeGreaterThanOrEqual(100);
    }
  });
});
