/** What a call that has to wait is told, on a minute of which forty of a hundred units are used at its tenth second. */
import { describe, expect, it } from "vitest";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import type { Charge, LayerSpec } from "../../../../src/scheduler/quota/layers.ts";
import type { Ceiling } from "../../../../src/scheduler/quota/limit-window.ts";
import { earliestFit, passingBelow, retryAtOf } from "../../../../src/scheduler/quota/retry-at.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

const spec: LayerSpec = {
  name: "uid",
  scope: "uid",
  unit: "weight",
  capacity: 100,
  windowMs: 60_000,
  anchor: "wall_clock",
  banMs: 0,
};
const clock = fixedClock(0, 0);
const charge: Charge = { endpoint: "getOrder", weight: 15, elements: 1, ip: "home", uid: "u", key: "k" };
const end = 60_000;

/** Fifty, and eighty from `at` on. */
const rising =
  (from: number): Ceiling =>
  (_endAt, _startAt, at) =>
    at >= from ? 80 : 50;

interface Case {
  readonly charge?: Partial<Charge>;
  readonly units?: number;
  readonly ceiling?: Ceiling;
  readonly now?: number;
  readonly newsAt?: number;
}

const refused = ({
  charge: given = {},
  units = 15,
  ceiling = rising(20_000),
  now = 10_000,
  newsAt = Number.POSITIVE_INFINITY,
}: Case) => {
  const gauge = new FixedWindow(spec, "u", clock);
  gauge.end(gauge.begin(40, now), now, now, undefined, true);
  const asked: unknown[] = [];
  const news = {
    newsAt: (...about: readonly unknown[]): number => {
      asked.push(about);
      return newsAt;
    },
  };
  const { until, why, lighterThan, layer, granted } = retryAtOf(
    gauge,
    { ...charge, ...given },
    units,
    ceiling,
    news,
    now,
    end,
  );
  expect([granted, layer]).toEqual([false, "uid"]);
  // To the millisecond: the search ends where less than one is left.
  return { until: until === end ? end : Math.floor(until), why, lighterThan, asked };
};

describe("A call that has to wait", () => {
  it.each<[string, Case, { readonly until: number; readonly why: string; readonly lighterThan: number }]>([
    ["waits for the ceiling to rise, and nobody passes it", {}, { until: 20_000, why: "reserved", lighterThan: 0 }],
    [
      "for the window's end when the window cannot hold it",
      { units: 61 },
      { until: end, why: "used", lighterThan: 15 },
    ],
    [
      "but not when it could just hold it",
      { units: 60, ceiling: (_, __, at) => (at < 20_000 ? 50 : 100) },
      { until: 20_000, why: "reserved", lighterThan: 0 },
    ],
    [
      "for the window's end when the ceiling never rises",
      { ceiling: () => 50 },
      { until: end, why: "used", lighterThan: 15 },
    ],
    [
      "near the end lighter calls pass it",
      { now: 59_600, ceiling: rising(59_900) },
      { until: 59_900, why: "used", lighterThan: 15 },
    ],
    [
      "a moment before that they do not",
      { now: 59_599, ceiling: rising(59_900) },
      { until: 59_900, why: "reserved", lighterThan: 0 },
    ],
    [
      "never asks again within a millisecond",
      { ceiling: rising(10_000.2) },
      { until: 10_001, why: "reserved", lighterThan: 0 },
    ],
    [
      "lets a light call bring news of others that is due",
      { newsAt: 10_000 },
      { until: 20_000, why: "reserved", lighterThan: 6 },
    ],
    ["or overdue", { newsAt: 9_000 }, { until: 20_000, why: "reserved", lighterThan: 6 }],
    [
      "not one that is no lighter",
      { newsAt: 9_000, charge: { weight: 4 } },
      { until: 20_000, why: "reserved", lighterThan: 4 },
    ],
    ["asks again when news will be due", { newsAt: 15_000 }, { until: 15_000, why: "reserved", lighterThan: 0 }],
    ["unless the ceiling rises before", { newsAt: 25_000 }, { until: 20_000, why: "reserved", lighterThan: 0 }],
    [
      "of no user, it waits for no news",
      { newsAt: 9_000, charge: { uid: undefined } },
      { until: 20_000, why: "reserved", lighterThan: 0 },
    ],
  ])("%s", (_, given, told) => {
    expect(refused(given)).toMatchObject(told);
  });

  it("that the window cannot hold, is not looked for an instant at which it could", () => {
    let looks = 0;
    refused({
      units: 61,
      ceiling: () => {
        looks++;
        return 50;
      },
    });
    expect(looks).toBe(0);
  });

  it("asks for news of its own user, until the window's end", () => {
    expect(refused({ newsAt: 15_000 }).asked).toEqual([["u", 10_000, end]]);
    expect(refused({ charge: { uid: undefined } }).asked).toEqual([]);
  });
});

describe("A call that a layer holds up", () => {
  const allowances = { newsAt: () => Number.POSITIVE_INFINITY };

  it.each<[LayerSpec["scope"], boolean, boolean]>([
    ["key", true, true],
    ["uid", false, false],
    ["ip", false, false],
  ])("by %s holds up calls on the same key only: %s", (scope, whenFull, whenReserved) => {
    const gauge = new FixedWindow({ ...spec, scope }, "u", clock);
    gauge.begin(40, 10_000);
    const refusalOf = (units: number) => retryAtOf(gauge, charge, units, () => 50, allowances, 10_000, end);
    expect([refusalOf(61).ofKey, refusalOf(15).ofKey]).toEqual([whenFull, whenReserved]);
  });

  it.each<[string, Partial<LayerSpec>, number]>([
    ["is passed by lighter calls", {}, 15],
    ["is passed by lighter calls where the layer counts requests", { unit: "requests" }, 15],
    [
      "is passed by all calls where the layer counts requests of some endpoints",
      { unit: "requests", endpoints: ["getOrder"] },
      Number.POSITIVE_INFINITY,
    ],
    ["is passed by lighter calls where the layer counts their weight", { endpoints: ["getOrder"] }, 15],
  ])("%s", (_, given, lighterThan) => {
    expect(passingBelow({ ...spec, ...given }, 15)).toBe(lighterThan);
  });
});

describe("The first instant at which something fits", () => {
  it.each([0.5, 1, 17, 499.9, 500, 731.25, 999.5])("is found to the millisecond: %f", (from) => {
    const found = earliestFit(0, 1_000, (at) => at >= from);
    expect(found).toBeGreaterThanOrEqual(from);
    expect(found).toBeLessThan(from + 1);
  });

  it("is the end when nothing fits before, or nothing is left to look at", () => {
    expect(earliestFit(0, 1_000, () => false)).toBe(1_000);
    const looked: number[] = [];
    const found = earliestFit(0, 1, (at) => looked.push(at) > 0);
    expect([found, looked]).toEqual([1, []]);
  });
});
