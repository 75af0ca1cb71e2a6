/** Exposure and correlation, worked out by hand. */
import { describe, expect, it } from "vitest";
import { correlationOf, exposureReport } from "../../../src/report/portfolio.ts";
import { mulDiv } from "../../../src/report/proportion.ts";

const line = (name: string, values: readonly number[]) => ({
  name,
  points: values.map((value, index) => ({ at: index * 1_000, equity: String(value) })),
});

describe("Correlation of returns", () => {
  it("is Pearson's, and nothing where one side never moved", () => {
    // Changes: 10 %, -10 %, 10 %; twice as much; the other way; none; 0, 10 %, 0.
    const lines = [
      line("a", [100, 110, 99, 108.9]),
      line("double", [100, 120, 96, 115.2]),
      line("against", [100, 90, 99, 89.1]),
      line("still", [100, 100, 100, 100]),
      line("between", [100, 100, 110, 110]),
    ];
    expect(correlationOf(lines, 3_000)).toEqual({
      names: ["a", "double", "against", "still", "between"],
      values: [
        ["1", "1", "-1", null, "-1"],
        ["1", "1", "-1", null, "-1"],
        ["-1", "-1", "1", null, "1"],
        [null, null, null, null, null],
        ["-1", "-1", "1", null, "1"],
      ],
    });
    // 10 %, 0, 0 beside 10 %, -10 %, 10 %: deviations 2, -1, -1 and 2, -4, 2: 6 / √(6 × 24) = 0.5.
    expect(
      correlationOf([line("a", [100, 110, 99, 108.9]), line("b", [100, 110, 110, 110])], 3_000)?.values[0],
    ).toEqual(["1", "0.5"]);
    expect(correlationOf(lines.slice(0, 1), 3_000)).toBeUndefined();
  });
});

describe("A share of an amount", () => {
  it("is cut once, at the 18th place, however long the product", () => {
    expect(mulDiv("1", "2", "3")).toBe("0.666666666666666666");
    expect(mulDiv("-133287.539788461538461538", "12339.142857142857142857")).toBe("-1644653994.526939560439535703");
    expect(mulDiv("-100000000000000000000", "10000000000", "3")).toBe(`-${"3".repeat(30)}.${"3".repeat(18)}`);
    expect(mulDiv("0.000000001", "0.000000001")).toBe("0.000000000000000001");
    expect(mulDiv("-0.000000001", "0.0000000001")).toBe("0");
    expect(mulDiv("123456.123456789012345678", "0.123456789012345678", "0.123456789012345678")).toBe(
      "123456.123456789012345678",
    );
    expect(mulDiv("0", "5", "7")).toBe("0");
  });
});

describe("Exposure", () => {
  it("is told by its largest, mean and last value, the net one with its sign", () => {
    const points = [
      ["0", "0"],
      ["30", "-20"],
      ["20", "10"],
    ].map(([gross = "", net = ""], at) => ({ at, gross, net }));
    expect(exposureReport(points)).toEqual({
      gross: { max: "30", mean: "16.66666666", end: "20" },
      net: { max: "-20", mean: "-3.33333333", end: "10" },
    });
  });
});
