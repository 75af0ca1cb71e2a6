/** Others' use, and what is left free for it, against numbers worked out another way. */
import { describe, expect, it } from "vitest";
import {
  ForeignUsage,
  LateUsage,
  lateMargin,
  othersMargin,
  poissonQuantile,
} from "../../../../src/scheduler/quota/foreign-usage.ts";
import { gaugeOf, minute } from "../../../support/harness/allowance.ts";

/** Each call is `[at, units]`. */
const seen = (...calls: readonly (readonly [number, number])[]) => {
  const use = new ForeignUsage();
  for (const [at, units] of calls) use.observe(at, units);
  return use;
};

describe("The estimated pace of other clients:", () => {
  it.each<[string, readonly (readonly [number, number])[], number]>([
    ["nothing was seen", [], 0],
    ["one look is no pace", [[5_000, 40]], 0],
    [
      "twenty in ten seconds",
      [
        [5_000, 0],
        [15_000, 20],
      ],
      2,
    ],
    // Half the memory is two looks a minute apart: of the first 60 one half is left.
    [
      "what is older weighs less",
      [
        [0, 60],
        [60_000, 30],
      ],
      1,
    ],
    [
      "what is older than the memory weighs nothing",
      [
        [0, 0],
        [10_000, 500],
        [150_000, 14],
      ],
      0.1,
    ],
    [
      "looks that overtook each other take no time",
      [
        [10_000, 0],
        [20_000, 10],
        [15_000, 10],
        [25_000, 0],
      ],
      // Ten seconds lay between the first two, ten between the last two: of 20 units and 10 s eleven twelfths are left.
      (20 * (11 / 12)) / (10 * (11 / 12) + 10),
    ],
  ])("%s", (_, calls, perSecond) => {
    expect(seen(...calls).rate).toBeCloseTo(perSecond, 9);
  });
});

describe("The quota left free for other clients:", () => {
  const looks = (...units: readonly number[]): readonly (readonly [number, number])[] =>
    units.map((unit, index) => [1_000 * index, unit] as const);

  it.each<[string, readonly (readonly [number, number])[], number, number]>([
    ["nothing was seen of them", [[0, 0]], 60_000, 0],
    ["no time is left to them", looks(0, 20), 0, 0],
    ["one of their calls, however short the time", looks(0, 20), 1, 20],
    // Watched for less than ten seconds: 20 units in 10 s are one call; in 60 s six, and 13 with a risk of half a percent.
    ["a flood is not taken from the first call", looks(0, 20), 60_000, 20 * 13],
    ["nor from less than a unit", [...looks(0.4)], 60_000, 0],
    ["a whole unit is enough", [...looks(1)], 1, 1],
    // Watched for twenty seconds: three calls in 60 s, and 8 with that risk.
    [
      "the longer they were watched, the less",
      [
        [0, 0],
        [20_000, 20],
      ],
      60_000,
      20 * 8,
    ],
  ])("%s", (_, calls, ms, units) => {
    expect(seen(...calls).margin(ms, 0.005)).toBeCloseTo(units, 9);
  });

  it("is counted in calls as heavy as the middle one of those seen last, or a little heavier", () => {
    // Sorted 2 5 7 9 30: the third of five.
    expect(seen(...looks(0, 5, 30, 0, 2, 9, 7)).margin(1, 1)).toBe(7);
    // Single numbers are not sorted as words are.
    expect(seen(...looks(100, 20, 9)).margin(1, 1)).toBe(20);
    // Thirty-one are remembered, of which it is the eighteenth: one more heavy one, and the first light one is forgotten.
    const many = (units: number, count: number): number[] => Array.from({ length: count }, () => units);
    expect(seen(...looks(...many(3, 18), ...many(50, 13))).margin(1, 1)).toBe(3);
    expect(seen(...looks(...many(3, 18), ...many(50, 14))).margin(1, 1)).toBe(50);
    expect(seen(...looks(...many(50, 40), ...many(3, 31))).margin(1, 1)).toBe(3);
  });

  it("is never counted in calls of more than fifty: what is seen at once beyond that was several", () => {
    expect(seen([0, 0], [10_000, 279]).margin(1, 1)).toBe(50);
    // Eleven minutes later, when all but one unit are forgotten, no more is left free for one of them.
    expect(seen([0, 0], [10_000, 279], [670_000, 2]).margin(1, 1)).toBeLessThanOrEqual(50);
  });

  it("a refusal makes room for one more of their calls, fading over minutes and never for more than two", () => {
    const use = seen([0, 10]);
    const calls = (): number => use.margin(1, 1) / 10;
    expect(calls()).toBe(1);
    use.surprised(0);
    expect(calls()).toBe(2);
    use.observe(600_000, 10);
    expect(calls()).toBeCloseTo(1 + Math.exp(-1), 9);
    use.surprised(600_000);
    expect(calls()).toBeCloseTo(2 + Math.exp(-1), 9);
    use.surprised(600_000);
    expect(calls()).toBe(3);
    use.observe(1_200_000, 10);
    expect(calls()).toBeCloseTo(1 + 2 * Math.exp(-1), 9);
    // A look from before the refusal does not make it greater.
    use.surprised(1_300_000);
    expect(calls()).toBeCloseTo(2 + 2 * Math.exp(-7 / 6), 9);
  });
});

