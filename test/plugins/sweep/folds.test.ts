import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { foldsOf } from "../../../plugins/sweep/folds.ts";

describe("Walk-forward windows", () => {
  it("of one fold are a training and the rest", () => {
    expect(foldsOf(1_000, 1_999, 1, 0.7)).toEqual([
      { train: { fromAt: 1_000, toAt: 1_700 }, test: { fromAt: 1_700, toAt: 2_000 } },
    ]);
  });

  it("move on by one test each", () => {
    expect(foldsOf(0, 999, 3, 0.5)).toEqual([
      { train: { fromAt: 0, toAt: 250 }, test: { fromAt: 250, toAt: 500 } },
      { train: { fromAt: 250, toAt: 500 }, test: { fromAt: 500, toAt: 750 } },
      { train: { fromAt: 500, toAt: 750 }, test: { fromAt: 750, toAt: 1_000 } },
    ]);
  });

  it("never overlap their own test, leave no gap between tests, are equally long and end with the recording", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2_000_000_000_000 }),
        fc.integer({ min: 1_000, max: 100_000_000 }),
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 19 }),
        (startAt, spanMs, count, twentieths) => {
          const folds = foldsOf(startAt, startAt + spanMs, count, twentieths / 20);
          expect(folds).toHaveLength(count);
          expect(folds[0]?.train.fromAt).toBe(startAt);
          expect(folds.at(-1)?.test.toAt).toBe(startAt + spanMs + 1);
          const lengths = new Set(
            folds.map(({ train, test }) => `${train.toAt - train.fromAt} ${test.toAt - test.fromAt}`),
          );
          expect(lengths.size).toBe(1);
          for (const [index, { train, test }] of folds.entries()) {
            expect(train.toAt).toBe(test.fromAt);
            if (index > 0) expect(test.fromAt).toBe(folds[index - 1]?.test.toAt);
          }
        },
      ),
    );
  });
});
