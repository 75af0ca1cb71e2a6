/**
 * Queue of work in PostgreSQL (13 or later): BullMQ's queues in its schema `bullmq`, and next to them sheets, results
 * and refusals.
 *
 * Invariants: those of the port (queue-store.ts); a worker holds few connections, for any number of runs at a time;
 * missing tables are made by the first process that connects.
 * Not here: the tables (postgres-queue-store.ts), connecting (postgres-pool.ts), the same in Redis (redis-queue.ts).
 */
import type { Job } from "bullmq";
import { SluiceError } from "sluice";
import { after, type Clock, optionalPackage } from "sluice/extension";
import { PatientPool, type PgPackage } from "./postgres-pool.ts";
import { PostgresQueueStore } from "./postgres-queue-store.ts";
import {
  bullPackage,
  type JobQueue,
  type JobWorker,
  needs,
  type QueueConnection,
  type WorkerSettings,
} from "./queue-store.ts";

type Bull = Awaited<ReturnType<typeof bullPackage>>;

/** The database would put the fields of an object into another order. */
interface Exact {
  readonly json: string;
}

const askingMax = 2;
/** One waits for news of jobs. */
const workingMax = 3;
const renewalMs = 1_000;

/**
 * A queue or worker of BullMQ that is made again when its first query of the database fails, for example because the
 * server stopped. BullMQ keeps that failure and answers each later call with it, and its worker asks again at once in
 * an endless loop, so that no timer of the process runs.
 */
class Renewed<T extends { waitUntilReady(): Promise<unknown>; close(): Promise<void> }> {
  current: T;
  readonly #clock: Clock;
  readonly #make: () => T;
  #isClosed = false;

  constructor(clock: Clock, make: () => T) {
    this.#clock = clock;
    this.#make = make;
    this.current = this.#made();
  }

  close(): Promise<void> {
    this.#isClosed = true;
    return this.current.close();
  }

  #made(): T {
    const made = this.#make();
    made.waitUntilReady().catch(() => {
      // Ends a worker's asking.
      made.close().catch(() => undefined);
      after(this.#clock, renewalMs).subscribe(() => {
        if (!this.#isClosed) this.current = this.#made();
      });
    });
    return made;
  }
}

export class PostgresQueue implements QueueConnection {
  readonly store: PostgresQueueStore;
  readonly #bull: Bull;
  readonly #clock: Clock;
  readonly #pools: (max: number) => PatientPool;
  readonly #pool: PatientPool;

  private constructor(bull: Bull, clock: Clock, pools: (max: number) => PatientPool) {
    this.#bull = bull;
    this.#clock = clock;
    this.#pools = pools;
    this.#pool = pools(askingMax);
    this.store = new PostgresQueueStore(this.#pool);
  }

  static async open(url: string, clock: Clock): Promise<PostgresQueue> {
    // The rest of an unescaped password would be part of the path, which messages of the server name.
    if (/@/.test(new URL(url).pathname))
      throw new SluiceError(
        "USAGE",
        "The address of the queue is not valid: write user and password percent-encoded, as %2F for /.",
      );
    const pg = await optionalPackage<PgPackage>("pg", "8", `${needs} in PostgreSQL is reached`);
    const bull = await bullPackage();
    const options = { connectionString: url, options: `-c search_path="${bull.DEFAULT_SCHEMA}"` };
    return new PostgresQueue(bull, clock, (max) => new PatientPool(pg, { ...options, max }, clock));
  }

  async ready(): Promise<void> {
    await this.#pool.patiently(async () => {
      const client = await this.#pool.connect();
      try {
        const version = await this.#bull.assertSchemaCompatibility(client).catch((error: unknown) => {
          if (error instanceof this.#bull.SchemaMigrationRequiredError) return 0;
          throw error;
        });
        if (version < this.#bull.LATEST_SCHEMA_VERSION) await this.#bull.runMigrations(client);
      } finally {
        client.release();
      }
    });
    await this.store.prepare();
  }

  queue(name: string): JobQueue {
    const renewed = new Renewed(this.#clock, () => {
      const queue = new this.#bull.Queue(
        name,
        { connection: this.#pool as never },
        this.#bull.createPostgresBackend as never,
      );
      queue.on("error", () => undefined);
      return queue;
    });
    return {
      addBulk: (jobs) =>
        renewed.current.addBulk(jobs.map((job) => ({ ...job, data: { json: JSON.stringify(job.data) } }))),
      clean: (...args) => renewed.current.clean(...args),
      drain: (...args) => renewed.current.drain(...args),
      getFailed: (...args) => renewed.current.getFailed(...args),
      getJobCounts: (...args) => renewed.current.getJobCounts(...args),
      getWorkersCount: () => renewed.current.getWorkersCount(),
      obliterate: (...args) => renewed.current.obliterate(...args),
      remove: (...args) => renewed.current.remove(...args),
      close: () => renewed.close(),
    };
  }

  worker(name: string, process: Parameters<QueueConnection["worker"]>[1], settings: WorkerSettings): JobWorker {
    // Its own connections: one of them waits for jobs.
    const pool = this.#pools(workingMax);
    const processed = (job: Job, token?: string): Promise<void> =>
      process({ data: JSON.parse((job.data as Exact).json), moveToWait: (held) => job.moveToWait(held) }, token);
    const renewed = new Renewed(this.#clock, () => {
      const worker = new this.#bull.Worker(
        name,
        processed,
        { ...settings, connection: pool as never },
        this.#bull.createPostgresBackend as never,
      );
      worker.on("error", () => undefined);
      return worker;
    });
    const disconnect = (): void => {
      pool.disconnect();
    };
    return { close: () => renewed.close().finally(disconnect), disconnect };
  }

  waiting(): Error {
    return new this.#bull.WaitingError();
  }

  patiently<T>(ask: () => Promise<T>): Promise<T> {
    return this.#pool.patiently(ask);
  }

  disconnect(): void {
    this.#pool.disconnect();
  }
}