describe("The Poisson quantile", () => {
  /** The same by logarithms, adding up from the far end. */
  const exceeds = (mean: number, count: number): number => {
    let sum = 0;
    for (let more = count + 400; more > count; more--) {
      let log = -mean;
      for (let factor = 1; factor <= more; factor++) log += Math.log(mean / factor);
      sum += Math.exp(log);
    }
    return sum;
  };

  it.each([0.02, 0.5, 1, 3.7, 12, 40, 60])(
    "of a mean of %f is the smallest count exceeded as rarely as that",
    (mean) => {
      for (const risk of [0.3, 0.05, 0.005, 0.0001]) {
        const count = poissonQuantile(mean, risk);
        expect(exceeds(mean, count)).toBeLessThanOrEqual(risk);
        if (count > 0) expect(exceeds(mean, count - 1)).toBeGreaterThan(risk);
      }
    },
  );

  it("of nothing is nothing, and one that cannot be exceeded so rarely is bounded", () => {
    expect(poissonQuantile(0, 0.005)).toBe(0);
    expect(poissonQuantile(2, -1)).toBe(200);
    // A risk that is met to the last bit is met.
    expect(poissonQuantile(1, 1 - Math.exp(-1))).toBe(0);
  });

  it("of a great mean is three deviations above it", () => {
    expect([poissonQuantile(64, 0.5), poissonQuantile(100, 0.005), poissonQuantile(61, 0.5)]).toEqual([88, 130, 85]);
    // Up to sixty it is exact.
    expect(poissonQuantile(60, 0.5)).toBe(60);
  });
});

describe("What is left of a window to others", () => {
  const gauge = gaugeOf(minute);
  /** Seen a minute long: so many calls of five. */
  const others = (calls: number) => ({
    foreign: seen([0, 0], ...Array.from({ length: calls }, () => [60_000, 5] as const)),
    heardAt: 60_000,
  });

  it("is what they are likely to use of its last moments, however much they use", () => {
    const busy = others(81);
    // 0.54 of their calls are expected in 400 ms, and more than two come in one case of fifty.
    expect(busy.foreign.margin(400, 0.02)).toBe(10);
    expect([600, 599, 360, 120, 60, 0].map((remMs) => othersMargin(busy, gauge, 10, 60_000, remMs))).toEqual([
      20, 15, 10, 5, 5, 0,
    ]);
  });

  it("is what they use on average where that is a third at most", () => {
    expect([599, 360, 60].map((remMs) => othersMargin(others(80), gauge, 10, 60_000, remMs))).toEqual([15, 10, 5]);
  });
});

describe("What is left to others' exits", () => {
  /** Of a window nearly full since 0: a call of fifteen each ten seconds, from the third second to the 63rd. */
  const exits = (): LateUsage => {
    const late = new LateUsage();
    late.observe(0, 500, 0.8);
    late.observe(2_999, 200, 0.9);
    late.observe(3_000, 100, 0.9);
    for (let call = 1; call <= 6; call++) late.observe(3_000 + 10_000 * call, 15, 0.95);
    return late;
  };
  const refused = (...instants: readonly number[]): ForeignUsage => {
    const foreign = new ForeignUsage();
    for (const at of instants) foreign.surprised(at);
    return foreign;
  };
  const leftAt = (
    at: number,
    foreign: ForeignUsage,
    late: LateUsage | undefined,
    remMs = 30_000,
    capacity = 1_200,
  ): number => lateMargin({ foreign, late, heardAt: at }, capacity, at, remMs);

  it("is what they go on to use of windows that are nearly full, beyond what comes once in two hundred times", () => {
    // Three calls are expected in half a minute, and more than eight come so seldom.
    expect(leftAt(63_000, refused(63_000), exits())).toBe(8 * 15);
    expect(leftAt(63_000, refused(63_000), exits(), 10_000)).toBe(4 * 15);
    expect(leftAt(63_000, refused(63_000), exits(), 30_000, 200)).toBe(100);
  });

  it("takes no notice of what they use while a window fills, nor of the time between two that are nearly full", () => {
    const late = exits();
    late.observe(70_000, 400, 0.74);
    late.observe(100_000, 300, 0.75);
    late.observe(102_999, 300, 0.9);
    late.observe(103_000, 100, 0.9);
    expect(leftAt(103_000, refused(103_000), late)).toBe(8 * 15);
    late.observe(113_000, 150, 0.95);
    expect(leftAt(113_000, refused(113_000), late)).toBeGreaterThan(8 * 15);
  });

  it("is nothing without a refusal, all of it for a quarter of an hour after one, and less and less for half an hour more", () => {
    const minutes = (passed: number): number => 63_000 + 60_000 * passed;
    expect(leftAt(63_000, refused(), exits())).toBe(0);
    expect(leftAt(63_000, refused(63_000), undefined)).toBe(0);
    expect(leftAt(minutes(13), refused(63_000), exits())).toBe(8 * 15);
    expect(leftAt(minutes(20), refused(63_000), exits())).toBeCloseTo(8 * 15 * 4 * Math.exp(-2), 9);
    expect(leftAt(minutes(36), refused(63_000), exits())).toBeCloseTo(8 * 15 * 4 * Math.exp(-3.6), 9);
    expect(leftAt(minutes(37), refused(63_000), exits())).toBe(0);
  });
});
