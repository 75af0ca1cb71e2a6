/**
 * A worker's part in a simulation: threads that play the seeds of one sheet.
 *
 * Invariants: nothing is played before version, files, values and recording are those of the sheet.
 * Not here: where seeds come from (`sluice worker`), who asks for them (queued-simulation.ts).
 */

import { checkConfig, parseHuman, seedBounds } from "sluice/extension";
import { type DownloadBounds, type FixturePlaces, fixtureByHash } from "sluice/plugins/fixtures";
import {
  type AcceptedConfigs,
  checkValues,
  configOf,
  defineWork,
  type OpenWork,
  openThreadOn,
  type Work,
  type WorkSheet,
  WorkThreads,
} from "sluice/plugins/sweep";
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

const openSimulationWork =
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

export default defineWork(openSimulationWork);
