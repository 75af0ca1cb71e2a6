/** Seeded chance: the same numbers everywhere, forks that do not disturb each other, fair enough shapes. */
import { describe, expect, it } from "vitest";
import { createRandom } from "../../src/random.ts";

const draw = (seed: number | string, count = 5): number[] => {
  const random = createRandom(seed);
  return Array.from({ length: count }, () => random.next());
};

describe("Seeded random numbers:", () => {
  it("the same seed gives the same numbers, another seed others", () => {
    expect(draw(7)).toEqual(draw(7));
    expect(draw("7")).toEqual(draw(7));
    expect(draw(7)).not.toEqual(draw(8));
  });

  it("the numbers are these on every machine", () => {
    expect(draw("sluice", 3).map((value) => Math.round(value * 2 ** 32))).toEqual([776469198, 709264852, 429149233]);
  });

  it("a fork does not depend on how much its parent was used, nor the parent on its forks", () => {
    const fresh = createRandom(1);
    const used = createRandom(1);
    used.next();
    used.normal();
    expect(used.fork("a").next()).toBe(fresh.fork("a").next());
    const untouched = createRandom(2);
    const forked = createRandom(2);
    forked.fork("x").next();
    expect(forked.next()).toBe(untouched.next());
  });

  it("forks of different labels differ, at any depth", () => {
    const random = createRandom(1);
    const values = [random.fork("a"), random.fork("b"), random.fork("a").fork("b"), random.fork("b").fork("a")].map(
      (fork) => fork.next(),
    );
    expect(new Set(values).size).toBe(4);
  });

  it("whole reaches both ends and nothing beyond", () => {
    const random = createRandom(3);
    const seen = new Set(Array.from({ length: 500 }, () => random.whole(-2, 2)));
    expect([...seen].sort((a, b) => a - b)).toEqual([-2, -1, 0, 1, 2]);
    expect(random.whole(5, 5)).toBe(5);
  });

  it.each([
    [1.5, 3],
    [3, 1],
    [0, Number.NaN],
  ])("refuses the range %d..%d", (from, to) => {
    expect(() => createRandom(1).whole(from, to)).toThrow("a range, not");
  });

  it("has about the moments its shapes promise", () => {
    const random = createRandom(4);
    const mean = (next: () => number): number =>
      Array.from({ length: 20_000 }, next).reduce((a, b) => a + b, 0) / 20_000;
    expect(mean(() => random.next())).toBeCloseTo(0.5, 1);
    expect(mean(() => random.normal())).toBeCloseTo(0, 1);
    expect(mean(() => random.normal() ** 2)).toBeCloseTo(1, 1);
    expect(mean(() => random.exponential(3)) / 3).toBeCloseTo(1, 1);
  });
});
