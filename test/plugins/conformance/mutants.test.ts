/**
 * Each defect of a service is found by the rule it breaks, and no other rule minds it.
 */
import { describe, expect, it } from "vitest";
import { rulesFor } from "../../../plugins/conformance/rules/suite.ts";
import { answerMutants } from "./answer-mutants.ts";
import { examine, ofKind, patient } from "./harness/conformance.ts";
import { limitMutants } from "./limit-mutants.ts";
import { listingMutants } from "./listing-mutants.ts";

const rules = rulesFor(undefined);

const mutants = [...answerMutants, ...listingMutants, ...limitMutants];

describe("A defect fails its conformance rule and no other:", () => {
  it.each(mutants)("$name", async ({ defect, fails, slow }) => {
    const result = await examine(patient({}, defect), { quick: slow !== true });
    expect([...ofKind(result, "fail")].sort()).toEqual([...fails].sort());
  });

  it("every rule that judges has failed once", () => {
    const failed = new Set(mutants.flatMap(({ fails }) => fails));
    const never = rules.filter(
      ({ id, title, needs }) => !failed.has(id) && !title.startsWith("open: ") && needs !== "socket",
    );
    expect(never.map(({ id }) => id)).toEqual([]);
  });
});
