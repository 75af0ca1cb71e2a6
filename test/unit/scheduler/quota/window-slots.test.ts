/** Counts kept of windows: in their order, empty when they are new, and of the newest only. */
import { describe, expect, it } from "vitest";
import { WindowSlots, windowsMax } from "../../../../src/scheduler/quota/window-slots.ts";

const nothing = { settled: 0, reported: 0, unheard: 0, included: 0, open: 0, foreign: 0, adopted: 0, lacked: 0 };
const indexes = ({ all }: WindowSlots): readonly number[] => all.map(({ index }) => index);

describe("The counts of windows", () => {
  it("stand in the order of the windows, in whatever order these are asked for", () => {
    const slots = new WindowSlots();
    expect([slots.newest, slots.last]).toEqual([undefined, Number.NEGATIVE_INFINITY]);
    for (const index of [5, 9, 3, 7, 8, 4]) expect(slots.of(index)).toEqual({ index, ...nothing });
    expect([indexes(slots), slots.newest?.index, slots.last]).toEqual([[3, 4, 5, 7, 8, 9], 9, 9]);
  });

  it("are the same each time, and found without being made", () => {
    const slots = new WindowSlots();
    for (const index of [3, 5, 9]) slots.of(index).open = index;
    expect([3, 5, 9].map((index) => slots.of(index).open)).toEqual([3, 5, 9]);
    expect([3, 5, 9].map((index) => slots.find(index)?.open)).toEqual([3, 5, 9]);
    expect([slots.find(4), slots.find(2), slots.find(10), indexes(slots)]).toEqual([
      undefined,
      undefined,
      undefined,
      [3, 5, 9],
    ]);
  });

  it("are of 128 windows at most: the oldest gives way, and what is open of it is carried", () => {
    const slots = new WindowSlots();
    for (let index = 1; index <= windowsMax; index++) slots.of(index).open = 2;
    expect([windowsMax, slots.all.length, slots.carried]).toEqual([128, 128, 0]);
    slots.of(129);
    expect([slots.all.length, slots.all[0]?.index, slots.carried]).toEqual([128, 2, 2]);
    // One that is older than all gives way at once, and has nothing open.
    expect(slots.of(1).index).toBe(1);
    expect([slots.all.length, slots.all[0]?.index, slots.carried]).toEqual([128, 2, 2]);
  });

  it("are nothing for a new window, whatever was counted of the forgotten one whose place it takes", () => {
    const slots = new WindowSlots();
    const old = slots.of(1);
    for (const name of Object.keys(nothing) as (keyof typeof nothing)[]) old[name] = 7;
    slots.forgetOldest();
    expect([slots.of(2), slots.carried]).toEqual([{ index: 2, ...nothing }, 7]);
    // Each takes it once.
    slots.of(3).open = 4;
    expect([slots.of(2).open, slots.of(3).open]).toEqual([0, 4]);
  });

  it("are gone when windows lose their meaning, but for all that is open", () => {
    const slots = new WindowSlots();
    slots.of(1).open = 3;
    slots.forgetOldest();
    slots.of(2).open = 5;
    slots.forget(8);
    expect([slots.all, slots.newest, slots.last, slots.carried]).toEqual([[], undefined, Number.NEGATIVE_INFINITY, 8]);
    expect(slots.of(1)).toEqual({ index: 1, ...nothing });
  });
});
