/**
 * The stores that a queue of work may have: each with its server, and what a test reads of it past the queue itself.
 *
 * Not here: workers (workers.ts).
 */
import { Redis } from "ioredis";
import { Pool } from "pg";
import { postgresServer, startPostgres } from "./postgres.ts";
import { redisServer, startRedis } from "./redis.ts";

export interface QueueServer {
  readonly name: string;
  /** Said where it is not installed. */
  readonly program: string;
  readonly isInstalled: boolean;
  readonly start: () => Promise<{ readonly url: string; stop(): Promise<void> }>;
  readonly watch: (url: string) => WatchedQueue;
}

export interface WatchedQueue {
  /** Results in all sheets. */
  results(): Promise<number>;
  /** Of one sheet, as they are kept. */
  answers(sheet: string): Promise<readonly string[]>;
  /** Jobs that no worker has taken. */
  waiting(): Promise<number>;
  /** Jobs that some worker has taken. */
  active(): Promise<number>;
  /** What is left of queues, in rows or keys. */
  left(): Promise<number>;
  /** How long a note of a result is kept. */
  noteMs(sheet: string): Promise<number>;
  /** Somebody else holds the sheet for so long. */
  holdElsewhere(sheet: string, holder: string, ms: number): Promise<void>;
  empty(): Promise<void>;
  close(): Promise<void>;
}

export const until = async (what: () => Promise<boolean>): Promise<void> => {
  while (!(await what())) await new Promise((resolve) => setTimeout(resolve, 20));
};

class WatchedRedis implements WatchedQueue {
  readonly #redis: Redis;

  constructor(url: string) {
    this.#redis = new Redis(url);
  }

  results(): Promise<number> {
    return this.#sum("sluice:results:*", (key) => this.#redis.hlen(key));
  }

  answers(sheet: string): Promise<readonly string[]> {
    return this.#redis.hvals(`sluice:results:${sheet}`);
  }

  waiting(): Promise<number> {
    return this.#sum("sluice:queue:*:wait", (key) => this.#redis.llen(key));
  }

  active(): Promise<number> {
    return this.#sum("sluice:queue:*:active", (key) => this.#redis.llen(key));
  }

  async left(): Promise<number> {
    return (await this.#redis.keys("sluice:queue:*")).length;
  }

  noteMs(sheet: string): Promise<number> {
    return this.#redis.pttl(`sluice:done:${sheet}`);
  }

  async holdElsewhere(sheet: string, holder: string, ms: number): Promise<void> {
    await this.#redis.set(`sluice:submitter:${sheet}`, holder, "PX", ms);
  }

  async empty(): Promise<void> {
    await this.#redis.flushall();
  }

  async close(): Promise<void> {
    this.#redis.disconnect();
  }

  async #sum(pattern: string, count: (key: string) => Promise<number>): Promise<number> {
    let sum = 0;
    for (const key of await this.#redis.keys(pattern)) sum += await count(key);
    return sum;
  }
}

class WatchedPostgres implements WatchedQueue {
  readonly #pool: Pool;

  constructor(url: string) {
    this.#pool = new Pool({ connectionString: url, max: 1 });
    this.#pool.on("error", () => undefined);
  }

  results(): Promise<number> {
    return this.#count("sluice.result");
  }

  async answers(sheet: string): Promise<readonly string[]> {
    const { rows } = await this.#pool.query<{ answer: string }>("SELECT answer FROM sluice.result WHERE sheet = $1", [
      sheet,
    ]);
    return rows.map(({ answer }) => answer);
  }

  waiting(): Promise<number> {
    return this.#count("bullmq.job WHERE state = 'waiting'");
  }

  active(): Promise<number> {
    return this.#count("bullmq.job WHERE state = 'active'");
  }

  left(): Promise<number> {
    return this.#count("bullmq.job");
  }

  async noteMs(sheet: string): Promise<number> {
    const text =
      "SELECT extract(epoch FROM min(kept_until) - now()) * 1000 AS ms FROM sluice.finished WHERE sheet = $1";
    return Number((await this.#pool.query<{ ms: string }>(text, [sheet])).rows[0]?.ms);
  }

  async holdElsewhere(sheet: string, holder: string, ms: number): Promise<void> {
    await this.#pool.query("INSERT INTO sluice.submitter VALUES ($1, $2, now() + $3 * interval '1 millisecond')", [
      sheet,
      holder,
      ms,
    ]);
  }

  /** The tables stay: they are found missing by who comes first only. */
  async empty(): Promise<void> {
    const text = `SELECT schemaname || '.' || tablename AS name FROM pg_tables
      WHERE schemaname IN ('sluice', 'bullmq') AND tablename <> 'migration'`;
    const { rows } = await this.#pool.query<{ name: string }>(text);
    if (rows.length > 0) await this.#pool.query(`TRUNCATE ${rows.map(({ name }) => name).join(", ")}`);
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  /** None where the tables were not made yet. */
  async #count(what: string): Promise<number> {
    try {
      return Number((await this.#pool.query<{ count: string }>(`SELECT count(*) FROM ${what}`)).rows[0]?.count);
    } catch (error) {
      if (/^(42P01|3F000)$/.test((error as { readonly code?: string }).code ?? "")) return 0;
      throw error;
    }
  }
}

export const queueServers: readonly QueueServer[] = [
  {
    name: "Redis",
    program: "redis-server",
    isInstalled: redisServer !== undefined,
    start: () => startRedis(),
    watch: (url) => new WatchedRedis(url),
  },
  {
    name: "PostgreSQL",
    program: "postgres",
    isInstalled: postgresServer !== undefined,
    start: () => startPostgres(),
    watch: (url) => new WatchedPostgres(url),
  },
];
