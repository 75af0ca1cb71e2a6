import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSluiceError } from "../../../src/errors.ts";
import { canonicalJson } from "../../../src/report/canonical-json.ts";
import { Durations } from "../../../src/report/durations.ts";
import { drawdownOf, type EquityPoint, thin } from "../../../src/report/equity.ts";
import { ascending, quantile } from "../../../src/report/quantile.ts";
import { feeBpsOf, grossOf, hashOf, latenciesOf } from "../../../src/report/report.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";

const line = (...values: readonly string[]): EquityPoint[] => values.map((equity, at) => ({ at, equity }));

describe("Quantiles by nearest rank", () => {
  it.each([
    ["nothing is zero", [], 0.5, 0],
    ["one value is every quantile", [7], 0.01, 7],
    ["the median of four is the second", [4, 1, 3, 2], 0.5, 2],
    ["the median of five is the third", [5, 4, 3, 2, 1], 0.5, 3],
    ["p99 of a hundred is the ninety-ninth", Array.from({ length: 100 }, (_, i) => i + 1), 0.99, 99],
    ["p99 of ten is the largest", Array.from({ length: 10 }, (_, i) => i + 1), 0.99, 10],
    [
      "0.07 of a hundred is the seventh although the product is a little above seven",
      Array.from({ length: 100 }, (_, i) => i + 1),
      0.07,
      7,
    ],
    ["zero is the smallest", [3, 1, 2], 0, 1],
    ["numbers are ordered as numbers", [10, 9, 100], 1, 100],
  ])("%s", (_, values, q, expected) => expect(quantile(ascending(values), q)).toBe(expected));

  it("gives a value of the list that the asked share does not exceed", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 50 }), { minLength: 1 }),
        fc.integer({ min: 1, max: 100 }),
        (values, share) => {
          const value = quantile(ascending(values), share / 100);
          const below = values.filter((other) => other < value).length;
          const upTo = values.filter((other) => other <= value).length;
          expect(upTo * 100).toBeGreaterThanOrEqual(share * values.length);
          expect(below * 100).toBeLessThan(share * values.length);
        },
      ),
    );
  });

  it("summarises waits and latencies", () => {
    const waits = new Durations();
    expect(waits.report).toEqual({ p50: 0, p99: 0, max: 0, count: 0, total: 0 });
    for (const ms of [3, 1, 2]) waits.add(ms);
    expect(waits.report).toEqual({ p50: 2, p99: 3, max: 3, count: 3, total: 6 });
    expect(latenciesOf([1, 2, 3])).toEqual({ count: 3, p50: 2, p99: 3 });
  });
});

describe("Drawdown", () => {
  it.each([
    ["of nothing is zero", line(), "0", "0"],
    ["of a rise is zero", line("1", "2", "3"), "0", "0"],
    ["is the deepest fall from an earlier high", line("100", "120", "90", "130", "101"), "30", "25"],
    ["measures amount and share each at its own worst", line("10", "5", "1000", "900"), "100", "50"],
    ["adds exactly where floats do not", line("0.3", "0.1"), "0.2", "66.6666"],
    ["has no share where the high is a debt", line("-1", "-3"), "2", "0"],
    ["has no share where the high is nothing", line("0", "-3"), "3", "0"],
    ["may exceed the whole when equity turns negative", line("100", "-50"), "150", "150"],
  ])("%s", (_, equity, max, maxPercent) => expect(drawdownOf(equity)).toEqual({ max, maxPercent }));
});

