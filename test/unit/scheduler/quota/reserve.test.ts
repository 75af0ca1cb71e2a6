/** How much is held back for exits, in numbers worked out by hand. */
import { describe, expect, it } from "vitest";
import {
  defaultReserve,
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
    ["as many as cancel all that rests, and those expected", 10_000, 200, 1 / 10_000, 10 + 1 + 4],
    ["are lent in the end", 375, 200, 1 / 10_000, 0],
  ])("%s", (_, remMs, open, rate, calls) => {
    expect(exitCallsOf({ ...defaultReserve, ordersPerExit: 20 }, remMs, open, rate)).toBe(calls);
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
    ["what rests takes one exit, which is the one at hand", {}, 4_000, 5, 1 / 1_000, 110],
    ["what rests takes one exit more", {}, 4_000, 6, 1 / 1_000, 120],
    ["what rests takes eleven, and ten are expected", {}, 4_000, 55, 1 / 1_000, 210],
    ["elements of the exits expected", { elementWeight: 2 }, 4_000, 0, 1 / 1_000, 110 + 22],
    ["elements of what rests besides", { elementWeight: 2 }, 4_000, 5, 1 / 1_000, 110 + 30],
    ["elements of more than is expected", { elementWeight: 2 }, 4_000, 60, 1 / 1_000, 220 + 140],
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
