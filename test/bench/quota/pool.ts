/**
 * Runs cells in workers, a few at a time: one worker for all seeds of a limiter in a scenario.
 *
 * Invariants: a cell that fails names itself and fails the run; a worker never outlives its cells; what a limiter leaves
 * behind cannot reach the next seed, because the time its timers wait for never comes.
 */
import { Worker } from "node:worker_threads";
import type { Contender } from "./roster.ts";
import type { Tally } from "./tally.ts";

export interface Series {
  readonly contender: Contender;
  readonly scenario: string;
  readonly seeds: readonly number[];
  readonly minutes: number;
}

const tallyOf = (worker: Worker, series: Series, seed: number): Promise<Tally> =>
  new Promise((resolve, reject) => {
    const { contender, scenario, minutes } = series;
    const failed = (cause: unknown): void => {
      reject(new Error(`${contender.label}, scenario ${scenario}, seed ${seed}: ${String(cause)}`, { cause }));
    };
    worker.once("error", failed);
    worker.once("message", (tally: Tally) => {
      worker.off("error", failed);
      resolve(tally);
    });
    worker.postMessage({ scenario, seed, minutes });
  });

const runSeries = async (series: Series): Promise<Tally[]> => {
  const { module, configuration } = series.contender;
  const worker = new Worker(new URL("./worker.mjs", import.meta.url), { workerData: { module, configuration } });
  const tallies: Tally[] = [];
  try {
    for (const seed of series.seeds) tallies.push(await tallyOf(worker, series, seed));
  } finally {
    await worker.terminate();
  }
  return tallies;
};

export const runAll = async (
  all: readonly Series[],
  jobs: number,
  finished: (series: Series, tallies: readonly Tally[]) => void,
): Promise<void> => {
  const waiting = [...all];
  const work = async (): Promise<void> => {
    for (let series = waiting.shift(); series !== undefined; series = waiting.shift())
      finished(series, await runSeries(series));
  };
  await Promise.all(Array.from({ length: jobs }, work));
};
