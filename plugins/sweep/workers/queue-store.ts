/**
 * Port to the store where submitters and workers meet: queues of BullMQ, and next to them sheets, results and refusals.
 *
 * Invariants: the first result of a job stays; a later one that differs is noted, and an equal one changes nothing; one
 * submitter at a time holds a sheet; unused data expires after seven days.
 * Not here: the stores (redis-queue.ts, postgres-queue.ts), the choice of the store by address (queue-address.ts).
 */
import { createHash } from "node:crypto";
import type * as BullMq from "bullmq";
import type { Job, Queue } from "bullmq";
import { optionalPackage } from "sluice/extension";
import type { WorkSheet } from "./work-sheet.ts";

export const keptMs = 7 * 86_400_000;
export const submitterMs = 15_000;

export const needs = "--workers and sluice worker: a queue";

/** Loads BullMQ on first use of a queue. */
export const bullPackage = () => optionalPackage<typeof BullMq>("bullmq", "6", `${needs} is used`);

/** Methods used of a queue of BullMQ, in either store. */
export interface JobQueue
  extends Pick<
    Queue,
    "addBulk" | "clean" | "getJobCounts" | "getWorkersCount" | "drain" | "obliterate" | "remove" | "close"
  > {
  getFailed(start: number, end: number): Promise<readonly Pick<Job, "id" | "failedReason">[]>;
}

export interface JobWorker {
  /** Takes no further jobs; resolves when the running jobs are done. */
  close(): Promise<void>;
  /** Drops its connections: what waits for the queue fails. */
  readonly disconnect: () => void;
}

export interface WorkerSettings
  extends Pick<
    BullMq.WorkerOptions,
    "concurrency" | "lockDuration" | "stalledInterval" | "maxStalledCount" | "runRetryDelay" | "name"
  > {}

export interface QueueConnection {
  readonly store: QueueStore;
  /**
   * Resolves when the store has answered and has the required features; until then, and after each lost connection, it
   * connects again.
   */
  ready(): Promise<void>;
  queue(name: string): JobQueue;
  worker(
    name: string,
    process: (job: Pick<Job, "data" | "moveToWait">, token?: string) => Promise<void>,
    settings: WorkerSettings,
  ): JobWorker;
  /** Creates the error that a job throws after it was given back to its queue. */
  waiting(): Error;
  /**
   * Returns the queue's answer to a request. The request is repeated after a lost connection, so it must be safe to
   * repeat.
   */
  patiently<T>(ask: () => Promise<T>): Promise<T>;
  /** Disconnects at once; pending calls fail. */
  disconnect(): void;
}

export interface QueueStore {
  /** Puts a sheet up for workers, after those that are there. */
  open(sheet: WorkSheet): Promise<void>;
  /** Workers leave it; results stay. */
  withdraw(name: string): Promise<void>;
  /** Deletes refusals and differing results of an earlier submission. */
  clearSaid(name: string): Promise<void>;
  /** Names of the sheets that are up, the oldest first. */
  sheets(): Promise<readonly string[]>;
  /** The text of a sheet; undefined where it is gone, and then it is no longer up. */
  sheetText(name: string): Promise<string | undefined>;
  /** Undefined once it is held; else who holds it. */
  hold(name: string, holder: string): Promise<string | undefined>;
  release(name: string, holder: string): Promise<void>;
  addResult(name: string, index: number, answer: string): Promise<"new" | "same" | "differs">;
  /** Texts of the results of these jobs; undefined where there is none, or no more than its digest. */
  results(name: string, indexes: readonly number[]): Promise<readonly (string | undefined)[]>;
  /**
   * Replaces these results with digests, which suffice to recognize a differing result: the submitter has read them.
   */
  digest(name: string, answers: ReadonlyMap<number, string>): Promise<void>;
  forget(name: string, indexes: readonly number[]): Promise<void>;
  /** Jobs that have come to results since the last call, each at least once. */
  finished(name: string, most: number): Promise<readonly number[]>;
  /** Jobs of which a second run gave another result than the first. */
  differing(name: string): Promise<readonly number[]>;
  refuse(name: string, worker: string, reason: string): Promise<void>;
  refusals(name: string): Promise<Readonly<Record<string, string>>>;
}

export const digestMark = "#";

/** Short text that differs where answers do; no answer begins like it. */
export const digestOf = (answer: string): string =>
  digestMark + createHash("sha256").update(answer).digest("base64url").slice(0, 16);
