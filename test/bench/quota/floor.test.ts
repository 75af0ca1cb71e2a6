/**
 * Services that count otherwise than described, for a few minutes: once on the floor, a limiter is refused no more and serves urgent
 * calls at once.
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

describe("Sluice in the quota bench where limits are as stated and evidence misleads, four minutes each", () => {
  // Two calls are refused together when it is found out that the counts are cached: 30 an hour.
  it.each([
    ["slides-key", 0],
    ["cached", 30],
    ["cached-key", 0],
    ["another-key", 0],
    ["another-user", 0],
    ["slow-windows-key", 0],
  ])("scenario %s: at most %i refusals an hour, four fifths used, urgent calls within 0.6 s", async (id, refusals) => {
    const figures = figuresOf(
      await runCell({
        scenario: scenarios[id] as Scenario,
        seed: 2,
        minutes: 4,
        createLimiter: configurations["default"] as CreateLimiter,
      }),
    );
    expect(figures.refusedPerHour).toBeLessThanOrEqual(refusals);
    expect(figures.utilisationPct).toBeGreaterThan(80);
    expect(figures.urgentMsP99).toBeLessThan(600);
  });
});
