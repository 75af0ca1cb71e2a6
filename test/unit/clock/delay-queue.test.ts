/** Things that are due a fixed time after they were added, unless settled by then. */
import { describe, expect, it } from "vitest";
import { DelayQueue } from "../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";

const queueOf = (onDue: (name: string) => void = () => undefined) => {
  const clock = createVirtualClock();
  const settled = new Set<string>();
  const handed: (readonly [string, number])[] = [];
  const queue = new DelayQueue<string>(clock, {
    delayMs: 100,
    isSettled: (name) => settled.has(name),
    due: (name) => {
      handed.push([name, clock.now()]);
      onDue(name);
    },
  });
  return { clock, settled, handed, queue };
};

describe("A delay queue:", () => {
  it("hands over each item at its own instant, in the order of adding", () => {
    const { clock, handed, queue } = queueOf();
    queue.add("a");
    queue.add("b");
    clock.advanceTo(30);
    queue.add("c");
    clock.advanceTo(99);
    expect(handed).toEqual([]);
    clock.advanceTo(200);
    expect(handed).toEqual([
      ["a", 100],
      ["b", 100],
      ["c", 130],
    ]);
    expect(clock.pending).toBe(0);
  });

  it("drops what is settled, and one timer passes over all of it", () => {
    const { clock, settled, handed, queue } = queueOf();
    for (let at = 0; at < 100; at++) {
      clock.advanceTo(at);
      queue.add(`${at}`);
      if (at !== 70) settled.add(`${at}`);
    }
    expect(clock.pending).toBe(1);
    let runs = 0;
    while (clock.step()) runs++;
    expect(handed).toEqual([["70", 170]]);
    expect(runs).toBe(2);
  });

  it("asks again just before: what one item settles is not handed over with it", () => {
    const { clock, settled, handed, queue } = queueOf(() => settled.add("b"));
    queue.add("a");
    queue.add("b");
    clock.advanceTo(1_000);
    expect(handed).toEqual([["a", 100]]);
  });

  it("takes an item again while it hands it over", () => {
    const { clock, handed, queue } = queueOf((name) => {
      if (clock.now() < 300) queue.add(name);
    });
    queue.add("a");
    clock.advanceTo(1_000);
    expect(handed.map(([, at]) => at)).toEqual([100, 200, 300]);
  });
});
