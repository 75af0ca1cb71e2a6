/**
 * Submitter of jobs to workers on other machines, through a queue of BullMQ.
 *
 * Invariants: at most a window of jobs waits there, for any number of jobs; a job that has a result is not run again,
 * for any submitter; every job is answered, or `run` was stopped or failed with a reason: jobs that a store lost are
 * submitted again, and a store that does not answer for a minute ends the run; one submitter at a time has a sheet.
 * Not here: jobs (queue-pool.ts), workers (queue-worker.ts).
 */
import { hostname } from "node:os";
import { firstValueFrom } from "rxjs";
import { SluiceError } from "sluice";
import { after, type Clock, counted } from "sluice/extension";
import { answeredWithin, openQueue } from "./queue-address.ts";
import type { JobQueue, QueueConnection, QueueStore } from "./queue-store.ts";
import { nameOfSheet, type WorkSheet } from "./work-sheet.ts";

interface QueuedJob {
  readonly index: number;
}

export interface SubmitterOptions {
  /** Address in the form of queue-address.ts, with user and password where required. */
  readonly url: string;
  readonly clock: Clock;
  /** True if the caller stores results, so that the store need not keep them. */
  readonly durable: boolean;
  /** Called with notices for a person: the number of workers, and the workers that refuse with their reasons. */
  readonly onNotice: (text: string) => void;
}

/** Jobs that wait or run, at most: about 1 KB each. */
const windowMax = 10_000;
const chunk = 500;
const idleMs = 50;
const lookMs = 2_000;
const recountMs = 5_000;
const firstAnswerMs = 5_000;
const silenceMsMax = 60_000;
/** A little more than the time after which a submitter that died is forgotten. */
const holdMsMax = 20_000;
const jobAttempts = 3;

const idOfJob = (index: number): string => `run-${index}`;

/** Functions for the answers to jobs. */
interface Answers<A> {
  /** Returns the answer to a job whose workers died, with the reason. */
  readonly failed: (reason: string) => A;
  /** An answer found from before that is not taken: the job is run again. */
  readonly again: (answer: A) => boolean;
}

export class QueueSubmitter<J extends QueuedJob, A> {
  readonly #options: SubmitterOptions;
  readonly #sheet: WorkSheet;
  readonly #name: string;
  readonly #answers: Answers<A>;
  readonly #holder = `${hostname()}, process ${process.pid}`;
  readonly #connection: QueueConnection;
  readonly #store: QueueStore;
  readonly #queue: JobQueue;
  readonly #outstanding = new Map<number, J>();
  readonly #said = new Set<string>();
  #closed: Promise<void> | undefined;
  #looked = Number.NEGATIVE_INFINITY;
  #recounted: number;
  /** True if the store held none of the pending jobs at the last count. */
  #empty = false;
  #workers: number | undefined;

  private constructor(sheet: WorkSheet, answers: Answers<A>, options: SubmitterOptions, connection: QueueConnection) {
    this.#sheet = sheet;
    this.#name = nameOfSheet(sheet);
    this.#answers = answers;
    this.#options = options;
    this.#connection = connection;
    this.#store = connection.store;
    this.#queue = connection.queue(this.#name);
    this.#recounted = options.clock.now();
  }

  /** Resolves when the sheet is up and this process has it. */
  static async open<J extends QueuedJob, A>(
    sheet: WorkSheet,
    answers: Answers<A>,
    options: SubmitterOptions,
  ): Promise<QueueSubmitter<J, A>> {
    const connection = await openQueue(options.url, options.clock);
    try {
      await answeredWithin(options, firstAnswerMs, connection.ready());
      const submitter = new QueueSubmitter<J, A>(sheet, answers, options, connection);
      await submitter.#begin();
      return submitter;
    } catch (error) {
      connection.disconnect();
      throw error;
    }
  }

