import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { examinationText } from "../../../plugins/conformance/doctor-table.ts";
import { ink, widthOf } from "../../../src/report/ansi.ts";
import { examination, finding } from "./harness/examinations.ts";

describe("The table of an examination", () => {
  it("shows what differs first, what holds last, and the lines to write", () => {
    const text = examinationText(
      examination([
        finding("holds", "auth.digest"),
        finding("not seen", "limits.anchor"),
        finding("differs"),
        finding("not asked", "paging.newestFirst"),
      ]),
      100,
      ink(false),
    );
    const order = text.split("\n").filter((line) => line.includes("G17"));
    expect(order.map((line) => line.split("  ")[0])).toEqual(["differs", "could not be asked", "not seen", "holds"]);
    expect(text).toContain("1 differs, 1 could not be asked, 1 not seen, 1 holds. 14 requests, weight 51.\n");
    expect(
      text.endsWith(
        "Write in the config, in place of any profile there:\nprofile: {\n  weights: { getOrder: 2 },\n},\n",
      ),
    ).toBe(true);
  });

  it("has no lines to write when nothing differs", () => {
    expect(examinationText(examination([finding("holds")]), 80, ink(false))).not.toContain("profile: {");
  });

  it("gives a reason that rows share once, and none that the opening gives", () => {
    const rows = ["a", "b", "c"].map((row) =>
      finding("not asked", row, { evidence: row === "c" ? "another reason" : "one reason" }),
    );
    const lines = examinationText(examination(rows), 100, ink(false)).split("\n");
    expect(lines.filter((line) => line.includes("reason")).map((line) => line.trim())).toEqual([
      "one reason",
      "another reason",
    ]);
    expect(lines.findIndex((line) => line.includes("one reason"))).toBe(3);
    const inconclusive = examinationText(
      examination(rows.slice(0, 2), { inconclusive: "one reason" }),
      100,
      ink(false),
    );
    expect(inconclusive.split("one reason")).toHaveLength(2);
  });

  it("makes foreign words harmless", () => {
    const text = examinationText(
      examination([finding("differs", "x", { found: "a\u001b[2J", evidence: '"b\nc"' })]),
      100,
      ink(false),
    );
    expect(text).toContain("a\\u001b[2J");
    expect(text).toContain('"b\\nc"');
    expect(text).not.toContain("\u001b");
  });

  it("is as wide as the page, unless the page is narrower than any table", () => {
    const words = fc.string({ maxLength: 60 });
    const one = fc.record({ assumed: words, found: words, evidence: words });
    fc.assert(
      fc.property(
        fc.array(one, { minLength: 1, maxLength: 5 }),
        fc.integer({ min: 80, max: 160 }),
        (given, columns) => {
          const findings = given.map((part) => finding("holds", "cancelBatch.envelopeCodeWhenAllFailed", part));
          const text = examinationText(examination(findings), columns, ink(false));
          expect(text.split("\n").filter((line) => widthOf(line) > columns)).toEqual([]);
        },
      ),
    );
  });
});
