/**
 * One run of a sweep: its input, its execution, its answer.
 *
 * Invariants: both are plain data; the answer depends on the job alone, not on the worker, its earlier jobs or the time
 * it took; a run in which a strategy failed is a failed job, not one with poor figures; one in which no order was
 * accepted has no figures, since nothing done would rank above every loss.
 * Not here: threads (thread.ts, pool.ts), the list of jobs (sweep-plan.ts).
 */

import { writeFileSync } from "node:fs";
import {
  type ReadMarket,
  type RunDetails,
  type RunOptions,
  type RunReport,
  runBacktest,
  withDetails,
} from "sluice/backtest";
import { checkConfig, type GivenOptions, unsentIn, withOptions } from "sluice/extension";
import { type Bars, FellBehind, watchRungs } from "./pruning.ts";
import { type Figures, figuresOf } from "./scores.ts";
import { type Overrides, varied } from "./space.ts";

export interface Job {
  readonly index: number;
  readonly overrides: Overrides;
  /** Index of the market to run on, from 0. */
  readonly market: number;
  /** Bars below which the run is given up early; without them it runs to its end. */
  readonly bars?: Bars;
  /** File to write the page of the run's report to. */
  readonly page?: string;
}

/** Settings shared by all jobs of a sweep. */
export interface JobSettings extends GivenOptions {
  readonly seed?: string;
  readonly limits?: boolean;
}

export type Answer =
  | {
      readonly status: "done";
      readonly resultHash: string;
      readonly figures: Figures;
      readonly rungs?: readonly string[];
    }
  /**
   * Given up at the share `at` of the traded time: its profit was below `bar`. `rungs` holds its profit at each rung.
   */
  | {
      readonly status: "pruned";
      readonly at: number;
      readonly pnl: string;
      readonly bar: string;
      readonly rungs: readonly string[];
    }
  /** Orders were wanted, and all of them were refused or rejected. */
  | { readonly status: "unaccepted"; readonly resultHash: string; readonly reason: string }
  | { readonly status: "failed"; readonly error: string };

/** `market` is the one the job names. */
export const runJob = async (
  config: unknown,
  { overrides, bars, page }: Job,
  market: ReadMarket,
  settings: JobSettings,
): Promise<Answer> => {
  const watch = bars && watchRungs(bars);
  try {
    // A journal belongs to one engine; orders of a sweep are never recovered.
    const { journal: _, ...checked } = checkConfig(withOptions(config, settings));
    const { seed, limits } = settings;
    const options = {
      market,
      print: () => undefined,
      ...(seed !== undefined && { seed }),
      ...(limits !== undefined && { limits }),
      ...(watch && { onProgress: watch.onProgress }),
    };
    const chosen = varied(checked, overrides);
    const report = page === undefined ? await runBacktest(chosen, options) : await runWithPage(chosen, options, page);
    const failed = Object.entries(report.perStrategy).find(([, { state }]) => state === "failed");
    if (failed !== undefined) {
      const place = report.failures?.find(({ kind, name }) => kind === "strategy" && name === failed[0])?.place;
      const where = place === undefined ? "" : ` (${place})`;
      return { status: "failed", error: `strategy ${failed[0]}: ${failed[1].error ?? "no message"}${where}` };
    }
    const reason = unsentIn(report);
    if (reason !== undefined) return { status: "unaccepted", resultHash: report.resultHash, reason };
    return {
      status: "done",
      resultHash: report.resultHash,
      figures: figuresOf(report),
      ...(watch && { rungs: watch.reached }),
    };
  } catch (error) {
    if (error instanceof FellBehind && watch !== undefined) {
      const { at, bar } = error;
      return { status: "pruned", at, pnl: watch.reached.at(-1) ?? "0", bar, rungs: watch.reached };
    }
    return { status: "failed", error: error instanceof Error ? error.message : String(error) };
  }
};

/** Details are kept for the page alone. */
const runWithPage = async (config: unknown, options: RunOptions, file: string): Promise<RunReport> => {
  let details: RunDetails | undefined;
  const detailed = withDetails(config, (seen) => {
    details = seen;
  });
  const report = await runBacktest(detailed, options);
  const { tearsheet } = await import("sluice/plugins/report-html");
  if (details !== undefined) writeFileSync(file, tearsheet(report, details));
  return report;
};
