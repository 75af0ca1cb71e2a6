/** A stable heap against a sorted list. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PriorityQueue, type Queued } from "../../src/scheduler/priority-queue.ts";

const command = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("push" as const), key: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("pop" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("remove" as const), pick: fc.nat(1_000) }) },
);

describe("priority queue", () => {
  it("gives the least key first, first in first out among equals, and never what was removed", () => {
    fc.assert(
      fc.property(fc.array(command, { maxLength: 600, minLength: 1, size: "max" }), (commands) => {
        const queue = new PriorityQueue<Queued>();
        let list: Queued[] = [];
        let order = 0;
        for (const one of commands) {
          list.sort((a, b) => a.key - b.key || a.order - b.order);
          if (one.kind === "push") {
            const entry = { key: one.key, order: order++, removed: false };
            queue.push(entry);
            list.push(entry);
          } else if (one.kind === "pop") {
            expect(queue.pop()).toBe(list.shift());
          } else if (list.length > 0) {
            const [gone] = list.splice(one.pick % list.length, 1) as [Queued];
            queue.remove(gone);
            queue.remove(gone);
          }
          list = [...list].sort((a, b) => a.key - b.key || a.order - b.order);
          expect(queue.size).toBe(list.length);
          expect(queue.head()).toBe(list[0]);
        }
      }),
      { seed: 1, numRuns: 60 },
    );
  });

  it("sweeps out the removed when they are the majority", () => {
    const queue = new PriorityQueue<Queued>();
    const entries = Array.from({ length: 1_000 }, (_, order) => ({ key: order % 7, order, removed: false }));
    for (const entry of entries) queue.push(entry);
    for (const entry of entries) if (entry.order % 10 !== 0) queue.remove(entry);
    const left = entries.filter(({ order }) => order % 10 === 0).sort((a, b) => a.key - b.key || a.order - b.order);
    expect(Array.from({ length: 100 }, () => queue.pop())).toEqual(left);
    expect([queue.size, queue.pop()]).toEqual([0, undefined]);
  });
});
