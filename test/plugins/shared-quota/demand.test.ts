/** What an engine asks for of a divided window, by instants worked out by hand. */
import { describe, expect, it } from "vitest";
import { Demand } from "../../../plugins/shared-quota/demand.ts";

/** Ten units were asked for in vain at 1,000. */
const lacking = (): Demand => {
  const demand = new Demand();
  demand.lack(10, "ordinary", 1_000);
  return demand;
};

describe("What waits for units of a divided window", () => {
  it("is the least that was asked for in vain in the last three seconds", () => {
    const demand = lacking();
    demand.lack(15, "ordinary", 1_200);
    expect([4_199, 4_200].map((at) => demand.units(at, 30_000))).toEqual([10, 0]);
  });

  it("is nothing for ordinary actions where exits asked", () => {
    const demand = new Demand();
    demand.lack(15, "exit", 1_000);
    expect([demand.units(1_000, 30_000), demand.exits, demand.owesOrdinary]).toEqual([0, 15, false]);
  });

  it("is asked for in a window's last second for half a second only", () => {
    const demand = lacking();
    expect([1_499, 1_500].map((at) => demand.units(at, 1_000))).toEqual([10, 0]);
  });

  it("is nothing in a window's last second once something was spent, unless more was asked for then", () => {
    const demand = lacking();
    demand.spent(1_100);
    expect(demand.units(1_101, 999)).toBe(0);
    demand.lack(10, "ordinary", 1_100);
    expect(demand.units(1_101, 999)).toBe(10);
  });

  it("is asked for before that although something was spent", () => {
    const demand = lacking();
    demand.spent(1_100);
    expect(demand.units(1_101, 1_001)).toBe(10);
  });
});

describe("What is held besides the purse", () => {
  it("is kept for three seconds after more was wanted, and for ten where it is being spent", () => {
    const demand = lacking();
    expect([3_999, 4_000].map((at) => demand.keeps(5, 0, at, 30_000))).toEqual([true, false]);
    demand.spent(10_500);
    expect([10_999, 11_499, 11_500].map((at) => [demand.isHungry(at), demand.keeps(5, 0, at, 30_000)])).toEqual([
      [true, true],
      [false, true],
      [false, false],
    ]);
  });

  it("is kept in a window's last second if it is enough for what waits, or was being spent just now", () => {
    const demand = new Demand();
    expect([demand.keeps(10, 10, 1_000, 999), demand.keeps(9, 10, 1_000, 999)]).toEqual([true, false]);
    demand.spent(1_000);
    expect([1_099, 1_100].map((at) => demand.keeps(10, 0, at, 999))).toEqual([true, false]);
  });
});
