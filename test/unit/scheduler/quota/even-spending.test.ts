/** Which units count in even spending, and until when. */
import { describe, expect, it } from "vitest";
import { EvenSpending } from "../../../../src/scheduler/quota/even-spending.ts";

describe("Even spending", () => {
  it("frees units a window's length after their call has landed", () => {
    const spending = new EvenSpending(10, 1_000, 1 / 4);
    spending.land(2, 100);
    spending.land(3, 400);
    expect([1_099, 1_100, 1_399, 1_400].map((at) => spending.landed(at))).toEqual([5, 3, 3, 0]);
  });

  it("frees those of a lost call at their time, though an answered call that landed earlier ends after it", () => {
    const spending = new EvenSpending(10, 1_000, 1 / 4);
    // It was given up at 500. The other one was answered at 510, 400 ms after the latest instant of its landing.
    spending.land(2, 500);
    spending.land(1, 110);
    expect([spending.freesAt, spending.landed(1_110), spending.landed(1_499)]).toEqual([1_500, 3, 3]);
    spending.land(4, 600);
    expect([1_499, 1_500, 1_599, 1_600].map((at) => spending.landed(at))).toEqual([7, 4, 4, 0]);
  });

  it("frees units of calls that landed within a part of a window with the last of them", () => {
    const spending = new EvenSpending(10, 6_400, 1 / 4);
    for (const at of [1_000, 1_050, 1_100, 1_101]) spending.land(1, at);
    expect([7_499, 7_500, 7_501].map((at) => spending.landed(at))).toEqual([4, 1, 0]);
  });
});
