/**
 * A few minutes of the bench for our own limiter, so that a change that costs refusals or quota is noticed before the long run.
 *
 * Not here: the required figures, which need more seeds than a test has time for (run.mjs).
 */
import { describe, expect, it } from "vitest";
import { scenarios } from "./all-scenarios.ts";
import { runCell } from "./cell.ts";
import type { CreateLimiter } from "./limiter.ts";
import type { Scenario } from "./scenarios.ts";
import { configurations } from "./sluice.ts";
import { figuresOf } from "./tally.ts";

describe("Sluice in the quota bench, three minutes each", () => {
  it.each([
    ["A", 95],
    ["B", 90],
    ["D", 90],
    ["E", 85],
    ["G", 95],
    ["J", 90],
    ["K", 90],
    ["S900", 30],
  ])("scenario %s: no refusal and at least %i % of the binding layer used", async (id, utilisation) => {
    const figures = figuresOf(
      await runCell({
        scenario: scenarios[id] as Scenario,
        seed: 2,
        minutes: 3,
        createLimiter: configurations["default"] as CreateLimiter,
      }),
    );
    expect(figures.refusedPerHour).toBe(0);
    expect(figures.utilisationPct).toBeGreaterThan(utilisation);
    expect(figures.urgentMsP50).toBeLessThan(1_000);
  });
});
