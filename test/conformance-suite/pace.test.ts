/** The suite's own care: what it sends fits every window, wherever that begins; and who plays which part. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { missing, partsOf } from "../../src/conformance/keys.ts";
import { createPace } from "../../src/conformance/pace.ts";
import { createContract } from "../../src/contract/contract.ts";
import { layers } from "../../src/contract/limits.ts";
import { keys } from "./patient.ts";

describe("pace", () => {
  it("no window of any layer holds more than its capacity", () => {
    const call = fc.record({
      gapMs: fc.constantFrom(0, 0, 0, 0, 3, 40, 700),
      weight: fc.constantFrom(0, 2, 5, 10, 15),
      tripMs: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 400 }), (calls) => {
        const pace = createPace(layers);
        const counted: { at: number; weight: number }[] = [];
        let now = 0;
        for (const { gapMs, weight, tripMs } of calls) {
          now += gapMs;
          const charge = { ip: "i", key: "k", uid: "u", weight };
          now = Math.max(now, pace.fitsAt(charge, ["ip", "key", "uid"], now));
          const answered = pace.count(charge, now);
          counted.push({ at: now + tripMs / 2, weight });
          now += tripMs;
          answered(now);
        }
        for (const { at } of counted) {
          const within = (ms: number) => counted.filter((other) => other.at >= at && other.at < at + ms);
          expect(within(layers.key.windowMs).length).toBeLessThanOrEqual(layers.key.capacity);
          expect(within(layers.uid.windowMs).reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(layers.uid.capacity);
        }
      }),
      { numRuns: 30 },
    );
  });

  it("a call counts from when it was answered, as it may have been counted as late as that", () => {
    const pace = createPace(layers);
    const charge = { ip: "i", key: "k", uid: "u", weight: 1100 };
    pace.count(charge, 0)(5_000);
    expect(pace.fitsAt(charge, ["uid"], 6_000)).toBeGreaterThanOrEqual(65_000);
    expect(pace.fitsAt(charge, ["key", "ip"], 6_000)).toBe(6_000);
    expect(pace.lastAt).toBe(5_000);
  });

  it("a call that fits at once is not held", () => {
    expect(createPace(layers).fitsAt({ ip: "i", key: "k", uid: "u", weight: 15 }, ["ip", "key", "uid"], 7)).toBe(7);
  });
});

describe("the parts of keys", () => {
  const { profile } = createContract();
  const named = (...names: readonly string[]) =>
    partsOf(
      keys.filter(({ name }) => names.includes(name)),
      profile,
    );

  it.each([
    [
      "all of them",
      keys.map(({ name }) => name),
      { main: "ann-1", trader: "ann-1", second: "ann-2", reader: "ann-read", blind: "ann-trade", stranger: "bob-1" },
    ],
    ["a reader alone", ["ann-read"], { main: "ann-read", reader: "ann-read" }],
    ["a trader and a stranger", ["ann-2", "bob-1"], { main: "ann-2", trader: "ann-2", stranger: "bob-1" }],
    ["none", [], {}],
  ])("%s", (_, names, expected) => {
    const parts = Object.entries(named(...names)).flatMap(([part, key]) => (key === undefined ? [] : [[part, key.name]]));
    expect(Object.fromEntries(parts)).toEqual(expected);
  });

  it("what is missing is said", () => {
    expect(missing("two users", named("ann-1"), false)).toBe("needs keys of two users");
    expect(missing("trade key", named("ann-1"), false)).toBeUndefined();
    expect(missing("socket", named(), false)).toContain("--ws");
  });
});
