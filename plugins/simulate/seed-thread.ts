/**
 * Worker side of a thread that plays scenarios: loads the config once, then plays the seeds it is sent, one at a time.
 *
 * Invariants: it reports that it is ready, or the reason for which it is not, before it receives seeds; its answers
 * depend on the seed alone, so that the elapsed time is left out.
 * Not here: the sender of seeds (simulation-work.ts).
 */
import { parentPort, workerData } from "node:worker_threads";
import { loadConfigFile, messageOf } from "sluice/extension";
import type { FromWorker } from "sluice/plugins/sweep";
import { type Summary, seedPlayer } from "./simulation.ts";

export interface SeedFacts {
  readonly configPath: string;
  readonly minutes: number;
  readonly plugins: boolean;
  /** Folder of the recorded market, where there is one. */
  readonly fixture?: string;
}

/** A seed to play. */
export interface SeedJob {
  readonly index: number;
}

/** `error` where it could not be played. */
export type SeedAnswer = { readonly summary: Summary } | { readonly error: string };

const { configPath, ...options } = workerData as SeedFacts;

const say = (message: FromWorker<SeedAnswer>): void => {
  parentPort?.postMessage(message);
};

try {
  const play = seedPlayer(await loadConfigFile(configPath, { command: "simulate" }), options);
  parentPort?.on("message", ({ index }: SeedJob) => {
    void play(index).then(
      (summary) => {
        say({ kind: "answer", answer: { summary: { ...summary, elapsedMs: 0 } } });
      },
      (error: unknown) => {
        say({ kind: "answer", answer: { error: messageOf(error) } });
      },
    );
  });
  say({ kind: "ready" });
} catch (error) {
  say({ kind: "useless", reason: messageOf(error) });
}
