/**
 * Worker: takes jobs of the sheets that are up at a store, and leaves their results there.
 *
 * Invariants: it works on one sheet at a time, the oldest that has jobs waiting first; jobs of a sheet it refuses are
 * left to others; a job whose worker dies is taken by another, one whose thread dies is tried three times; when it is
 * stopped what runs is finished, and when it is stopped again what runs goes back to the queue; it ends in bounded time
 * when it is stopped, also where the queue is away.
 * Not here: what running a job means (sweep-work.ts), who asks for it (queue-submitter.ts).
 */
import { hostname } from "node:os";
import type { Job } from "bullmq";
import {
  defer,
  filter,
  firstValueFrom,
  fromEvent,
  merge,
  type Observable,
  type ObservableInput,
  of,
  repeat,
  switchMap,
  take,
} from "rxjs";
import { isSluiceError } from "sluice";
import { after, type Clock, messageOf } from "sluice/extension";
import type { DownloadBounds } from "sluice/plugins/fixtures";
import { answeredWithin, openQueue } from "./queue-address.ts";
import type { JobQueue, JobWorker, QueueConnection, QueueStore } from "./queue-store.ts";
import { Refusal } from "./sheet-config.ts";
import { readSheet, type WorkSheet } from "./work-sheet.ts";

/** One sheet's work on this machine. */
export interface Work {
  readonly title: string;
  /** Runs one job. At most `jobs` of the worker run at once. Never rejects because of a failed run. */
  run(
    data: unknown,
  ): Promise<
    { readonly kind: "answer"; readonly answer: unknown } | { readonly kind: "died"; readonly reason: string }
  >;
  /** Closes the worker and abandons running jobs. */
  close(): Promise<void>;
}

/** Opens the work of a sheet. Throws a `Refusal`, or any other error. */
export type OpenWork = (sheet: WorkSheet, bounds: DownloadBounds) => Promise<Work>;

export interface WorkerOptions {
  readonly url: string;
  /** Runs at a time. */
  readonly jobs: number;
  readonly clock: Clock;
  /** By the kind that a sheet names. */
  readonly kinds: ReadonlyMap<string, OpenWork>;
  readonly say: (text: string) => void;
}

const pollMs = 300;
/** Longest wait for an answer of the queue in a turn; a longer one fails the turn. */
const turnMs = 5_000;
/** For the connections to close when nothing runs, and for what runs to be given back. */
const closingMs = 1_000;
const givingBackMs = 3_000;
const retryMs = 30_000;
const firstAnswerMs = 5_000;
/** Time without renewal after which a worker loses its jobs. */
const lockMs = 10_000;
const stalledMs = 5_000;
const stalledMax = 5;
/** Delay after which a failed call to the queue is repeated. */
const failedMs = 1_000;

type GivenJob = Pick<Job, "data" | "moveToWait">;

interface Serving {
  readonly name: string;
  readonly work: Work;
  readonly worker: JobWorker;
  readonly running: Set<Promise<void>>;
}

export class QueueWorker {
  readonly #options: WorkerOptions;
  readonly #connection: QueueConnection;
  readonly #store: QueueStore;
  readonly #queues = new Map<string, JobQueue>();
  /** Instants until which refused sheets are not examined again, by name. */
  readonly #refused = new Map<string, number>();
  readonly #id = `${hostname()}-${process.pid}`;
  #serving: Serving | undefined;
  readonly #stopped = new AbortController();
  readonly #abandoned = new AbortController();
  #done = 0;

  private constructor(options: WorkerOptions, connection: QueueConnection) {
    this.#options = options;
    this.#connection = connection;
    this.#store = connection.store;
  }

  /** Resolves when the queue has answered; PORT_UNAVAILABLE where it does not. */
  static async open(options: WorkerOptions): Promise<QueueWorker> {
    const connection = await openQueue(options.url, options.clock);
    try {
      await answeredWithin(options, firstAnswerMs, connection.ready());
      return new QueueWorker(options, connection);
    } catch (error) {
      connection.disconnect();
      throw error;
    }
  }

