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

export type Ended = { readonly kind: "answer"; readonly answer: Answer } | { readonly kind: "died"; readonly reason: string };

export interface Thread {
  /** One at a time; never rejects. */
  run(job: Job): Promise<Ended>;
  /** Ends it, whatever it is doing. */
  close(): Promise<void>;
}

/** Resolves when the thread has loaded the config; rejects when it cannot. */
export const openThread = async (facts: WorkerFacts): Promise<Thread> => {
  const thread = new WorkerThread(startWorker(facts));
  const first = await thread.next();
  if (first.kind === "ready") return thread;
  await thread.close();
  throw new SluiceError("CONFIG_INVALID", "reason" in first ? first.reason : "The worker answered before it was asked.");
};

type Message = FromWorker | Extract<Ended, { readonly kind: "died" }>;

class WorkerThread implements Thread {
  readonly #worker: Worker;
  #settle: ((message: Message) => void) | undefined;
  /** How it ended. */
  #ended: Message | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (message: FromWorker) => this.#settle?.(message));
    worker.on("error", (error) => this.#end(error instanceof Error ? error.message : String(error)));
    worker.on("exit", (code) => this.#end(`it ended with code ${code}`));
  }

  /** The next thing the worker says, or how it ended before it said anything. */
  next(): Promise<Message> {
    return new Promise((resolve) => {
      if (this.#ended === undefined) this.#settle = resolve;
      else resolve(this.#ended);
    });
  }

  async run(job: Job): Promise<Ended> {
    const next = this.next();
    if (this.#ended === undefined) this.#worker.postMessage(job);
    const message = await next;
    if (message.kind === "answer" || message.kind === "died") return message;
    return { kind: "died", reason: "it answered something else" };
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  #end(reason: string): void {
    this.#ended ??= { kind: "died", reason };
    this.#settle?.(this.#ended);
  }
}

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
