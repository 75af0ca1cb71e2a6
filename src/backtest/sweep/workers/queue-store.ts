/**
 * What submitters and workers keep in Redis or Valkey (6.2 or later) beside the queues: sheets, results, refusals.
 *
 * Invariants: the first result of a job stays; a later one that differs is noted, and one that is the same changes nothing; one
 * submitter at a time holds a sheet; what nobody asks for is gone after seven days.
 * Not here: the queues, which are BullMQ's (queue-submitter.ts, queue-worker.ts).
 */
import { createHash } from "node:crypto";
import type * as BullMq from "bullmq";
import type { Redis } from "ioredis";
import { firstValueFrom, from, fromEvent, map, merge, NEVER } from "rxjs";
import { after, type Clock } from "../../../clock/clock.ts";
import { isSluiceError, messageOf, SluiceError } from "../../../errors.ts";
import { optionalPackage } from "../../../optional-package.ts";
import { nameOfSheet, type WorkSheet } from "./work-sheet.ts";

export const queuePrefix = "sluice:queue";
const keptMs = 7 * 86_400_000;
const submitterMs = 15_000;

const needs = "--workers and sluice worker: a queue in Redis is reached";

/** The packages of a queue, loaded when one is asked for. */
export const queuePackages = async () => {
  const { Redis: Client } = await optionalPackage<Pick<typeof import("ioredis"), "Redis">>("ioredis", needs);
  const bull = await optionalPackage<Pick<typeof BullMq, "Queue" | "Worker" | "WaitingError">>("bullmq", needs);
  return { Client, bull };
};

export type QueuePackages = Awaited<ReturnType<typeof queuePackages>>;

/** Connects at once and keeps trying; commands wait for the connection. */
export const connect = ({ Client }: QueuePackages, url: string): Redis => {
  const redis = new Client(url, {
    // BullMQ's workers wait for jobs as long as there are none.
    maxRetriesPerRequest: null,
    connectTimeout: 5_000,
    retryStrategy: (times: number) => Math.min(2_000, 50 * times),
  });
  // Without a listener the client would print it; who waits has a bound of its own.
  redis.on("error", () => undefined);
  return redis;
};

/** A connection for BullMQ, which makes another one of it for waiting, and never ends that one while the queue is away. */
export const connectWithCopies = (
  packages: QueuePackages,
  url: string,
): { readonly connection: Redis; readonly disconnect: () => void } => {
  const connection = connect(packages, url);
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

/** Held by whoever holds it already, or by who comes when nobody does. */
const holdScript = `
local holder = redis.call("GET", KEYS[1])
if holder and holder ~= ARGV[1] then return holder end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return ""`;

const releaseScript = `if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`;

export class QueueStore {
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

  /** What was said of an earlier submission says nothing of this one. */
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
    const other = (await this.#redis.eval(holdScript, 1, key("submitter", name), holder, String(submitterMs))) as string;
    return other === "" ? undefined : other;
  }

  async release(name: string, holder: string): Promise<void> {
    await this.#redis.eval(releaseScript, 1, key("submitter", name), holder);
  }

  async addResult(name: string, index: number, answer: string): Promise<"new" | "same" | "differs"> {
    const keys = [key("results", name), key("done", name), key("differs", name)];
    const told = await this.#redis.eval(resultScript, keys.length, ...keys, String(index), answer, String(keptMs), digestOf(answer));
    return told as "new" | "same" | "differs";
  }

  /** Texts of the results of these jobs; undefined where there is none, or no more than its digest. */
  async results(name: string, indexes: readonly number[]): Promise<readonly (string | undefined)[]> {
    const texts = indexes.length === 0 ? [] : await this.#redis.hmget(key("results", name), ...indexes.map(String));
    return texts.map((text) => (text === null || text.startsWith(digestMark) ? undefined : text));
  }

  /** Keeps no more of these results than what tells another one from them: whoever asked has them. */
  async digest(name: string, answers: ReadonlyMap<number, string>): Promise<void> {
    if (answers.size === 0) return;
    await this.#redis.hset(key("results", name), new Map([...answers].map(([index, answer]) => [String(index), digestOf(answer)])));
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
const key = (kind: "sheet" | "results" | "done" | "differs" | "refusals" | "submitter", name: string): string => `sluice:${kind}:${name}`;

/** Host, port and number of the database: what may be shown of an address. */
export const shownAddress = (url: string): string => {
  try {
    // An unescaped / in a password would make the rest of it a path.
    const { host, pathname } = new URL(url.replace(/^(\w+:\/\/).*@/s, "$1"));
    return `${host}${pathname === "/" ? "" : pathname}`;
  } catch {
    throw new SluiceError("USAGE", "The address of the queue is not valid. Write redis://HOST:PORT or rediss://HOST:PORT.");
  }
};

const digestMark = "#";

/** Short text that differs where answers do; no answer begins like it. */
const digestOf = (answer: string): string => digestMark + createHash("sha256").update(answer).digest("base64url").slice(0, 16);

/** What `work` gives, if that comes within `ms` and before the signal; else PORT_UNAVAILABLE, as for whatever the queue says. */
export const answeredWithin = async <T>(
  { clock, url, signal }: { readonly clock: Clock; readonly url: string; readonly signal?: AbortSignal },
  ms: number,
  work: Promise<T>,
): Promise<T> => {
  const where = shownAddress(url);
  const late = after(clock, ms).pipe(
    map((): never => {
      throw new SluiceError("PORT_UNAVAILABLE", `The queue at ${where} does not answer. Is it running, and may this machine reach it?`);
    }),
  );
  const stopped = signal === undefined ? NEVER : fromEvent(signal, "abort");
  const ended = stopped.pipe(
    map((): never => {
      throw new SluiceError("PORT_UNAVAILABLE", `The queue at ${where} was not waited for.`);
    }),
  );
  try {
    return await firstValueFrom(merge(from(work), late, ended));
  } catch (error) {
    if (isSluiceError(error)) throw error;
    throw new SluiceError(
      "PORT_UNAVAILABLE",
      `The queue at ${where} failed: ${messageOf(error)}. Results so far are kept: ask again to go on.`,
    );
  }
};