  /** Works until it is stopped; how many jobs it has answered. */
  async run(): Promise<number> {
    const { clock, say } = this.#options;
    let isAway = false;
    while (!this.#isStopping()) {
      try {
        await this.#unlessStopped(this.#turn());
        if (isAway && !this.#isStopping()) say("the queue answers again");
        isAway = false;
      } catch (error) {
        if (!isAway) say(`${messageOf(error)} Trying again.`);
        isAway = true;
      }
      if (!this.#isStopping()) await this.#unlessStopped(after(clock, pollMs));
    }
    await this.#end();
    return this.#done;
  }

  /**
   * Stops the worker. The first call takes no further jobs, and `run` resolves when the running ones are done. The
   * second gives them back.
   */
  stop(): void {
    if (!this.#isStopping()) {
      this.#stopped.abort();
      // At once: a job given back must not be taken again here.
      void this.#serving?.worker.close();
      const { size = 0 } = this.#serving?.running ?? {};
      if (size > 0) this.#options.say(`finishing what runs (${size}); stop it again to give that back`);
      return;
    }
    this.#abandoned.abort();
    void this.#serving?.work.close();
  }

  #isStopping(): boolean {
    return this.#stopped.signal.aborted;
  }

  #unlessStopped(work: ObservableInput<unknown>): Promise<unknown> {
    return firstValueFrom(merge(work, aborted(this.#stopped.signal)));
  }

  /** Returns the queue's answer; rejects with PORT_UNAVAILABLE if it does not arrive in time. */
  #asked<T>(work: Promise<T>): Promise<T> {
    return answeredWithin({ ...this.#options, signal: this.#stopped.signal }, turnMs, work);
  }

  async #turn(): Promise<void> {
    const names = await this.#asked(this.#store.sheets());
    this.#forget(names);
    const now = this.#options.clock.now();
    if (this.#serving !== undefined && !names.includes(this.#serving.name)) await this.#leave();
    const open = names.filter((name) => (this.#refused.get(name) ?? 0) <= now);
    const next = await this.#choose(open);
    if (next === undefined || next === this.#serving?.name || this.#isStopping()) return;
    await this.#leave();
    await this.#serve(next);
  }

  /** Forgets sheets that are no longer published. A sheet that is published again is examined again. */
  #forget(names: readonly string[]): void {
    for (const name of this.#refused.keys()) if (!names.includes(name)) this.#refused.delete(name);
    for (const [name, queue] of this.#queues) {
      if (names.includes(name)) continue;
      this.#queues.delete(name);
      queue.close().catch(() => undefined);
    }
  }

  /**
   * Returns the current sheet while it has waiting or running jobs, or while no sheet has waiting ones; otherwise the
   * oldest with waiting jobs, then the oldest with jobs of other workers, then any.
   */
  async #choose(names: readonly string[]): Promise<string | undefined> {
    const current = this.#serving;
    const counts = await this.#asked(
      Promise.all(names.map((name) => this.#queue(name).getJobCounts("waiting", "active", "delayed"))),
    );
    const having = (...states: readonly string[]): readonly string[] =>
      names.filter((_, at) => states.some((state) => (counts[at]?.[state] ?? 0) > 0));
    const waits = having("waiting");
    if (current !== undefined && (waits.length === 0 || waits.includes(current.name) || current.running.size > 0))
      return current.name;
    const busy = having("active", "delayed");
    return waits[0] ?? busy[0] ?? names[0];
  }

  #queue(name: string): JobQueue {
    const known = this.#queues.get(name);
    if (known !== undefined) return known;
    const queue = this.#connection.queue(name);
    this.#queues.set(name, queue);
    return queue;
  }

  async #serve(name: string): Promise<void> {
    const text = await this.#asked(this.#store.sheetText(name));
    if (text === undefined) return;
    try {
      const sheet = readSheet(text);
      const open = this.#options.kinds.get(sheet.kind);
      if (open === undefined) throw new Refusal(`it is a ${sheet.kind}, which this worker does not run`);
      const work = await open(sheet, { clock: this.#options.clock, signal: this.#stopped.signal });
      if (this.#isStopping()) return await work.close();
      this.#options.say(`${work.title}: ${this.#options.jobs} at a time`);
      this.#serving = this.#take(name, work);
    } catch (error) {
      if (this.#isStopping()) return;
      const isFinal = error instanceof Refusal;
      const reason = isSluiceError(error) || isFinal ? error.message : messageOf(error);
      this.#refused.set(name, isFinal ? Number.POSITIVE_INFINITY : this.#options.clock.now() + retryMs);
      this.#options.say(
        `refused: ${reason.replace(/\.$/, "")}${isFinal ? "" : `. Trying again in ${retryMs / 1_000} s`}.`,
      );
      await this.#asked(this.#store.refuse(name, this.#id, reason));
    }
  }

  #take(name: string, work: Work): Serving {
    const running = new Set<Promise<void>>();
    const process = async (job: GivenJob, token?: string): Promise<void> => {
      const answered = this.#answer(name, work, job, token);
      running.add(answered);
      try {
        await answered;
      } finally {
        running.delete(answered);
      }
    };
    const worker = this.#connection.worker(name, process, {
      concurrency: this.#options.jobs,
      lockDuration: lockMs,
      stalledInterval: stalledMs,
      maxStalledCount: stalledMax,
      runRetryDelay: failedMs,
      name: this.#id,
    });
    return { name, work, worker, running };
  }

  async #answer(name: string, work: Work, job: GivenJob, token: string | undefined): Promise<void> {
    const ended = await work.run(job.data);
    if (ended.kind === "answer") {
      await this.#store.addResult(name, (job.data as { readonly index: number }).index, JSON.stringify(ended.answer));
      this.#done++;
      return;
    }
    if (!this.#abandoned.signal.aborted) throw new Error(`its worker died: ${ended.reason}`);
    // Not the run's fault: it is not counted as a try.
    await job.moveToWait(token);
    throw this.#connection.waiting();
  }

  async #leave(): Promise<void> {
    const serving = this.#serving;
    if (serving === undefined) return;
    await serving.worker.close();
    await serving.work.close();
    this.#serving = undefined;
  }

  /** Leaves the current sheet. Jobs that the queue does not take back in time are left to its own recovery. */
  async #end(): Promise<void> {
    const serving = this.#serving;
    if (serving !== undefined) {
      const { worker, running, work } = serving;
      const idle = async (): Promise<void> => {
        while (running.size > 0) await Promise.allSettled(running);
      };
      const late = defer(() => merge(idle(), aborted(this.#abandoned.signal))).pipe(
        take(1),
        switchMap(() => after(this.#options.clock, running.size > 0 ? givingBackMs : closingMs)),
        // A job that was on its way when it was stopped may have begun meanwhile.
        repeat(),
        filter(() => running.size === 0 || this.#abandoned.signal.aborted),
      );
      await firstValueFrom(
        merge(
          worker.close().catch(() => undefined),
          late,
        ),
      );
      worker.disconnect();
      await work.close();
    }
    this.#connection.disconnect();
    for (const queue of this.#queues.values()) queue.close().catch(() => undefined);
  }
}

const aborted = (signal: AbortSignal): Observable<unknown> => (signal.aborted ? of(0) : fromEvent(signal, "abort"));
