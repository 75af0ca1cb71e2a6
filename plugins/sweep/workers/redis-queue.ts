/**
 * Queue of work in Redis or Valkey (6.2 or later): BullMQ's queues, and next to them sheets, results and refusals.
 *
 * Invariants: those of the port (queue-store.ts); commands wait for the connection, which is tried again until it is
 * closed.
 * Not here: the same in PostgreSQL (postgres-queue.ts).
 */
import type { Queue, Worker } from "bullmq";
import type { Redis } from "ioredis";
import { optionalPackage } from "sluice/extension";
import {
  bullPackage,
  digestMark,
  digestOf,
  type JobQueue,
  type JobWorker,
  keptMs,
  needs,
  type QueueConnection,
  type QueueStore,
  submitterMs,
  type WorkerSettings,
} from "./queue-store.ts";
import { nameOfSheet, type WorkSheet } from "./work-sheet.ts";

const queuePrefix = "sluice:queue";

type Client = Pick<typeof import("ioredis"), "Redis">;

export class RedisQueue implements QueueConnection {
  readonly store: QueueStore;
  readonly #bull: Awaited<ReturnType<typeof bullPackage>>;
  readonly #client: Client;
  readonly #url: string;
  readonly #redis: Redis;

  private constructor(bull: Awaited<ReturnType<typeof bullPackage>>, client: Client, url: string) {
    this.#bull = bull;
    this.#client = client;
    this.#url = url;
    this.#redis = connect(client, url);
    this.store = new RedisQueueStore(this.#redis);
  }

  static async open(url: string): Promise<RedisQueue> {
    const client = await optionalPackage<Client>("ioredis", "6", `${needs} in Redis is reached`);
    return new RedisQueue(await bullPackage(), client, url);
  }

  async ready(): Promise<void> {
    await this.#redis.ping();
  }

  queue(name: string): JobQueue {
    const queue: Queue = new this.#bull.Queue(name, { connection: this.#redis, prefix: queuePrefix });
    queue.on("error", () => undefined);
    return queue;
  }

  worker(name: string, process: Parameters<QueueConnection["worker"]>[1], settings: WorkerSettings): JobWorker {
    // Its own connection: one that waits for jobs answers nothing else.
    const { connection, disconnect } = connectWithCopies(this.#client, this.#url);
    const worker: Worker = new this.#bull.Worker(name, process, { ...settings, connection, prefix: queuePrefix });
    worker.on("error", () => undefined);
    worker.on("closed", disconnect);
    return { close: () => worker.close(), disconnect };
  }

  waiting(): Error {
    return new this.#bull.WaitingError();
  }

  patiently<T>(ask: () => Promise<T>): Promise<T> {
    return ask();
  }

  disconnect(): void {
    this.#redis.disconnect();
  }
}

/** Connects at once and keeps trying; commands wait for the connection. */
const connect = ({ Redis: Connection }: Client, url: string): Redis => {
  const redis = new Connection(url, {
    // BullMQ's workers wait for jobs as long as there are none.
    maxRetriesPerRequest: null,
    connectTimeout: 5_000,
    retryStrategy: (times: number) => Math.min(2_000, 50 * times),
  });
  // Without a listener the client would print it; waiting calls have a bound of their own.
  redis.on("error", () => undefined);
  return redis;
};

/**
 * A connection for BullMQ, which makes another one of it for waiting, and never ends that one while the queue is away.
 */
const connectWithCopies = (
  client: Client,
  url: string,
): { readonly connection: Redis; readonly disconnect: () => void } => {
  const connection = connect(client, url);
  const all = [connection];
  const duplicate = connection.duplicate.bind(connection);
  connection.duplicate = (...options) => {
    const copy = duplicate(...options);
    all.push(copy);
    return copy;
  };
  return {
    connection,
    disconnect: () => {
      for (const one of all) one.disconnect();
    },
  };
};

/** First the result that stays, then who waits for it; a second that differs is noted. */
const resultScript = `
if redis.call("HSETNX", KEYS[1], ARGV[1], ARGV[2]) == 1 then
  redis.call("PEXPIRE", KEYS[1], ARGV[3])
  redis.call("RPUSH", KEYS[2], ARGV[1])
  redis.call("PEXPIRE", KEYS[2], ARGV[3])
  return "new"
end
redis.call("RPUSH", KEYS[2], ARGV[1])
redis.call("PEXPIRE", KEYS[2], ARGV[3])
local first = redis.call("HGET", KEYS[1], ARGV[1])
if first == ARGV[2] or first == ARGV[4] then return "same" end
redis.call("RPUSH", KEYS[3], ARGV[1])
redis.call("PEXPIRE", KEYS[3], ARGV[3])
return "differs"`;

/** Takes the hold of a sheet if it is free or already held by the caller; otherwise returns the holder. */
const holdScript = `
local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return ""`;

const releaseScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

class RedisQueueStore implements QueueStore {
  readonly #redis: Redis;

  constructor(redis: Redis) {
    this.#redis = redis;
  }

  /** Puts a sheet up for workers, after those that are there. */
  async open(sheet: WorkSheet): Promise<void> {
    const name = nameOfSheet(sheet);
    await this.#redis.set(key("sheet", name), JSON.stringify(sheet), "PX", String(keptMs));
    const [seconds, micros] = await this.#redis.time();
    await this.#redis.zadd(sheetsKey, "NX", String(Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000)), name);
  }

  /** Workers leave it; results stay. */
  async withdraw(name: string): Promise<void> {
    await this.#redis.zrem(sheetsKey, name);
  }

  /** Deletes refusals and differing results of an earlier submission. */
  async clearSaid(name: string): Promise<void> {
    await this.#redis.del(key("refusals", name), key("differs", name));
  }

  /** Names of the sheets that are up, the oldest first. */
  sheets(): Promise<readonly string[]> {
    return this.#redis.zrange(sheetsKey, "0", "-1");
  }

  /** The text of a sheet; undefined where it is gone, and then it is no longer up. */
  async sheetText(name: string): Promise<string | undefined> {
    const text = await this.#redis.get(key("sheet", name));
    if (text === null) await this.#redis.zrem(sheetsKey, name);
    return text ?? undefined;
  }

  /** Undefined once it is held; else who holds it. */
  async hold(name: string, holder: string): Promise<string | undefined> {
    const other = (await this.#redis.eval(
      holdScript,
      1,
      key("submitter", name),
      holder,
      String(submitterMs),
    )) as string;
    return other === "" ? undefined : other;
  }

  async release(name: string, holder: string): Promise<void> {
    await this.#redis.eval(releaseScript, 1, key("submitter", name), holder);
  }

  async addResult(name: string, index: number, answer: string): Promise<"new" | "same" | "differs"> {
    const keys = [key("results", name), key("done", name), key("differs", name)];
    const told = await this.#redis.eval(
      resultScript,
      keys.length,
      ...keys,
      String(index),
      answer,
      String(keptMs),
      digestOf(answer),
    );
    return told as "new" | "same" | "differs";
  }

