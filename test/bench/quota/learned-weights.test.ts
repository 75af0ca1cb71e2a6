/**
 * Weights that engines learn beside others on the same user, none of which knows of the others.
 *
 * Not here: what single differences teach (test/unit/scheduler/quota/weights.test.ts).
 */
import { describe, expect, it } from "vitest";
import type { EndpointName } from "../../../src/contract/endpoints.ts";
import type { Ledger } from "../../../src/scheduler/quota/ledger.ts";
import { scenarios } from "./all-scenarios.ts";
import { runCell } from "./cell.ts";
import type { Scenario } from "./scenarios.ts";
import { createSluice } from "./sluice.ts";

/** As the scenarios state them. */
const stated: Partial<Record<EndpointName, number>> = { placeOrder: 10, cancelBatch: 15, getOrder: 2, positions: 5 };

describe("Engines on one user, unaware of each other", () => {
  it.each([
    [2, 1],
    [2, 2],
    [4, 1],
    [4, 2],
  ])("%i of them charge no call more than it weighs, seed %i", async (engines, seed) => {
    const ledgers: Ledger[] = [];
    const scenario: Scenario = { ...(scenarios["L"] as Scenario), engines };
    await runCell({
      scenario,
      seed,
      minutes: 15,
      createLimiter: createSluice({}, undefined, (ledger) => ledgers.push(ledger)),
    });
    expect(ledgers).toHaveLength(engines);
    const tooHeavy = ledgers.flatMap(({ learned }) =>
      [...learned].filter(([endpoint, weight]) => weight > (stated[endpoint] ?? 0)),
    );
    expect(tooHeavy).toEqual([]);
  });
});
