/**
 * Connections to a PostgreSQL, a few at a time.
 *
 * Invariants: a connection that cannot be made is tried again for a minute, as while the server restarts; one that was
 * lost, or on which an answer took too long, is not used again; after `disconnect` nothing waits for the server.
 * Not here: queries (postgres-queue.ts, postgres-queue-store.ts).
 */
import type { Pool, PoolClient, PoolConfig, QueryResult, QueryResultRow } from "pg";
import { firstValueFrom } from "rxjs";
import { after, type Clock, messageOf } from "sluice/extension";

export type PgPackage = Pick<typeof import("pg"), "Pool">;

const retryMs = 200;
const patienceMs = 60_000;
const connectMs = 5_000;
const answerMs = 30_000;

/** Pool with the interface that BullMQ requires. */
export class PatientPool {
  readonly options: PoolConfig;
  readonly #pool: Pool;
  readonly #clock: Clock;
  readonly #open = new Set<PoolClient>();
  #isClosed = false;

  constructor({ Pool: Connections }: PgPackage, options: PoolConfig, clock: Clock) {
    this.#clock = clock;
    this.options = {
      connectionTimeoutMillis: connectMs,
      query_timeout: answerMs,
      keepAlive: true,
      keepAliveInitialDelayMillis: 10_000,
      ...options,
    };
    this.#pool = new Connections(this.options);
    this.#pool.on("error", () => undefined);
    this.#pool.on("connect", (client) => {
      // A connection that is lost while in use also reports the error to its user.
      client.on("error", () => undefined);
      this.#open.add(client);
    });
    this.#pool.on("remove", (client) => this.#open.delete(client));
  }

  connect(): Promise<PoolClient> {
    return this.patiently(() => this.#pool.connect());
  }

  async query<R extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<QueryResult<R>> {
    const client = await this.connect();
    try {
      const result = await client.query<R>(text, values === undefined ? undefined : [...values]);
      client.release();
      return result;
    } catch (error) {
      client.release(isLost(error));
      throw error;
    }
  }

  /** Repeats `ask` after a lost connection; only for requests that are safe to repeat. */
  async patiently<T>(ask: () => Promise<T>): Promise<T> {
    const from = this.#clock.now();
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (this.#isClosed || !isLost(error) || this.#clock.now() - from >= patienceMs) throw error;
      }
      await firstValueFrom(after(this.#clock, retryMs));
    }
  }

  on(event: "error", listener: (error: Error) => void): this {
    this.#pool.on(event, listener);
    return this;
  }

  /** Does nothing: users of the pool call it, but the creator of the pool closes the connections. */
  async end(): Promise<void> {}

  disconnect(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const client of this.#open) {
      client.on("error", () => undefined);
      (
        client as unknown as { readonly connection: { readonly stream: { destroy(): void } } }
      ).connection.stream.destroy();
    }
    this.#pool.end().catch(() => undefined);
  }
}

/**
 * Returns true if nothing listens at the address, the connection is lost, or the server is starting, stopping, or out
 * of connections.
 */
const isLost = (error: unknown): boolean => {
  const { code = "", errors } = error as { readonly code?: string; readonly errors?: readonly unknown[] };
  if (errors !== undefined) return errors.every(isLost);
  if (/^(ECONN\w+|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|57P0[123]|53300|08\w{3})$/.test(code))
    return true;
  return /^(Connection terminated|timeout e|Query read timeout|Client has encountered a connection error|Client was closed)/.test(
    messageOf(error),
  );
};
