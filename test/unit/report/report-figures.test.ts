import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cut, ink, printable, widthOf, wrapped } from "../../../src/report/ansi.ts";
import { chart } from "../../../src/report/chart.ts";
import {
  amount,
  counted,
  duration,
  grouped,
  minuteOf,
  percent,
  placesFor,
  signed,
} from "../../../src/report/number-format.ts";
import { timeAxis, valueTicks } from "../../../src/report/ticks.ts";

describe("Report figures:", () => {
  it.each([
    [0, "0"],
    [999, "999"],
    [1_204_311, "1,204,311"],
    ["-1234567.891", "-1,234,567.891"],
  ])("groups the digits of %s", (value, expected) => expect(grouped(value)).toBe(expected));

  it.each([
    ["0", 2, "0.00"],
    ["1234.5", 2, "1,234.50"],
    ["1.005", 2, "1.01"],
    ["-1.005", 2, "-1.01"],
    ["-0.001", 2, "0.00"],
    ["2.5", 0, "3"],
    ["0.12345678", 8, "0.12345678"],
  ])("rounds %s to %i places", (value, places, expected) => expect(amount(value, places)).toBe(expected));

  it("marks gains with a plus and leaves zero alone", () => {
    expect([signed("1", 2), signed("-1", 2), signed("0", 2)]).toEqual(["+1.00", "-1.00", "0.00"]);
  });

  it.each([
    ["10000", 2],
    ["-500", 2],
    ["0", 2],
    ["12", 4],
    ["0.5", 8],
  ])("money the size of %s is shown with %i places", (reference, places) => expect(placesFor(reference)).toBe(places));

  it.each([
    [0, "0 ms"],
    [0.25, "0.3 ms"],
    [24.6, "25 ms"],
    [999.4, "999 ms"],
    [999.7, "1 s"],
    [1_340, "1.34 s"],
    [12_345, "12.3 s"],
    [59_949, "59.9 s"],
    [59_960, "1 min"],
    [200_000, "3 min 20 s"],
    [3_600_000, "1 h"],
    [187_200_000, "2 d 4 h"],
  ])("%d ms reads %s", (ms, expected) => expect(duration(ms)).toBe(expected));

  it.each([
    [0, 0, "-"],
    [0, 5, "0 %"],
    [1, 1_000, "0.1 %"],
    [999, 1_000, "99.9 %"],
    [1_185, 1_200, "99 %"],
    [24, 12, "200 %"],
  ])("%d of %d is %s", (part, whole, expected) => expect(percent(part, whole)).toBe(expected));

  it.each([
    ["2024-01-01T00:59:59.947Z", "2024-01-01 01:00"],
    ["2023-12-31T23:59:30.000Z", "2024-01-01 00:00"],
    ["2024-01-01T00:00:29.999Z", "2024-01-01 00:00"],
  ])("the minute of %s is %s", (iso, expected) => expect(minuteOf(iso)).toBe(expected));

  it("counts in words", () => {
    expect([counted(1, "row"), counted(2_000, "row"), counted(0, "entry", "entries")]).toEqual([
      "1 row",
      "2,000 rows",
      "0 entries",
    ]);
  });
});

