/** The suite's own care: what it sends fits every window, wherever that begins; and who plays which part. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Pacing } from "../../../plugins/conformance/probe/pacing.ts";
import { missing, rolesOf } from "../../../plugins/conformance/rules/test-keys.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { layers } from "../../../src/contract/limits.ts";
import { keys } from "./harness/conformance.ts";

describe("Conformance pacing:", () => {
  it("no window of any layer holds more than its capacity", () => {
    const call = fc.record({
      gapMs: fc.constantFrom(0, 0, 0, 0, 3, 40, 700),
      weight: fc.constantFrom(0, 2, 5, 10, 15),
      tripMs: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(fc.array(call, { minLength: 1, maxLength: 400 }), (calls) => {
        const pace = new Pacing(layers);
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
          expect(within(layers.uid.windowMs).reduce((sum, { weight }) => sum + weight, 0)).toBeLessThanOrEqual(
            layers.uid.capacity,
          );
        }
      }),
      { numRuns: 30 },
    );
  });

  it("a call counts from when it was answered, as it may have been counted as late as that", () => {
    const pace = new Pacing(layers);
    const charge = { ip: "i", key: "k", uid: "u", weight: 1100 };
    pace.count(charge, 0)(5_000);
    expect(pace.fitsAt(charge, ["uid"], 6_000)).toBeGreaterThanOrEqual(65_000);
    expect(pace.fitsAt(charge, ["key", "ip"], 6_000)).toBe(6_000);
    expect(pace.lastAt).toBe(5_000);
  });

  it("no window of a layer of the profile's own holds more than its capacity, whatever it counts", () => {
    const layer = fc.record({
      scope: fc.constantFrom("ip" as const, "uid" as const, "key" as const),
      unit: fc.constantFrom("requests" as const, "weight" as const, "elements" as const),
      capacity: fc.integer({ min: 20, max: 60 }),
      windowMs: fc.constantFrom(1_000, 2_000, 30_000),
      endpoints: fc.constantFrom<readonly string[] | undefined>(
        undefined,
        ["cancelBatch"],
        ["cancelBatch", "placeOrder"],
      ),
    });
    const call = fc.record({
      endpoint: fc.constantFrom("cancelBatch", "placeOrder", "getOrder"),
      elements: fc.integer({ min: 1, max: 20 }),
      tripMs: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(layer, fc.array(call, { minLength: 1, maxLength: 60 }), ({ endpoints, ...rest }, calls) => {
        const own = { name: "own", anchor: "sliding", banMs: 0, ...rest, ...(endpoints && { endpoints }) } as const;
        const pace = new Pacing(layers, [own]);
        const counted: { at: number; amount: number }[] = [];
        let now = 0;
        for (const { endpoint, elements, tripMs } of calls) {
          const charge = { ip: "i", key: "k", uid: "u", weight: 10, endpoint, elements };
          // No rule is about the layer: it is kept within where the others are not.
          now = Math.max(now, pace.fitsAt(charge, [], now));
          const answered = pace.count(charge, now);
          const amount = rest.unit === "requests" ? 1 : rest.unit === "weight" ? 10 : elements;
          if (endpoints === undefined || endpoints.includes(endpoint)) counted.push({ at: now + tripMs / 2, amount });
          now += tripMs;
          answered(now);
        }
        for (const { at } of counted) {
          const within = counted.filter((other) => other.at >= at && other.at < at + own.windowMs);
          expect(within.reduce((sum, { amount }) => sum + amount, 0)).toBeLessThanOrEqual(own.capacity);
        }
      }),
      { numRuns: 60 },
    );
  });

  it("of the smallest layer one call goes at a time", () => {
    const own = {
      name: "own",
      scope: "key",
      unit: "requests",
      capacity: 1,
      windowMs: 5_000,
      anchor: "sliding",
      banMs: 0,
    } as const;
    const pace = new Pacing(layers, [own]);
    const charge = { ip: "i", key: "k", uid: "u", weight: 5, endpoint: "getOrder" };
    expect(pace.fitsAt(charge, [], 100)).toBe(100);
    pace.count(charge, 100)(140);
    expect(pace.fitsAt(charge, [], 150)).toBe(5_640);
    expect([pace.tooNarrow(charge, 2, 1), pace.tooNarrow(charge, 8, 45_000), pace.tooNarrow(charge, 1, 1)]).toEqual([
      "own",
      undefined,
      undefined,
    ]);
  });

  it("a call that fits at once is not held", () => {
    expect(new Pacing(layers).fitsAt({ ip: "i", key: "k", uid: "u", weight: 15 }, ["ip", "key", "uid"], 7)).toBe(7);
  });
});

describe("The roles of keys", () => {
  const { profile } = createContract();
  const named = (...names: readonly string[]) =>
    rolesOf(
      keys.filter(({ name }) => names.includes(name)),
      profile,
    );

  it.each([
    [
      "all of them",
      keys.map(({ name }) => name),
      {
        main: "ann-1",
        trader: "ann-1",
        second: "ann-2",
        readOnly: "ann-read",
        tradeOnly: "ann-trade",
        otherUser: "bob-1",
      },
    ],
    ["a reader alone", ["ann-read"], { main: "ann-read", readOnly: "ann-read" }],
    ["a trader and a stranger", ["ann-2", "bob-1"], { main: "ann-2", trader: "ann-2", otherUser: "bob-1" }],
    ["none", [], {}],
  ])("%s", (_, names, expected) => {
    const parts = Object.entries(named(...names)).flatMap(([part, key]) =>
      key === undefined ? [] : [[part, key.name]],
    );
    expect(Object.fromEntries(parts)).toEqual(expected);
  });

  it("what is missing is said", () => {
    expect(missing("two users", named("ann-1"), false)).toBe("needs keys of two users");
    expect(missing("trade key", named("ann-1"), false)).toBeUndefined();
    expect(missing("socket", named(), false)).toContain("--ws");
  });
});
