/**
 * The oracle's own proof: each deliberate fault is found by the property that the real ledger passes.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mutants, withoutReserve } from "./mutants.ts";
import { faultsOf, planOf, slowExits } from "./plan.ts";
import { type Alter, faithful, type Plan } from "./world.ts";

/** Where a fault can show at all: the address only binds with several users, a stranger's refusals need a stranger. */
const places: Readonly<Record<string, Partial<Plan>>> = {
  "does not count the address": { users: 4, mix: "light", outstanding: 20 },
  "takes each key for a user": { keysPerUser: 3, outstanding: 15 },
  "ignores what the service says is used": { spentBefore: 1_150, outstanding: 15 },
  "starts warm": { spentBefore: 1_150, outstanding: 15 },
  "takes a refusal for a success": { strangerPerMinute: 110, outstanding: 15 },
  "one call too many for a key's second": { mix: "light", outstanding: 40, keysPerUser: 1 },
  "sees windows begin 7 ms early": { network: "near", mix: "light", outstanding: 40, keysPerUser: 1 },
};

/** A mutant that merely gets stuck has not been seen through: only overruns and storms count. */
const isOverrun = (fault: string): boolean => !fault.includes("never left");

const finds = (given: Partial<Plan>, alter: Alter): boolean =>
  fc.check(
    fc.property(planOf(given), (plan) => !faultsOf(plan, alter).some(isOverrun)),
    { seed: 5, numRuns: 60, endOnFailure: true },
  ).failed;

describe("The quota oracle finds a ledger that", () => {
  it.each(Object.keys(mutants))("%s", (name) => {
    expect(finds(places[name] ?? {}, mutants[name] ?? faithful)).toBe(true);
  });

  it("keeps nothing for exits", () => {
    const plans = fc.sample(
      planOf({ users: 1, network: "usual", outstanding: 15, lostShare: 0, strangerPerMinute: 0, spentBefore: 0 }),
      {
        seed: 23,
        numRuns: 30,
      },
    );
    expect(slowExits(plans, withoutReserve, 1_100)).toBeGreaterThan(0.2);
  });
});

describe("The real ledger is safe", () => {
  it.each(Object.entries(places))("where one %s", (_, given) => {
    const result = fc.check(
      fc.property(planOf(given), (plan) => faultsOf(plan, faithful).length === 0),
      { seed: 5, numRuns: 8, endOnFailure: true },
    );
    expect(result.counterexample).toBe(null);
  });
});
