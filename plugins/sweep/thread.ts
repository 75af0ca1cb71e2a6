/**
 * One worker thread as a function from job to answer.
 *
 * Invariants: a thread that dies answers its job with the reason; its code cannot write to our output; config files
 * written in TypeScript load in it as they do here, and `import "sluice"` inside them is the module that runs them.
 * Not here: the number of threads and their jobs (pool.ts).
 */
import type { Worker } from "node:worker_threads";
import { SluiceError } from "sluice";
import type { ReadMarket } from "sluice/backtest";
import { startThread } from "sluice/extension";
import type { Answer, Job, JobSettings } from "./job.ts";

export interface WorkerFacts {
  readonly configPath: string;
  /** Recorded markets; their columns are shared, so that passing them has the same cost for any size. */
  readonly markets: readonly ReadMarket[];
  readonly settings: JobSettings;
}

export type FromWorker<A = Answer> =
  | { readonly kind: "ready" }
  | { readonly kind: "useless"; readonly reason: string }
  | { readonly kind: "answer"; readonly answer: A };

export type Ended<A = Answer> =
  | { readonly kind: "answer"; readonly answer: A }
  | { readonly kind: "died"; readonly reason: string };

export interface Thread<J = Job, A = Answer> {
  /** One at a time; never rejects. */
  run(job: J): Promise<Ended<A>>;
  /** Ends the thread, also while it runs a job. */
  close(): Promise<void>;
}

/** Resolves when the thread has loaded the config; rejects when it cannot. */
export const openThread = (facts: WorkerFacts): Promise<Thread> =>
  openThreadOn(new URL("./worker", import.meta.url), facts);

/**
 * Opens a thread on another file that sends `FromWorker` and receives jobs; `entry` is its address without the
 * extension.
 */
export const openThreadOn = async <J, A>(entry: URL, facts: object): Promise<Thread<J, A>> => {
  const thread = new WorkerThread<J, A>(startWorker(entry, facts));
  const first = await thread.next();
  if (first.kind === "ready") return thread;
  await thread.close();
  throw new SluiceError(
    "CONFIG_INVALID",
    "reason" in first ? first.reason : "The worker answered before it was asked.",
  );
};

type Message<A> = FromWorker<A> | Extract<Ended, { readonly kind: "died" }>;

class WorkerThread<J, A> implements Thread<J, A> {
  readonly #worker: Worker;
  #settle: ((message: Message<A>) => void) | undefined;
  /** Last message: the reason for which the thread ended. */
  #ended: Message<A> | undefined;

  constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (message: FromWorker<A>) => this.#settle?.(message));
    worker.on("error", (error) => this.#end(error instanceof Error ? error.message : String(error)));
    worker.on("exit", (code) => this.#end(`it ended with code ${code}`));
  }

  /** Returns the next message of the worker, or the reason for which it ended before it sent one. */
  next(): Promise<Message<A>> {
    return new Promise((resolve) => {
      if (this.#ended === undefined) this.#settle = resolve;
      else resolve(this.#ended);
    });
  }

  async run(job: J): Promise<Ended<A>> {
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

const startWorker = (entry: URL, facts: object): Worker => {
  // A run drops most of its objects at once; threads that collect garbage often slow each other down.
  const resourceLimits = { maxYoungGenerationSizeMb: 64 };
  const worker = startThread(entry, facts, {
    stdout: true,
    stderr: true,
    resourceLimits,
    entries: ["backtest", "extension"],
  });
  // Output is read and dropped: a person could not follow the output of a hundred runs at once.
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
};