describe("Text for terminals", () => {
  it.each([
    ["a screen wipe", "\u001b[2Jx", "\\u001b[2Jx"],
    ["new lines and tabs", "a\r\nb\tc", "a\\r\\nb\\tc"],
    ["C1 controls", "\u009b31m", "\\u009b31m"],
    ["marks that reverse the direction", "a\u202eb", "a\\u202eb"],
    ["a broken half of a character", "\ud800", "\\ud800"],
    ["nothing in ordinary words", "Zürich 東京 😀", "Zürich 東京 😀"],
  ])("spells out %s", (_, text, expected) => expect(printable(text)).toBe(expected));

  it("counts columns, not characters", () => {
    expect([
      widthOf("abc"),
      widthOf(ink(true).red("abc")),
      widthOf("東京"),
      widthOf("e\u0301"),
      widthOf("×⣿█"),
    ]).toEqual([3, 3, 4, 1, 3]);
  });

  it("cuts within the columns given", () => {
    expect([cut("abcdef", 4), cut("abcd", 4), cut("東京都", 5), cut("abc", 0)]).toEqual(["abc…", "abcd", "東京…", ""]);
  });

  it("wraps words and never exceeds the width", () => {
    expect(wrapped("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrapped("incomprehensible so", 8)).toEqual(["incompr…", "so"]);
    expect(wrapped("abcd efgh", 8)).toEqual(["abcd", "efgh"]);
    expect(wrapped("", 8)).toEqual([]);
  });

  it("writes no code without colour and always closes what it opened", () => {
    expect(ink(false).red("x")).toBe("x");
    expect(ink(true).red("x")).toBe("\u001b[31mx\u001b[39m");
    expect(ink(true).red("")).toBe("");
  });
});

describe("The equity chart", () => {
  const bare = {
    label: ({ value }: { value: number }) => String(value),
    line: (text: string) => text,
    frame: (text: string) => text,
  };
  const draw = (values: readonly number[], width = 14, height = 2) =>
    chart(
      values.map((value, i) => ({ at: i * 1_000, value })),
      { width, height, ...bare },
    );

  it("is nothing without points", () => {
    expect(draw([])).toEqual([]);
  });

  it("rises from the lower left to the upper right, above the level it started from", () => {
    expect(draw([0, 1, 2, 3, 4, 5, 6, 7], 13).slice(0, 3)).toEqual(["7 ┤    ⢀⣠⠴⠚ 7", "0 ┤⣀⡤⠖⠋⠉···", "  └┬───────"]);
  });

  it("labels the highest, the lowest, the first and the last value at their rows", () => {
    const rows = draw([5, 9, 1, 3], 20, 4);
    expect(rows.map((row) => row.trim().split(" ")[0])).toEqual(
      ["9", "│", "5", "1", expect.stringMatching(/^└/), "00:00:00"].map((text) =>
        text === "│" ? expect.stringMatching(/^│/) : text,
      ),
    );
    expect(rows.filter((row) => row.endsWith(" 3"))).toHaveLength(1);
  });

  it("keeps a spike that lasted less than a dot", () => {
    const values = Array.from({ length: 5_000 }, (_, i) => (i === 2_500 ? 100 : 0));
    expect(draw(values, 20, 3)[0]).toMatch(/[\u2801-\u28ff]/);
  });

  it("draws a line without height in the middle", () => {
    const rows = draw([4, 4, 4], 20, 3);
    expect(rows.map((row) => /[\u2801-\u28ff]/.test(row))).toEqual([false, true, false, false, false]);
  });

  it("never exceeds its width", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: -9_999, max: 9_999 }), { minLength: 1, maxLength: 50 }),
        fc.integer({ min: 30, max: 120 }),
        (values, width) => {
          for (const row of draw(values, width, 4)) expect(widthOf(row)).toBeLessThanOrEqual(width);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each([
    ["minutes of an hour", 0, 3_600_000, 60, ["00:00", "00:10", "00:20", "00:30", "00:40", "00:50"]],
    ["round instants although the start is not", 90_000, 690_000, 40, ["00:02", "00:04", "00:06", "00:08", "00:10"]],
    ["seconds", 0, 30_000, 60, ["00:00:00", "00:00:10", "00:00:20"]],
    ["days and hours", 0, 1.5 * 86_400_000, 50, ["01-01", "00:00", "01-01", "12:00", "01-02", "00:00"]],
    ["days", 0, 40 * 86_400_000, 60, ["01-01", "01-08", "01-15", "01-22", "01-29", "02-05"]],
    ["years where they matter", 0, 400 * 86_400_000, 60, ["1970-01-01", "1970-04-02", "1970-07-02", "1970-10-01"]],
    ["nothing where no time passes", 5, 5, 60, []],
  ])("the axis names %s", (_, startAt, endAt, width, expected) => {
    const [rule, names] = timeAxis(startAt, endAt, width);
    expect(rule).toHaveLength(width + 1);
    expect(names.trim().split(/\s+/).filter(Boolean)).toEqual(expected);
  });

  it("puts each tick above the start of its name", () => {
    const [rule, names] = timeAxis(0, 3_600_000, 60);
    const ticks = [...rule.matchAll(/┬/g)].map(({ index }) => index);
    expect(ticks).toEqual([...names.matchAll(/\S+/g)].map(({ index }) => index));
  });
});

describe("Ticks of values", () => {
  it.each([
    [9_988, 10_001, ["9,990", "9,995", "10,000"]],
    [-0.12, 0, ["-0.10", "-0.05", "0.00"]],
    [0, 1_296, ["0", "500", "1,000"]],
    [58_000, 61_000, ["58,000", "59,000", "60,000", "61,000"]],
    [0.00001, 0.00003, ["0.000010", "0.000015", "0.000020", "0.000025", "0.000030"]],
    [7, 7, ["7.00"]],
  ])("from %d to %d are round", (low, high, expected) => {
    expect(valueTicks(low, high, 4).map(({ text }) => text)).toEqual(expected);
  });
});
