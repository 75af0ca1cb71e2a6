/**
 * Pool of a sweep whose threads are on other machines.
 *
 * Invariants: the answers are those of threads here, to the byte; tasks that a worker must not do, such as writing
 * pages, are not sent.
 * Not here: the queue (queue-submitter.ts), the worker side (sweep-work.ts).
 */
import { hashOfSources } from "sluice/extension";
import type { Answer, Job } from "../job.ts";
import type { Pool } from "../pool.ts";
import type { SweepPlan } from "../sweep-plan.ts";
import { QueueSubmitter, type SubmitterOptions } from "./queue-submitter.ts";
import { checkPlain, placeBelow, type WorkSheet } from "./work-sheet.ts";

export const openQueuePool = async (plan: SweepPlan, options: SubmitterOptions): Promise<Pool> => {
  const failed = (error: string): Answer => ({ status: "failed", error });
  const again = ({ status }: Answer): boolean => status === "failed";
  const submitter = await QueueSubmitter.open<Job, Answer>(sheetOf(plan), { failed, again }, options);
  return {
    run: (jobs, answered) => submitter.run(jobs.map(sendable), answered),
    close: () => submitter.close(),
  };
};

/**
 * Returns the sheet: everything a worker needs besides a job, and everything that distinguishes the jobs of one sweep
 * from those of another.
 */
const sheetOf = ({ configPath, fixture, manifest, windows, warmUpMs, settings, identity }: SweepPlan): WorkSheet => {
  const shared = { job: settings, windows, warmUpMs, identity };
  checkPlain(shared);
  return {
    kind: "sweep",
    version: identity["version"] as string,
    config: { path: placeBelow(configPath), sources: hashOfSources(configPath), hash: identity["config"] as string },
    fixture: { name: fixture, contentHash: manifest.contentHash },
    settings: shared,
  };
};

const sendable = ({ index, overrides, market, bars }: Job): Job => ({
  index,
  overrides,
  market,
  ...(bars !== undefined && { bars }),
});
