/**
 * Worker: takes jobs of the sheets that are up in Redis or Valkey, and leaves their results there.
 *
 * Invariants: it works on one sheet at a time, the oldest that has jobs waiting first; jobs of a sheet it refuses are left to others; a job whose
 * worker dies is taken by another, one whose thread dies is tried three times; when it is stopped what runs is finished, and when
 * it is stopped again what runs goes back to the queue.
 * Not here: what running a job means (sweep-work.ts), who asks for it (queue-submitter.ts).
 */
import { hostname } from "node:os";
import type { Job, Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { firstValueFrom } from "rxjs";
import { after, type Clock } from "../../../clock/clock.ts";
import { isSluiceError, messageOf } from "../../../errors.ts";
import type { DownloadBounds } from "./fixture-download.ts";
import { answeredWithin, connect, type QueuePackages, QueueStore, queuePackages, queuePrefix, shownAddress } from "./queue-store.ts";
import { Refusal } from "./sheet-config.ts";
import { readSheet, type WorkSheet } from "./work-sheet.ts";

/** One sheet's work on this machine. */
export interface Work {
  readonly title: string;
  /** As many at once as the worker's `jobs`; never rejects for what a run does. */
  run(data: unknown): Promise<{ readonly kind: "answer"; readonly answer: unknown } | { readonly kind: "died"; readonly reason: string }>;
  /** What runs is abandoned. */
  close(): Promise<void>;
}

/** Throws a `Refusal`, or whatever is the matter. */
export type OpenWork = (sheet: WorkSheet, bounds: DownloadBounds) => Promise<Work>;

export interface WorkerOptions {
  readonly url: string;
  /** Runs at a time. */
  readonly jobs: number;
  readonly clock: Clock;
  readonly kinds: Readonly<Partial<Record<WorkSheet["kind"], OpenWork>>>;
  readonly say: (text: string) => void;
}

const pollMs = 300;
const retryMs = 30_000;
const firstAnswerMs = 5_000;
/** A worker that does not renew its jobs for so long has lost them. */
const lockMs = 10_000;
const stalledMs = 5_000;
const stalledMax = 5;

interface Serving {
  readonly name: string;
  readonly work: Work;
  readonly worker: Worker;
  readonly running: Set<Job>;
}

export class QueueWorker {
  readonly #options: WorkerOptions;
  readonly #packages: QueuePackages;
  readonly #redis: Redis;
  readonly #store: QueueStore;
  readonly #queues = new Map<string, Queue>();
  /** Until when a sheet is not looked at again. */
  readonly #refused = new Map<string, number>();
  readonly #id = `${hostname()}-${process.pid}`;
  #serving: Serving | undefined;
  #stopping = false;
  #abandoned = false;
  #done = 0;

  private constructor(options: WorkerOptions, packages: QueuePackages) {
    this.#options = options;
    this.#packages = packages;
    this.#redis = connect(packages, options.url);
    this.#store = new QueueStore(this.#redis);
  }

  /** Resolves when the queue has answered; PORT_UNAVAILABLE where it does not. */
  static async open(options: WorkerOptions): Promise<QueueWorker> {
    shownAddress(options.url);
    const worker = new QueueWorker(options, await queuePackages());
    try {
      await answeredWithin(options, firstAnswerMs, worker.#redis.ping());
      return worker;
    } catch (error) {
      worker.#redis.disconnect();
      throw error;
    }
  }

  /** Works until it is stopped; how many jobs it has answered. */
  async run(): Promise<number> {
    let isAway = false;
    while (!this.#stopping) {
      try {
        await this.#turn();
        isAway = false;
      } catch (error) {
        if (!isAway) this.#options.say(`the queue failed: ${messageOf(error)}; trying again`);
        isAway = true;
      }
      if (!this.#stopping) await firstValueFrom(after(this.#options.clock, pollMs));
    }
    await this.#leave();
    for (const queue of this.#queues.values()) await queue.close().catch(() => undefined);
    this.#redis.disconnect();
    return this.#done;
  }

  /** The first call: takes no more jobs, and `run` resolves when those under way are done. The second: gives them back. */
  stop(): void {
    if (!this.#stopping) {
      this.#stopping = true;
      // At once: a job given back must not be taken again here.
      void this.#serving?.worker.close();
      const { size = 0 } = this.#serving?.running ?? {};
      if (size > 0) this.#options.say(`finishing what runs (${size}); stop it again to give that back`);
      return;
    }
    this.#abandoned = true;
    void this.#serving?.work.close();
  }

  async #turn(): Promise<void> {
    const names = await this.#store.sheets();
    const now = this.#options.clock.now();
    if (this.#serving !== undefined && !names.includes(this.#serving.name)) await this.#leave();
    const open = names.filter((name) => (this.#refused.get(name) ?? 0) <= now);
    const next = await this.#choose(open);
    if (next === undefined || next === this.#serving?.name || this.#stopping) return;
    await this.#leave();
    await this.#serve(next);
  }

  /** The one at hand while it has something to do; else the oldest with jobs that wait, then with jobs of others, then any. */
  async #choose(names: readonly string[]): Promise<string | undefined> {
    const current = this.#serving;
    const counts = await Promise.all(names.map((name) => this.#queue(name).getJobCounts("waiting", "active", "delayed")));
    const having = (...states: readonly string[]): readonly string[] =>
      names.filter((_, at) => states.some((state) => (counts[at]?.[state] ?? 0) > 0));
    const waits = having("waiting");
    if (current !== undefined && (waits.length === 0 || waits.includes(current.name) || current.running.size > 0)) return current.name;
    const busy = having("active", "delayed");
    return waits[0] ?? busy[0] ?? names[0];
  }

  #queue(name: string): Queue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = new this.#packages.bull.Queue(name, { connection: this.#redis, prefix: queuePrefix });
    queue.on("error", () => undefined);
    this.#queues.set(name, queue);
    return queue;
  }

  async #serve(name: string): Promise<void> {
    const text = await this.#store.sheetText(name);
    if (text === undefined) return;
    try {
      const sheet = readSheet(text);
      const open = this.#options.kinds[sheet.kind];
      if (open === undefined) throw new Refusal(`it is a ${sheet.kind}, which this worker does not run`);
      const work = await open(sheet, { clock: this.#options.clock });
      if (this.#stopping) return await work.close();
      this.#options.say(`${work.title}: ${this.#options.jobs} at a time`);
      this.#serving = this.#take(name, work);
    } catch (error) {
      const isFinal = error instanceof Refusal;
      const reason = isSluiceError(error) || isFinal ? error.message : messageOf(error);
      this.#refused.set(name, isFinal ? Number.POSITIVE_INFINITY : this.#options.clock.now() + retryMs);
      this.#options.say(`refused: ${reason.replace(/\.$/, "")}${isFinal ? "" : `. Trying again in ${retryMs / 1_000} s`}.`);
      await this.#store.refuse(name, this.#id, reason);
    }
  }

  #take(name: string, work: Work): Serving {
    const running = new Set<Job>();
    const process = async (job: Job, token?: string): Promise<void> => {
      running.add(job);
      try {
        await this.#answer(name, work, job, token);
      } finally {
        running.delete(job);
      }
    };
    // Its own connection: one that waits for jobs answers nothing else.
    const connection = connect(this.#packages, this.#options.url);
    const worker = new this.#packages.bull.Worker(name, process, {
      connection,
      prefix: queuePrefix,
      concurrency: this.#options.jobs,
      lockDuration: lockMs,
      stalledInterval: stalledMs,
      maxStalledCount: stalledMax,
      name: this.#id,
    });
    worker.on("error", () => undefined);
    worker.on("closed", () => {
      connection.disconnect();
    });
    return { name, work, worker, running };
  }

  async #answer(name: string, work: Work, job: Job, token: string | undefined): Promise<void> {
    const ended = await work.run(job.data);
    if (ended.kind === "answer") {
      await this.#store.addResult(name, (job.data as { readonly index: number }).index, JSON.stringify(ended.answer));
      this.#done++;
      return;
    }
    if (!this.#abandoned) throw new Error(`its worker died: ${ended.reason}`);
    // Not the run's fault: it is not counted as a try.
    await job.moveToWait(token);
    throw new this.#packages.bull.WaitingError();
  }

  async #leave(): Promise<void> {
    const serving = this.#serving;
    if (serving === undefined) return;
    await serving.worker.close();
    await serving.work.close();
    this.#serving = undefined;
  }
}
