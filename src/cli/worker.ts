/**
 * `sluice worker --queue <address>`: runs jobs of sweeps and simulations that other machines submit.
 *
 * Invariants: it runs the files of this folder, and only where they equal the submitter's; Ctrl-C finishes the running job, a second
 * one returns it to the queue; it works until it is stopped.
 * Not here: taking jobs (backtest/sweep/workers/queue-worker.ts), running them (sweep-work.ts, verify/simulation/simulation-work.ts).
 */
import { availableParallelism } from "node:os";
import type { Command } from "commander";
import { createSystemClock } from "../clock/system-clock.ts";
import { counted } from "../report/number-format.ts";
import { queueAddress } from "./address-option.ts";
import { type CliIo, printable } from "./io.ts";
import { wholeFrom } from "./option-values.ts";

interface Flags {
  readonly queue: string;
  readonly fixtures?: string;
  readonly cache?: string;
  readonly jobs: number;
}

export const addWorkerCommand = (program: Command, io: CliIo): void => {
  program
    .command("worker")
    .description(
      "Run jobs of sweeps and simulations that were started with --workers on other machines, with the files of this folder.",
    )
    .requiredOption(
      "--queue <address>",
      "the queue in Redis, Valkey or PostgreSQL: redis://HOST:PORT, postgres://HOST:PORT/DATABASE or env:NAME for the variable that holds it",
    )
    .option(
      "--fixtures <place>",
      "where recorded markets are by their hash: a folder, an http(s):// address, or s3://BUCKET/PREFIX",
    )
    .option("--cache <dir>", "folder for fixtures that were fetched (default ~/.cache/sluice/fixtures)")
    .option("--jobs <n>", "runs at a time", wholeFrom(1, 256), availableParallelism())
    .action((flags: Flags) => work(flags, io));
};

const work = async ({ queue, fixtures, cache, jobs }: Flags, io: CliIo): Promise<void> => {
  const url = queueAddress(queue);
  const [{ QueueWorker }, { openSweepWork }, { openSimulationWork }, { shownAddress }, { checkSource }] =
    await Promise.all([
      import("../backtest/sweep/workers/queue-worker.ts"),
      import("../backtest/sweep/workers/sweep-work.ts"),
      import("../verify/simulation/simulation-work.ts"),
      import("../backtest/sweep/workers/queue-address.ts"),
      import("../backtest/sweep/workers/fixture-download.ts"),
    ]);
  if (fixtures !== undefined) checkSource(fixtures);
  const places = { ...(fixtures !== undefined && { source: fixtures }), ...(cache !== undefined && { cache }) };
  const say = (text: string): void => {
    io.err(`${printable(text)}\n`);
  };
  const worker = await QueueWorker.open({
    url,
    jobs,
    clock: createSystemClock(),
    kinds: { sweep: openSweepWork(places), simulation: openSimulationWork(places) },
    say,
  });
  say(`Waiting for work at ${shownAddress(url)}, ${counted(jobs, "run")} at a time. Ctrl-C ends it.`);
  const leave = io.onStop(() => {
    worker.stop();
  });
  const done = await worker.run().finally(leave);
  say(`${counted(done, "run")} done.`);
};
