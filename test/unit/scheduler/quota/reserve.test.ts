/** How much is held back for exits, in numbers worked out by hand. */
import { describe, expect, it } from "vitest";
import {
  defaultReserve,
  ExitRate,
  exitCallsOf,
  exitCost,
  exitReserve,
  pacedShare,
  type ReservePolicy,
} from "../../../../src/scheduler/quota/reserve.ts";

const policy: ReservePolicy = {
  exitWeight: 10,
  ordersPerExit: 5,
  elementWeight: 0,
  keySlots: 2,
  lendMs: 400,
  confidence: 3,
  probeUnits: 2,
  spending: "burst",
};

describe("Requests held back for exits", () => {
  it.each([
    ["one at hand and those expected", 10_000, 0, 1 / 10_000, 1 + 1 + 4],
    ["or as many as cancel all that rests", 10_000, 200, 1 / 10_000, 10],
    ["are lent in the end", 375, 200, 1 / 10_000, 0],
  ])("%s", (_, remMs, open, rate, calls) => {
    expect(exitCallsOf({ ...defaultReserve, ordersPerExit: 20 }, remMs, open, rate)).toBe(calls);
  });
});

describe("Exits that come several at a time", () => {
  const burstOf = (...instants: readonly number[]): number => {
    const rate = new ExitRate(0);
    for (const at of instants) rate.note(at);
    return rate.burst;
  };

  it("are told from those that come one by one, beside the four before the start", () => {
    expect(burstOf(1_000, 1_051, 1_102)).toBe(1);
    // Three on one occasion count nine where four single ones count four.
    expect(burstOf(0, 50, 100)).toBeCloseTo((4 + 9) / (4 + 3), 2);
  });

  it("make the reserve larger, up to twice the deviations of single ones", () => {
    expect(exitReserve(policy, 4_000, 0, 1 / 1_000, 4)).toBe(10 * (1 + 4 + 3 * 2 * 2));
    expect(burstOf(...Array<number>(20).fill(0))).toBe(4);
  });
});

describe("The reserve for exits", () => {
  it.each<[string, Partial<ReservePolicy>, number, number, number, number]>([
    ["nothing rests, nothing expected: one exit", {}, 30_000, 0, 0, 10],
    ["just before it is lent out", {}, 401, 0, 0, 10],
    ["lent out", {}, 400, 40, 0, 0],
    // Four are expected, their deviation is two: 1 + 4 + 3 * 2.
    ["four exits expected", {}, 4_000, 0, 1 / 1_000, 110],
    ["four expected, less sure of them", { confidence: 1 }, 4_000, 0, 1 / 1_000, 70],
    ["as many expected in a longer time", {}, 16_000, 0, 1 / 4_000, 110],
    ["what rests takes fewer exits than are expected", {}, 4_000, 55, 1 / 1_000, 110],
    ["what rests takes one exit more", {}, 4_000, 56, 1 / 1_000, 120],
    ["elements of the exits expected", { elementWeight: 2 }, 4_000, 5, 1 / 1_000, 110 + 22],
    ["elements of what rests", { elementWeight: 2 }, 4_000, 30, 1 / 1_000, 110 + 60],
    ["elements of more than is expected", { elementWeight: 2 }, 4_000, 60, 1 / 1_000, 120 + 120],
  ])("%s", (_, given, remMs, open, ratePerMs, weight) => {
    expect(exitReserve({ ...policy, ...given }, remMs, open, ratePerMs)).toBeCloseTo(weight, 9);
  });

  it.each<[number, number, number]>([
    [0, 0, 0],
    [1, 0, 10],
    [5, 0, 10],
    [6, 0, 20],
    [6, 3, 38],
  ])("%i orders at %i an element cost %i to cancel once", (open, elementWeight, weight) => {
    expect(exitCost({ ...policy, elementWeight }, open)).toBe(weight);
  });

  it("unless told otherwise, spends at once, leaves the blind call its two units and lends out at the end of a window", () => {
    expect(defaultReserve).toMatchObject({ spending: "burst", probeUnits: 2, lendMs: 375, keySlots: 2 });
    // One batch cancel of 15 takes back 20 orders whose elements weigh nothing.
    expect([exitCost(defaultReserve, 20), exitCost(defaultReserve, 21)]).toEqual([15, 30]);
  });
});

describe("Even spending of the quota:", () => {
  it.each<[string, number, number]>([
    ["the beginning allows a tenth", 60_000, 120],
    ["half way", 30_000, 720],
    ["near the end all", 6_000, 1_200],
    ["no more than all", 0, 1_200],
    ["just before that", 7_500, 1_170],
  ])("%s", (_, remMs, units) => {
    expect(pacedShare(1_200, remMs, 60_000)).toBeCloseTo(units, 9);
  });
});
