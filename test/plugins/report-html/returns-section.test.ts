/** Returns on the page of a run: months, falls and how single returns are distributed. */
import { describe, expect, it } from "vitest";
import { returnsSection } from "../../../plugins/report-html/returns-section.ts";
import type { RunDetails } from "../../../src/report/details.ts";
import { reportSections } from "../../../src/report/report-sections.ts";
import { returnSeries } from "../../../src/report/return-series.ts";
import { returnsOf } from "../../../src/report/returns.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";

const dayMs = 86_400_000;
const startAt = Date.UTC(2024, 0, 1);

/** Equity at each midnight. */
const pageOf = (closes: readonly number[]): string => {
  const equity = closes.map((close, index) => ({ at: startAt + index * dayMs, equity: String(close) }));
  const ms = (closes.length - 1) * dayMs;
  const [returns, series] = [returnsOf(equity, ms), returnSeries(equity, ms)];
  const { returns: _, ...report } = sampleReport();
  const moved = { ...report, ...(returns && { returns }) };
  const blocks = reportSections(moved).sections.find(({ id }) => id === "returns")?.blocks ?? [];
  return returnsSection(blocks, { report: moved, details: { returns: series } as unknown as RunDetails }).markup;
};

describe("The returns of a page", () => {
  // January gains 10 %, February loses 5 % of that, March gains 1 %.
  const closes = [
    ...Array.from({ length: 32 }, (_, day) => 1_000 + (100 * day) / 31),
    ...Array.from({ length: 29 }, (_, day) => 1_100 - (55 * (day + 1)) / 29),
    ...Array.from({ length: 31 }, (_, day) => 1_045 + (10.45 * (day + 1)) / 31),
  ];

  it("shade months by what they say", () => {
    expect(
      [...pageOf(closes).matchAll(/class="month (\w*)">([^<]*)</g)].slice(0, 4).map(([, shade, text]) => [shade, text]),
    ).toEqual([
      ["up4", "10.0"],
      ["down2", "−5.0"],
      ["up1", "1.0"],
      ["", ""],
    ]);
  });

  it("list the deepest falls and put every return in a bar", () => {
    const page = pageOf(closes);
    expect(page).toContain("2024-01-31");
    expect(page).toContain("5.00 %");
    const bars = [...page.matchAll(/<rect class="(\w+)" [^>]*height="([\d.]+)"/g)];
    const [, tallest = ""] = /the tallest bar is (\d+)"/.exec(page) ?? [];
    const days = (kind: string): number =>
      bars.reduce(
        (total, [, of, height]) => total + (of === kind ? Math.round((Number(height) / 120) * Number(tallest)) : 0),
        0,
      );
    // The days of February fell, all others rose.
    expect([bars.length, days("down"), days("even"), days("up")]).toEqual([25, 29, 0, 62]);
  });

  it("draw nothing of a run that never moved", () => {
    const page = pageOf(Array.from({ length: 20 }, () => 1_000));
    expect(page).not.toMatch(/<svg|NaN|Infinity/);
  });
});