describe("Thinned equity", () => {
  const walk = fc
    .array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 0, maxLength: 900 })
    .map((values) => line(...values.map(String)));

  it("keeps a short line as it is", () => {
    const short = line("1", "2", "3");
    expect(thin(short)).toBe(short);
  });

  it("stays within the bound, in order, with both ends and both extremes", () => {
    fc.assert(
      fc.property(walk, fc.integer({ min: 4, max: 60 }), (points, bound) => {
        const kept = thin(points, bound);
        expect(kept.length).toBeLessThanOrEqual(bound);
        expect(kept.map(({ at }) => at)).toEqual(kept.map(({ at }) => at).sort((a, b) => a - b));
        expect([kept[0], kept.at(-1)]).toEqual([points[0], points.at(-1)]);
        const range = (list: readonly EquityPoint[]) => [
          Math.min(...list.map((p) => Number(p.equity))),
          Math.max(...list.map((p) => Number(p.equity))),
        ];
        expect(range(kept)).toEqual(range(points));
      }),
      { numRuns: 50 },
    );
  });

  it("makes use of the bound", () => {
    const long = line(...Array.from({ length: 5_000 }, (_, i) => String((i * 7_919) % 1_000)));
    expect(thin(long).length).toBe(200);
  });
});

describe("Fees of a report:", () => {
  it.each([
    ["cost on volume, rounded to the nearest", "42.2185", "201040.55", "2.1"],
    ["no volume, no rate", "1", "0", "0"],
    ["a rebate is negative", "-1", "10000", "-1"],
  ])("fees in basis points: %s", (_, fees, volume, expected) => expect(feeBpsOf(fees, volume)).toBe(expected));

  it("adds the fees back to see what the trading earned", () => {
    expect(grossOf({ pnl: "-0.1", fees: "0.3" })).toBe("0.2");
  });
});

describe("Canonical JSON", () => {
  it.each([
    ["sorts keys at every depth", { b: { d: 1, c: 2 }, a: [] }, '{"a":[],"b":{"c":2,"d":1}}'],
    ["keeps the order of lists", [3, 1, 2], "[3,1,2]"],
    ["leaves out keys without a value", { a: undefined, b: null }, '{"b":null}'],
    ["has one zero", [-0, 0], "[0,0]"],
    ["escapes text as JSON does", { '"': "\n" }, '{"\\"":"\\n"}'],
    ["sorts by code unit, whatever the language of the machine", { ä: 1, z: 2, Z: 3 }, '{"Z":3,"z":2,"ä":1}'],
  ])("%s", (_, value, expected) => expect(canonicalJson(value)).toBe(expected));

  it.each([
    ["NaN", { a: Number.NaN }],
    ["Infinity", [Number.POSITIVE_INFINITY]],
    ["a bigint", { a: 1n }],
    ["a hole in a list", [undefined]],
    ["a Date", { a: new Date(0) }],
    ["a Map", new Map()],
    ["a function", { a: () => 1 }],
  ])("refuses %s", (_, value) => expect(() => canonicalJson(value)).toThrow(/a report holds/));

  it("agrees with JSON on what it says, whatever the order of keys", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

describe("The result hash", () => {
  it("is the SHA-256 of the canonical text without the hash, the time it took, and words about the run", () => {
    const { resultHash: _, wallMs: __, warnings: ___, assumptions: ____, ...decided } = sampleReport();
    expect(hashOf(sampleReport())).toBe(createHash("sha256").update(canonicalJson(decided)).digest("hex"));
  });

  it("does not see how long the machine took", () => {
    expect(hashOf({ ...sampleReport(), wallMs: 1, resultHash: "x" })).toBe(
      hashOf({ ...sampleReport(), wallMs: 2, resultHash: "y" }),
    );
  });

  it("sees everything else", () => {
    const report = sampleReport();
    const hashes = Object.entries(report).map(([key, value]) =>
      hashOf({
        ...report,
        [key]: typeof value === "string" ? `${value}!` : typeof value === "number" ? value + 1 : [value],
      }),
    );
    // Four have no part in it, and so give the same hash.
    expect(new Set(hashes).size).toBe(Object.keys(report).length - 3);
  });

  it("fails loudly on a figure that is not one", () => {
    const { drawdown: _, ...rest } = sampleReport();
    try {
      hashOf({ ...rest, drawdown: { max: "0", maxPercent: Number.NaN as unknown as string } });
      expect.unreachable();
    } catch (error) {
      expect(isSluiceError(error) && error.code).toBe("BUG");
    }
  });
});
