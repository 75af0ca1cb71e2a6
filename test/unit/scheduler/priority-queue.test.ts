/** A stable heap against a sorted list. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PriorityQueue } from "../../../src/scheduler/priority-queue.ts";

interface Listed {
  readonly key: number;
  readonly order: number;
  removed: boolean;
}

const push = (queue: PriorityQueue<Listed>, entry: Listed): void => {
  queue.push(entry, entry.key, entry.order);
};

const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("push" as const), key: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pop" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), pick: fc.nat(1_000) }) },
);

describe("Priority queue", () => {
  it("gives the least key first, first in first out among equals, and never what was removed", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 600, minLength: 1, size: "max" }), (commands) => {
        const queue = new PriorityQueue<Listed>();
        let list: Listed[] = [];
        let order = 0;
        for (const one of commands) {
          list.sort((a, b) => a.key - b.key || a.order - b.order);
          if (one.kind === "push") {
            const entry = { key: one.key, order: order++, removed: false };
            push(queue, entry);
            list.push(entry);
          } else if (one.kind === "pop") {
            expect(queue.pop()).toBe(list.shift());
          } else if (list.length > 0) {
            const [gone] = list.splice(one.pick % list.length, 1) as [Listed];
            queue.remove(gone);
            queue.remove(gone);
          }
          list = [...list].sort((a, b) => a.key - b.key || a.order - b.order);
          expect(queue.size).toBe(list.length);
          expect(queue.head()).toBe(list[0]);
          if (list[0] !== undefined) expect(queue.headKey()).toBe(list[0].key);
        }
      }),
      { seed: 1, numRuns: 60 },
    );
  });

  it("of entries that come in order gives back the first, however many have passed", () => {
    const queue = new PriorityQueue<Listed>();
    const passed: number[] = [];
    for (let order = 0; order < 6_000; order++) {
      push(queue, { key: order, order, removed: false });
      // Two come for each that leaves, then two leave for each that comes.
      if (order % 2 === 0 || order > 3_000) passed.push(queue.pop()?.order ?? -1);
      if (order > 3_000 && order % 2 === 0) passed.push(queue.pop()?.order ?? -1);
    }
    expect(passed).toEqual(passed.map((_, index) => index));
    expect(queue.size).toBe(6_000 - passed.length);
  });

  it("sweeps out the removed when they are the majority", () => {
    const queue = new PriorityQueue<Listed>();
    const entries = Array.from({ length: 1_000 }, (_, order) => ({ key: order % 7, order, removed: false }));
    for (const entry of entries) push(queue, entry);
    for (const entry of entries) if (entry.order % 10 !== 0) queue.remove(entry);
    const left = entries.filter(({ order }) => order % 10 === 0).sort((a, b) => a.key - b.key || a.order - b.order);
    expect(Array.from({ length: 100 }, () => queue.pop())).toEqual(left);
    expect([queue.size, queue.pop()]).toEqual([0, undefined]);
  });
});
