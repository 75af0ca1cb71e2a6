/**
 * Two opinions on what a call costs: the scheduler with its ledger, and a meter that shares no code with them.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { networkKinds } from "./network.ts";
import { faultsOf, planOf, slowExits } from "./plan.ts";
import { faithful } from "./world.ts";

const holds = (seed: number, numRuns: number, given: Parameters<typeof planOf>[0]): void => {
  fc.assert(
    fc.property(planOf(given), (plan) => {
      expect(faultsOf(plan, faithful)).toEqual([]);
    }),
    { seed, numRuns, endOnFailure: true },
  );
};

describe("The ledger causes no 429 and starves nothing", () => {
  it.each(networkKinds)("whatever the load, with answers that are %s", (network) => {
    holds(7, 40, { network });
  });

  it("when several users behind one address could fill its minute", () => {
    holds(11, 6, { users: 4, mix: "light", outstanding: 20, strangerPerMinute: 0 });
  });

  it("when three keys of one user could each fill a second", () => {
    holds(13, 12, { users: 1, keysPerUser: 3, mix: "light", outstanding: 40 });
  });

  it("when a stranger spends most of the user's minute and then stops", () => {
    holds(17, 15, { strangerPerMinute: 110, lostShare: 0 });
  });

  it("a machine that slept goes on afterwards, whatever was in flight", () => {
    fc.assert(
      fc.property(planOf({ strangerPerMinute: 0, sleeps: [{ atMs: 40_000, forMs: 5_300 }] }), (plan) => {
        expect(faultsOf(plan, faithful).filter((fault) => fault.includes("never left"))).toEqual([]);
      }),
      { seed: 19, numRuns: 20, endOnFailure: true },
    );
  });
});

describe("An exit finds quota", () => {
  it("in all but a few of the seconds of a saturated client", () => {
    const plans = fc.sample(
      planOf({ users: 1, network: "usual", outstanding: 15, lostShare: 0, strangerPerMinute: 0, spentBefore: 0 }),
      {
        seed: 23,
        numRuns: 30,
      },
    );
    expect(slowExits(plans, faithful, 1_100)).toBeLessThan(0.05);
  });
});
