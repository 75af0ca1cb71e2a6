/**
 * Connection to a store in Redis or Valkey (6.2 or later), one server or sentinels that know which one is the primary.
 *
 * Invariants: what is asked is sent once and never repeated by the client; a server that does not answer for two
 * seconds is dialled again; a call that did not leave fails with `NotSent`.
 * Not here: what is asked (plugins/shared-quota, plugins/standby).
 */
import type { Redis } from "ioredis";
import { messageOf, optionalPackage } from "sluice/extension";
import { NotSent } from "./not-sent.ts";
import { dialled } from "./store-address.ts";
import type { Scripted, StoreClient } from "./store-client.ts";

const redialMs = 2_000;
const backOffMsMax = 500;

type Client = Pick<typeof import("ioredis"), "Redis">;
/** Options of `openRedis`. */
export interface ConnectionOptions<Name extends string> {
  /** As store-address.ts reads it, with user and password where the store needs them. */
  readonly url: string;
  /**
   * Feature that needs the store, for the error where the client is not installed: "standby: a store in Redis is
   * reached".
   */
  readonly needs: string;
  /** An answer that takes longer is none. */
  readonly answerMs: number;
  readonly scripts: Readonly<Record<Name, string>>;
}

/** Settings of the client, as `ioredis` documents them; times in milliseconds. */
export interface DialSettings {
  readonly maxRetriesPerRequest: number;
  readonly commandTimeout: number;
  readonly connectTimeout: number;
  readonly retryStrategy: (times: number) => number | null;
  readonly lazyConnect?: boolean;
  readonly enableOfflineQueue?: boolean;
  readonly autoResendUnfulfilledCommands?: boolean;
  readonly sentinelCommandTimeout?: number;
}

/** A client of the server at `url`, or of the primary that its sentinels name. */
export const dialledClient = async (url: string, needs: string, settings: DialSettings): Promise<StoreClient> =>
  (await dial(url, needs, settings)) as unknown as StoreClient;

const dial = async (url: string, needs: string, settings: DialSettings): Promise<Redis> => {
  const { Redis } = await optionalPackage<Client>("ioredis", "6", needs);
  const address = dialled(url);
  return typeof address === "string" ? new Redis(address, settings) : new Redis({ ...address, ...settings });
};

/** Connection to one server, which is dialled again when it is lost. */
export class RedisConnection<Name extends string> {
  readonly #redis: Scripted<Name>;
  readonly #client: Redis;
  readonly #answerMs: number;
  /** Id of the server; another one may have lost what the first knew. */
  #serverId: string | undefined;
  /** Error of the last attempt to connect. */
  #refusal: string | undefined;
  /** Answers due in a row. */
  #failures = 0;

  private constructor(redis: Redis, { answerMs, scripts }: ConnectionOptions<Name>) {
    this.#redis = redis as unknown as Scripted<Name>;
    this.#client = redis;
    this.#answerMs = answerMs;
    for (const [name, lua] of Object.entries<string>(scripts)) redis.defineCommand(name, { lua });
    redis.on("close", () => {
      this.#serverId = undefined;
    });
    // Reported by the next call; without a listener the client would print it.
    redis.on("error", (error) => {
      this.#serverId = undefined;
      this.#refusal = messageOf(error);
    });
    redis.on("ready", () => {
      this.#refusal = undefined;
    });
  }

  static async open<Name extends string>(options: ConnectionOptions<Name>): Promise<RedisConnection<Name>> {
    const { url, needs, answerMs } = options;
    const redis = await dial(url, needs, {
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      maxRetriesPerRequest: 0,
      commandTimeout: answerMs,
      sentinelCommandTimeout: answerMs,
      connectTimeout: redialMs,
      retryStrategy: (times: number) => Math.min(backOffMsMax, 50 * times),
    });
    return new RedisConnection(redis, options);
  }

  /**
   * Rejects with `NotSent` where it did not leave, else with an Error. Their messages are those of the client.
   */
  async ask<T>(call: (redis: Scripted<Name>) => Promise<T>): Promise<T> {
    const { status } = this.#client;
    if (status !== "ready") throw new NotSent(this.#refusal ?? `it is not connected (${status})`);
    try {
      const answer = await call(this.#redis);
      this.#failures = 0;
      return answer;
    } catch (error) {
      // It was closed in this very turn, and the client keeps nothing back.
      if (messageOf(error).startsWith("Stream isn't writeable")) throw new NotSent(messageOf(error));
      // The connection may hang without being closed: after two silent seconds another is opened.
      if (++this.#failures * this.#answerMs >= redialMs) {
        this.#failures = 0;
        this.#redis.disconnect(true);
      }
      throw new Error(messageOf(error));
    }
  }

  /** Changes when the server is restarted or another one takes its place: it may have lost what was written. */
  async serverId(): Promise<string> {
    if (this.#serverId === undefined) {
      const info = await this.ask((redis) => redis.info("server"));
      this.#serverId = /^run_id:(\w+)/m.exec(info)?.[1] ?? "unknown";
    }
    return this.#serverId;
  }

  /** Milliseconds of the server's calendar. */
  async now(): Promise<number> {
    const [seconds, micros] = await this.ask((redis) => redis.time());
    return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
  }

  async keysUnder(prefix: string): Promise<readonly string[]> {
    const pattern = `${prefix.replace(/[\\*?[\]]/g, "\\$&")}*`;
    const keys: string[] = [];
    let cursor = "0";
    do {
      const [next, some] = await this.ask((redis) => redis.scan(cursor, "MATCH", pattern, "COUNT", 200));
      cursor = next;
      keys.push(...some);
    } while (cursor !== "0");
    return keys;
  }

  close(): void {
    this.#redis.disconnect();
  }
}
