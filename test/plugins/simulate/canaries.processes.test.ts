/** A simulation that sees nothing proves nothing: deliberate bugs must be noticed. The full list is run by canaries-run.ts. */
import { describe, expect, it } from "vitest";
import { canaries } from "./canaries.ts";
import { hunt, misfit } from "./canary-run.ts";

describe("Canaries", () => {
  it("fit the source as it is, each in one place", () => {
    expect(canaries.flatMap((canary) => misfit(canary) ?? [])).toEqual([]);
    expect(canaries.length).toBeGreaterThanOrEqual(30);
    expect(new Set(canaries.map(({ name }) => name)).size).toBe(canaries.length);
  });

  it("of several kinds are caught by the seeds known to catch them", async () => {
    const quick = canaries.filter((canary) => canary.quick);
    expect(quick.length).toBeGreaterThanOrEqual(4);
    const caught = await Promise.all(quick.map(async (canary) => hunt(canary, canary.seed ?? 1, 1)));
    expect(quick.filter((_, index) => caught[index] === undefined).map(({ name }) => name)).toEqual([]);
  });
});
