/**
 * One worker thread as a function from job to answer.
 *
 * Invariants: a thread that dies answers its job with how it died; what runs in it cannot write to our output; config files written
 * in TypeScript load in it as they do here, and `import "sluice"` inside them is the module that runs them.
 * Not here: how many threads there are and what they do next (pool.ts).
 */
import type { Worker } from "node:worker_threads";
import { SluiceError } from "../../errors.ts";
import { startThread } from "../../host/worker-start.ts";
import type { ReadMarket } from "../backtest-service.ts";
import type { Answer, Job, JobSettings } from "./job.ts";

export interface WorkerFacts {
  readonly configPath: string;
  /** Their columns are shared, so that handing them over costs the same whatever their size. */
  readonly markets: readonly ReadMarket[];
  readonly settings: JobSettings;
}

export type FromWorker =
  | { readonly kind: "ready" }
  | { readonly kind: "useless"; readonly reason: string }
  | { readonly kind: "answer"; readonly answer: Answer };

type Ended = { readonly kind: "answer"; readonly answer: Answer } | { readonly kind: "died"; readonly reason: string };

export interface Thread {
  /** One at a time; never rejects. */
  run(job: Job): Promise<Ended>;
  /** Ends it, whatever it is doing. */
  close(): Promise<void>;
}

/** Resolves when the thread has loaded the config; rejects when it cannot. */
export const openThread = async (facts: WorkerFacts): Promise<Thread> => {
  const worker = startWorker(facts);
  const first = await nextOf(worker);
  if (first.kind === "ready") return threadOf(worker);
  await worker.terminate();
  throw new SluiceError("CONFIG_INVALID", "reason" in first ? first.reason : "The worker answered before it was asked.");
};

const threadOf = (worker: Worker): Thread => {
  let ended: string | undefined;
  worker.once("exit", (code) => {
    ended ??= exitWords(code);
  });
  worker.on("error", (error) => {
    ended ??= messageOf(error);
  });
  return {
    run: async (job) => {
      if (ended !== undefined) return { kind: "died", reason: ended };
      const next = nextOf(worker);
      worker.postMessage(job);
      const message = await next;
      if (message.kind === "answer" || message.kind === "died") return message;
      return { kind: "died", reason: "it answered something else" };
    },
    close: async () => {
      await worker.terminate();
    },
  };
};

/** The next thing a worker tells, or how it ended before telling anything. */
const nextOf = (worker: Worker): Promise<FromWorker | Extract<Ended, { readonly kind: "died" }>> =>
  new Promise((resolve) => {
    const settle = (message: FromWorker | { readonly kind: "died"; readonly reason: string }): void => {
      worker.off("message", settle);
      worker.off("error", failed);
      worker.off("exit", exited);
      resolve(message);
    };
    const failed = (error: unknown): void => {
      settle({ kind: "died", reason: messageOf(error) });
    };
    const exited = (code: number): void => {
      settle({ kind: "died", reason: exitWords(code) });
    };
    worker.on("message", settle);
    worker.on("error", failed);
    worker.on("exit", exited);
  });

const exitWords = (code: number): string => `it ended with code ${code}`;
const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

const startWorker = (facts: WorkerFacts): Worker => {
  // What a run makes it mostly drops at once; threads that collect it often get in each other's way.
  const resourceLimits = { maxYoungGenerationSizeMb: 64 };
  const worker = startThread(new URL("./worker", import.meta.url), facts, {
    stdout: true,
    stderr: true,
    resourceLimits,
    entries: ["../backtest.js"],
  });
  // Read and dropped: a hundred runs at once have nothing to say that a person could follow.
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
};
