import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Anchor } from "../../../src/contract/profile.ts";
import { createWard, differing, found, unaskedRows } from "./harness/doctor.ts";

const anchors: readonly Anchor[] = ["wall_clock", "first_request", "sliding"];

describe("Windows of the service", () => {
  it.each(anchors)("are told to be %s, or not told, at every second of the minute", async (anchor) => {
    const told: string[] = [];
    for (let second = 0; second < 60; second += 3) {
      const ward = createWard({ service: { limits: { anchor } }, second });
      const beganAt = ward.clock.now();
      const examination = await ward.examine({ quick: false });
      const finding = found(examination, "limits.anchor");
      if (finding?.verdict !== "not seen") expect([second, finding?.found]).toEqual([second, anchor]);
      expect(differing(examination)).toEqual(finding?.verdict === "differs" ? ["limits.anchor"] : []);
      expect(ward.clock.now() - beganAt).toBeLessThan(75_000);
      told.push(finding?.verdict ?? "");
    }
    expect(told.filter((verdict) => verdict === "not seen").length).toBeLessThanOrEqual(2);
  });

  it("are not told when another program spends in between", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...anchors),
        fc.integer({ min: 0, max: 59 }),
        fc.array(fc.record({ count: fc.integer({ min: 0, max: 20 }), weight: fc.integer({ min: 1, max: 80 }) }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (anchor, second, spends) => {
          const ward = createWard({
            service: { limits: { anchor } },
            second,
            meanwhile: (venue, at, count) => {
              for (const spend of spends) if (spend.count === count) venue.spendElsewhere("ann", spend.weight, at);
            },
          });
          const examination = await ward.examine({ quick: false });
          const rows = examination.findings.filter(
            ({ row }) => row.startsWith("weights.") || row.startsWith("limits.") || row.startsWith("instruments."),
          );
          const wrong = rows.filter(
            (finding) =>
              finding.verdict === "differs" && !(finding.row === "limits.anchor" && finding.found === anchor),
          );
          expect(wrong).toEqual([]);
        },
      ),
      { numRuns: 60 },
    );
  });

  it("turning in between costs one more question, not a verdict", async () => {
    // The first requests leave at 59.0 s, so that the edge falls among the questions about orders.
    const examination = await createWard({ second: 59 }).examine();
    expect([differing(examination), unaskedRows(examination)]).toEqual([[], []]);
    const weights = ["weights.getOrder", "weights.pendingOrders", "weights.orderHistory"].map(
      (row) => found(examination, row)?.verdict,
    );
    expect(weights).toEqual(["holds", "holds", "holds"]);
  });
});

describe("Calendars", () => {
  it.each([
    [0, "holds", "within a second"],
    [4_000, "holds", /^[34]\.\d s behind$/],
    [12_000, "differs", /^1[12]\.\d s behind$/],
    [-12_000, "differs", /^1[12]\.\d s ahead$/],
  ])("%d ms apart: %s", async (skewMs, verdict, words) => {
    const finding = found(await createWard({ skewMs }).examine(), "clock");
    expect(finding?.verdict).toBe(verdict);
    expect(finding?.found).toMatch(words);
  });
});