  /** Resolves when all are answered, or when it was closed. */
  async run(jobs: readonly J[], answered: (job: J, answer: A) => void): Promise<void> {
    try {
      await this.#runAll(jobs, answered);
    } catch (error) {
      // Calls that were pending at the close have failed with the connection.
      if (this.#closed === undefined) throw error;
    }
  }

  async #runAll(jobs: readonly J[], answered: (job: J, answer: A) => void): Promise<void> {
    let next = 0;
    while (this.#closed === undefined && (next < jobs.length || this.#outstanding.size > 0)) {
      const [taken, moved] = await this.#bounded(silenceMsMax, this.#turn(jobs, next, answered));
      next = taken;
      if (!moved && this.#closed === undefined) await firstValueFrom(after(this.#options.clock, idleMs));
    }
    if (this.#closed === undefined) await this.#bounded(silenceMsMax, this.#look());
  }

  /** Withdraws waiting jobs; workers finish the running ones, and their results are kept. */
  close(): Promise<void> {
    this.#closed ??= this.#end();
    return this.#closed;
  }

  async #begin(): Promise<void> {
    for (let waitedMs = 0; ; waitedMs += 1_000) {
      const other = await this.#bounded(silenceMsMax, this.#store.hold(this.#name, this.#holder));
      if (other === undefined) break;
      if (waitedMs === 0) this.#say(`${other} has this work already; waiting for it to end`);
      if (waitedMs >= holdMsMax)
        throw new SluiceError(
          "USAGE",
          `--workers: the same work is being done for ${other}. Wait until it has ended, or stop it.`,
        );
      await firstValueFrom(after(this.#options.clock, 1_000));
    }
    await this.#bounded(silenceMsMax, this.#clear());
  }

  async #clear(): Promise<void> {
    await this.#store.clearSaid(this.#name);
    await this.#store.open(this.#sheet);
    while ((await this.#queue.clean(0, 1_000, "failed")).length > 0);
  }

  /** Adds jobs up to the window and takes results. Returns the number of jobs taken so far, and whether any arrived. */
  async #turn(
    jobs: readonly J[],
    from: number,
    answered: (job: J, answer: A) => void,
  ): Promise<readonly [next: number, moved: boolean]> {
    let next = from;
    let moved = false;
    while (next < jobs.length && this.#outstanding.size <= windowMax - chunk) {
      const some = jobs.slice(next, next + chunk);
      next += some.length;
      moved = (await this.#add(some, answered)) || moved;
    }
    const finished = await this.#store.finished(this.#name, 2 * chunk);
    moved = (await this.#take(finished, answered)) || moved;
    const now = this.#options.clock.now();
    if (now - this.#looked >= lookMs) {
      this.#looked = now;
      await this.#look();
      moved = (await this.#takeFailed(answered)) || moved;
    }
    if (now - this.#recounted >= recountMs) {
      this.#recounted = now;
      await this.#recount(answered);
    }
    return [next, moved];
  }

  /** Answers jobs that have results, and puts the others into the queue. */
  async #add(jobs: readonly J[], answered: (job: J, answer: A) => void): Promise<boolean> {
    for (const job of jobs) this.#outstanding.set(job.index, job);
    const before = jobs.map(({ index }) => index);
    await this.#take(before, answered, this.#answers.again);
    const left = jobs.filter(({ index }) => this.#outstanding.has(index));
    // A digest without its result, and a failure, which is tried again.
    await this.#store.forget(
      this.#name,
      left.map(({ index }) => index),
    );
    await this.#enqueue(left);
    return left.length < jobs.length;
  }

  async #enqueue(jobs: readonly J[]): Promise<void> {
    if (jobs.length === 0) return;
    const settings = { attempts: jobAttempts, removeOnComplete: true } as const;
    const added = jobs.map((data) => ({ name: "run", data, opts: { ...settings, jobId: idOfJob(data.index) } }));
    await this.#connection.patiently(() => this.#queue.addBulk(added));
  }

  async #take(
    indexes: readonly number[],
    answered: (job: J, answer: A) => void,
    again?: (answer: A) => boolean,
  ): Promise<boolean> {
    const due = [...new Set(indexes)].filter((index) => this.#outstanding.has(index));
    const texts = await this.#store.results(this.#name, due);
    const taken = new Map<number, string>();
    for (const [at, index] of due.entries()) {
      const [text, job] = [texts[at], this.#outstanding.get(index)];
      if (text === undefined || job === undefined || this.#closed !== undefined) continue;
      const answer = JSON.parse(text) as A;
      if (again?.(answer) === true) continue;
      taken.set(index, text);
      this.#outstanding.delete(index);
      answered(job, answer);
    }
    if (this.#options.durable) await this.#store.digest(this.#name, taken);
    return taken.size > 0;
  }

  /** Answers jobs that are given up because their workers died or hung too often. */
  async #takeFailed(answered: (job: J, answer: A) => void): Promise<boolean> {
    const failed = await this.#connection.patiently(() => this.#queue.getFailed(0, chunk - 1));
    for (const { id, failedReason } of failed) {
      const index = Number(id?.slice(idOfJob(0).length - 1));
      await this.#connection.patiently(() => this.#queue.remove(id as string));
      const job = this.#outstanding.get(index);
      if (job === undefined || this.#closed !== undefined) continue;
      this.#outstanding.delete(index);
      answered(
        job,
        this.#answers.failed(/stalled/.test(failedReason) ? "its worker died again and again" : failedReason),
      );
    }
    return failed.length > 0;
  }

  /**
   * A store that lost its memory has neither jobs nor results: two looks in succession, and they are put there again.
   */
  async #recount(answered: (job: J, answer: A) => void): Promise<void> {
    const other = await this.#store.hold(this.#name, this.#holder);
    if (other !== undefined) throw new SluiceError("USAGE", `--workers: ${other} has taken this work over.`);
    await this.#store.open(this.#sheet);
    const counts = await this.#connection.patiently(() =>
      this.#queue.getJobCounts("waiting", "active", "delayed", "prioritized", "failed"),
    );
    const left = Object.values(counts).reduce((sum, count) => sum + count, 0);
    const isEmpty = left === 0 && this.#outstanding.size > 0;
    if (isEmpty && this.#empty) {
      const due = [...this.#outstanding.values()];
      for (let at = 0; at < due.length; at += chunk) {
        const some = due.slice(at, at + chunk);
        await this.#take(
          some.map(({ index }) => index),
          answered,
        );
        await this.#enqueue(some.filter(({ index }) => this.#outstanding.has(index)));
      }
    }
    this.#empty = isEmpty;
  }

  async #look(): Promise<void> {
    const workers = await this.#queue.getWorkersCount().catch(() => undefined);
    if (workers !== this.#workers && workers !== undefined) {
      this.#workers = workers;
      if (workers > 0) this.#options.onNotice(`${counted(workers, "worker")} at work`);
      else
        this.#options.onNotice(
          "no worker is at work: start one with `sluice worker --queue …` in the project's folder",
        );
    }
    for (const [worker, reason] of Object.entries(await this.#store.refusals(this.#name)))
      this.#say(`worker ${worker} refuses: ${reason}`);
    for (const index of await this.#store.differing(this.#name))
      this.#say(
        `run ${index} was made twice, with different results: the strategy or its worker's machine is not deterministic`,
      );
  }

  #say(text: string): void {
    if (this.#said.has(text)) return;
    this.#said.add(text);
    this.#options.onNotice(text);
  }

  async #end(): Promise<void> {
    const leave = async (): Promise<void> => {
      await this.#store.withdraw(this.#name);
      if (this.#outstanding.size === 0) await this.#queue.obliterate({ force: true });
      else await this.#queue.drain(true);
      await this.#store.release(this.#name, this.#holder);
    };
    try {
      await this.#bounded(firstAnswerMs, leave());
    } catch {
      // Who comes next finds it as after a death: held for some seconds, and with jobs that wait.
    } finally {
      await this.#queue.close().catch(() => undefined);
      this.#connection.disconnect();
    }
  }

  #bounded<T>(ms: number, work: Promise<T>): Promise<T> {
    return answeredWithin(this.#options, ms, work);
  }
}
