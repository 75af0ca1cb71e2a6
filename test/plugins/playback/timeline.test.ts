import fc from "fast-check";
import { expect, it } from "vitest";
import type { ControlChange } from "../../../plugins/control-room/control-rows.ts";
import { Timeline, updatesMax } from "../../../plugins/playback/timeline.ts";

const row = (key: string, value: number | null): ControlChange => [
  "health",
  key,
  value === null ? null : { value, unit: "", state: "ok" },
];
const picture = (rows: readonly ControlChange[]): Record<string, unknown> =>
  Object.fromEntries(
    rows.filter(([, , value]) => value !== null).map(([, key, value]) => [key, (value as { value: unknown }).value]),
  );

it("The document at any place, reached from any other, is what the updates up to there make of it", () => {
  const updates = fc.array(
    fc.array(fc.tuple(fc.constantFrom("a", "b", "c", "d"), fc.option(fc.integer({ min: 0, max: 9 }))), {
      maxLength: 4,
    }),
    { minLength: 1, maxLength: 600 },
  );
  fc.assert(
    fc.property(updates, fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), (all, places) => {
      const timeline = new Timeline("a");
      const expected: Record<string, unknown>[] = [{}];
      for (const [index, changes] of all.entries()) {
        const rows = [...new Map(changes.map(([key, value]) => [key, row(key, value)])).values()];
        timeline.add({ source: "a", seq: index, at: 1_000 + index, rows });
        const after: Record<string, unknown> = { ...expected.at(-1) };
        for (const [, key, value] of rows) {
          if (value === null) delete after[key];
          else after[key] = (value as { value: unknown }).value;
        }
        expected.push(after);
      }
      let at = 0;
      const seen = new Map<string, unknown>();
      for (const place of places) {
        const to = place % (all.length + 1);
        expect(picture(timeline.rowsAfter(to))).toEqual(expected[to]);
        for (const [, key, value] of timeline.between(at, to)) {
          if (value === null) seen.delete(key);
          else seen.set(key, (value as { value: unknown }).value);
        }
        expect(Object.fromEntries(seen)).toEqual(expected[to]);
        at = to;
      }
    }),
    { numRuns: 60 },
  );
});

it("A run of many hours keeps every row at a coarser time", () => {
  const timeline = new Timeline("a");
  const count = 2 * updatesMax + 3;
  for (let index = 0; index < count; index++)
    timeline.add({ source: "a", seq: index, at: index, rows: [row(`k${index % 977}`, index)] });
  const whole = picture(timeline.rowsAfter(timeline.countUntil(count)));
  expect(Object.keys(whole).length).toBe(977);
  expect(Math.max(...(Object.values(whole) as number[]))).toBe(count - 1);
  expect(timeline.countUntil(count)).toBeLessThanOrEqual(updatesMax);
  expect(timeline.to).toBe(count - 1);
});

it("A second process of a run takes away what only the first one knew", () => {
  const timeline = new Timeline("a");
  timeline.add({ source: "a", seq: 1, at: 1, rows: [row("x", 1), row("y", 2)] });
  timeline.restart({ source: "a", seq: 1, at: 5, rows: [row("y", 3)] });
  expect(picture(timeline.rowsAfter(2))).toEqual({ y: 3 });
  expect(picture(timeline.rowsAfter(1))).toEqual({ x: 1, y: 2 });
});
