/**
 * A worker's part in a sweep: threads that run the jobs of one sheet.
 *
 * Invariants: nothing is run before version, files, values and recording are those of the sheet; of a job only what a
 * run depends on is taken; a run that fails is an answer, a thread that dies is none.
 * Not here: the queue of jobs (queue-worker.ts).
 */
import { checkConfig, parseHuman, type TimeWindow, withOptions } from "sluice/extension";
import { type DownloadBounds, type FixturePlaces, fixtureByHash } from "sluice/plugins/fixtures";
import type { Job, JobSettings } from "../job.ts";
import { readMarkets } from "../sweep-markets.ts";
import { openThread } from "../thread.ts";
import type { OpenWork, Work } from "./queue-worker.ts";
import { type AcceptedConfigs, checkValues, configOf, Refusal } from "./sheet-config.ts";
import { defineWork } from "./work-kind.ts";
import type { WorkSheet } from "./work-sheet.ts";
import { WorkThreads } from "./work-threads.ts";

interface SweepSettings {
  readonly job: JobSettings;
  readonly windows: readonly { readonly train: TimeWindow; readonly test: TimeWindow }[];
  readonly warmUpMs: number;
}

const window = {
  type: "object",
  required: ["fromAt", "toAt"],
  properties: { fromAt: { type: "number" }, toAt: { type: "number" } },
};
const settingsSchema = {
  type: "object",
  required: ["job", "windows", "warmUpMs"],
  properties: {
    job: { type: "object" },
    windows: {
      type: "array",
      items: { type: "object", required: ["train", "test"], properties: { train: window, test: window } },
    },
    warmUpMs: { type: "number", minimum: 0 },
  },
};
const decimals = { type: "array", items: { type: ["string", "null"] } };
const jobSchema = {
  type: "object",
  additionalProperties: false,
  required: ["index", "overrides", "market"],
  properties: {
    index: { type: "integer", minimum: 0 },
    overrides: { type: "object", additionalProperties: { type: "object" } },
    market: { type: "integer", minimum: 0 },
    bars: decimals,
  },
};

const openSweepWork =
  (places: FixturePlaces, accepted?: AcceptedConfigs): OpenWork =>
  async (sheet: WorkSheet, bounds: DownloadBounds): Promise<Work> => {
    if (sheet.fixture === undefined) throw new Refusal("its sheet names no recorded market");
    const { name, contentHash } = sheet.fixture;
    const {
      job: settings,
      windows,
      warmUpMs,
    } = parseHuman<SweepSettings>(settingsSchema, sheet.settings, "the sheet's settings", "USAGE");
    const { path, config } = await configOf(sheet, "backtest", accepted);
    checkValues(sheet, path, checkConfig(withOptions(config, settings)));
    const markets = readMarkets(
      { fixture: name, windows, warmUpMs },
      await fixtureByHash(name, contentHash, places, bounds),
    );
    const threads = new WorkThreads(() => openThread({ configPath: path, settings, markets }));
    return {
      title: `sweep of ${sheet.config.path} on ${name}`,
      run: (data) => {
        const job = parseHuman<Job>(jobSchema, data, "a job of the sweep", "USAGE");
        return threads.run(job);
      },
      close: () => threads.close(),
    };
  };

export default defineWork(openSweepWork);
