/** Leaving faults out until nothing more can go. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shrink } from "../../../plugins/simulate/shrink.ts";

describe("Shrinking a scenario:", () => {
  it.each([
    ["one of many", [7], 20],
    ["two far apart", [1, 18], 20],
    ["neighbours", [8, 9], 20],
    ["all of them", [0, 1, 2], 3],
    ["none", [], 5],
  ])("%s: exactly what is needed stays, in order", async (_, needed, length) => {
    const list = Array.from({ length }, (_each, index) => index);
    const shortest = await shrink(list, async (part) => needed.every((item) => part.includes(item)));
    expect(shortest).toEqual(needed);
  });

  it("gives a part that fails and from which no single one can be left out, whatever makes it fail", async () => {
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(fc.nat(30), { maxLength: 12 }), fc.nat(4), async (list, least) => {
        const fails = async (part: readonly number[]): Promise<boolean> =>
          part.filter((item) => item % 2 === 0).length >= least;
        if (!(await fails(list))) return;
        const shortest = await shrink(list, fails);
        expect(await fails(shortest)).toBe(true);
        for (const item of shortest) expect(await fails(shortest.filter((other) => other !== item))).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it("gives up after so many tries with something that fails", async () => {
    let tries = 0;
    const list = Array.from({ length: 50 }, (_, index) => index);
    const needed = list.filter((item) => item % 2 === 0);
    const part = await shrink(
      list,
      async (candidate) => {
        tries++;
        return needed.every((item) => candidate.includes(item));
      },
      5,
    );
    expect(tries).toBe(5);
    expect(needed.every((item) => part.includes(item))).toBe(true);
  });
});
