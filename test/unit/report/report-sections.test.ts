/** The text of a report by section, from which a page and the terminal draw the same. */
import { describe, expect, it } from "vitest";
import { reportSections, textOf } from "../../../src/report/report-sections.ts";
import { reportText } from "../../../src/report/report-text.ts";
import { sampleReport } from "../../support/harness/sample-report.ts";

const { title, facts, keyFigures, sections } = reportSections(sampleReport());
const tables = sections.flatMap(({ blocks }) => blocks).flatMap((block) => (block.kind === "table" ? [block] : []));

describe("Sections of a report", () => {
  it("name the run and its headings in the order of a page", () => {
    expect(title).toBe("Backtest of demo");
    expect(facts).toBe("2026-01-05 00:00 to 01:00 UTC (1 h), 93,954 rows, seed 7, 1,204,311 events");
    expect(sections.map(({ name }) => name)).toEqual([
      "Trades",
      "Result",
      "Returns",
      "Strategies",
      "Quota",
      "Refused and rejected orders",
      "Recording",
      "Assumptions",
    ]);
  });

  it("have a cell for each column of a table", () => {
    for (const { id, columns, rows } of tables)
      expect([id, ...rows.map(({ length }) => length)]).toEqual([id, ...rows.map(() => columns.length)]);
  });

  it("have figures of the whole run with their explanation", () => {
    expect(keyFigures.slice(0, 2)).toEqual([
      { name: "Result in USDT", value: "+128.40", note: "+1.28 % of 10,000.00" },
      { name: "Drawdown", value: "82.17", note: "0.81 % of the high" },
    ]);
  });

  it.each(["money", "orders", "trades", "held"])("hold every cell that the terminal shows: %s", (id) => {
    const text = reportText(sampleReport(), { columns: 160, colour: false });
    const cells = tables.find((table) => table.id === id)?.rows.flat() ?? [];
    expect(cells.length).toBeGreaterThan(4);
    for (const cell of cells) expect(text).toContain(textOf(cell).trim());
  });

  it("leave foreign text as it came, for whoever draws it", () => {
    const named = { ...sampleReport().fixture, name: "<b>\u001b" };
    expect(reportSections({ ...sampleReport(), fixture: named }).title).toBe("Backtest of <b>\u001b");
  });

  it("have sentences where there are no rows, and no recording after a run in real time", () => {
    const run = { kind: "live", place: "http://there", equity: "fills" } as const;
    const bare = reportSections({ ...sampleReport(), run, positions: [], turnedDown: [] });
    const texts = bare.sections
      .flatMap(({ blocks }) => blocks)
      .map((block) => (block.kind === "table" ? "" : block.text));
    expect(texts).toContain("No strategy held anything at the end.");
    expect(texts).toContain("No order was refused or rejected.");
    expect(bare.title).toBe("Live run at http://there");
    expect(bare.sections.map(({ id }) => id)).not.toContain("recording");
  });
});
