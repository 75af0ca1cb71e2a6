/**
 * A worker's part in a simulation: threads that play the seeds of one sheet.
 *
 * Invariants: nothing is played before version, files, values and recording are those of the sheet.
 * Not here: where seeds come from (backtest/sweep/workers/queue-worker.ts), who asks for them (queued-simulation.ts).
 */

import { openThreadOn } from "../../backtest/sweep/thread.ts";
import type { DownloadBounds } from "../../backtest/sweep/workers/fixture-download.ts";
import { type FixturePlaces, fixtureByHash } from "../../backtest/sweep/workers/fixture-source.ts";
import type { OpenWork, Work } from "../../backtest/sweep/workers/queue-worker.ts";
import { type AcceptedConfigs, checkValues, configOf } from "../../backtest/sweep/workers/sheet-config.ts";
import type { WorkSheet } from "../../backtest/sweep/workers/work-sheet.ts";
import { WorkThreads } from "../../backtest/sweep/workers/work-threads.ts";
import { seedBounds } from "../../contract/option-check.ts";
import { parseHuman } from "../../contract/validate.ts";
import { checkConfig } from "../../host/config.ts";
import type { SeedAnswer, SeedFacts, SeedJob } from "./seed-thread.ts";

const settingsSchema = {
  type: "object",
  additionalProperties: false,
  required: ["minutes", "plugins"],
  properties: { minutes: { type: "integer", minimum: 1, maximum: 1_440 }, plugins: { type: "boolean" } },
};
const jobSchema = {
  type: "object",
  additionalProperties: false,
  required: ["index"],
  properties: { index: { type: "integer", minimum: seedBounds.least, maximum: seedBounds.most } },
};

export const openSimulationWork =
  (places: FixturePlaces, accepted?: AcceptedConfigs): OpenWork =>
  async (sheet: WorkSheet, bounds: DownloadBounds): Promise<Work> => {
    const settings = parseHuman<Pick<SeedFacts, "minutes" | "plugins">>(
      settingsSchema,
      sheet.settings,
      "the sheet's settings",
      "USAGE",
    );
    const { path, config } = await configOf(sheet, "simulate", accepted);
    checkValues(sheet, path, checkConfig(config));
    const { fixture } = sheet;
    const dir =
      fixture === undefined ? {} : { fixture: await fixtureByHash(fixture.name, fixture.contentHash, places, bounds) };
    const facts: SeedFacts = { configPath: path, ...settings, ...dir };
    const threads = new WorkThreads(() =>
      openThreadOn<SeedJob, SeedAnswer>(new URL("./seed-thread", import.meta.url), facts),
    );
    return {
      title: `simulation of ${sheet.config.path}`,
      run: (data) => threads.run(parseHuman<SeedJob>(jobSchema, data, "a job of the simulation", "USAGE")),
      close: () => threads.close(),
    };
  };
