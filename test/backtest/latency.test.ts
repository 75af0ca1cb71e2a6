import { describe, expect, it } from "vitest";
import { constant, lognormal } from "../../src/index.ts";
import { createRandom } from "../../src/random.ts";

const draws = (make: ReturnType<typeof lognormal>, seed: number, count = 4_001): number[] => {
  const latency = make.make(createRandom(seed));
  return Array.from({ length: count }, () => latency.entryMs());
};

describe("latency models", () => {
  it("constant is the same way every time, the feed's its own", () => {
    const latency = constant(25, { feedMs: 3 }).make(createRandom(1));
    expect([latency.entryMs(), latency.responseMs(), latency.feedMs()]).toEqual([25, 25, 3]);
    expect(constant(25).make(createRandom(1)).feedMs()).toBe(25);
  });

  it("lognormal has the median it says, a long tail, and stays within its bounds", () => {
    const values = draws(lognormal({ medianMs: 25, minMs: 12, maxMs: 60 }), 1).sort((a, b) => a - b);
    expect(values[2_000]).toBeGreaterThan(24);
    expect(values[2_000]).toBeLessThan(26);
    expect(values[0]).toBe(12);
    expect(values[4_000]).toBe(60);
  });

  it("draws the same from the same seed, other from another, in whole microseconds", () => {
    const model = lognormal({ medianMs: 25 });
    expect(draws(model, 1, 20)).toEqual(draws(model, 1, 20));
    expect(draws(model, 1, 20)).not.toEqual(draws(model, 2, 20));
    for (const value of draws(model, 1, 200)) expect(value * 1_000).toBeCloseTo(Math.round(value * 1_000), 6);
  });

  it("draws each way apart: more requests do not change the feed", () => {
    const one = lognormal({ medianMs: 25 }).make(createRandom(1));
    const two = lognormal({ medianMs: 25 }).make(createRandom(1));
    for (let index = 0; index < 10; index++) one.entryMs();
    expect(one.feedMs()).toBe(two.feedMs());
  });
});