  /** Texts of the results of these jobs; undefined where there is none, or no more than its digest. */
  async results(name: string, indexes: readonly number[]): Promise<readonly (string | undefined)[]> {
    const texts = indexes.length === 0 ? [] : await this.#redis.hmget(key("results", name), ...indexes.map(String));
    return texts.map((text) => (text === null || text.startsWith(digestMark) ? undefined : text));
  }

  /**
   * Replaces these results with digests, which suffice to recognize a differing result: the submitter has read them.
   */
  async digest(name: string, answers: ReadonlyMap<number, string>): Promise<void> {
    if (answers.size === 0) return;
    await this.#redis.hset(
      key("results", name),
      new Map([...answers].map(([index, answer]) => [String(index), digestOf(answer)])),
    );
  }

  async forget(name: string, indexes: readonly number[]): Promise<void> {
    if (indexes.length > 0) await this.#redis.hdel(key("results", name), ...indexes.map(String));
  }

  /** Jobs that have come to results since the last call, each at least once. */
  async finished(name: string, most: number): Promise<readonly number[]> {
    return ((await this.#redis.lpop(key("done", name), most)) ?? []).map(Number);
  }

  /** Jobs of which a second run gave another result than the first. */
  async differing(name: string): Promise<readonly number[]> {
    return [...new Set((await this.#redis.lrange(key("differs", name), 0, -1)).map(Number))];
  }

  async refuse(name: string, worker: string, reason: string): Promise<void> {
    await this.#redis.hset(key("refusals", name), worker, reason.slice(0, 2_000));
    await this.#redis.pexpire(key("refusals", name), keptMs);
  }

  async refusals(name: string): Promise<Readonly<Record<string, string>>> {
    return this.#redis.hgetall(key("refusals", name));
  }
}

const sheetsKey = "sluice:sheets";
const key = (kind: "sheet" | "results" | "done" | "differs" | "refusals" | "submitter", name: string): string =>
  `sluice:${kind}:${name}`;
