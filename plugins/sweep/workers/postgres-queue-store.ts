/**
 * Sheets, results and refusals as tables of PostgreSQL, in a schema of their own.
 *
 * Invariants: those of the port (queue-store.ts): a result is a row by sheet and run, and the first one stays by the
 * table's primary key; each statement may be sent twice. Time is the server's.
 * Not here: queues, which are BullMQ's (postgres-queue.ts).
 */
import type { PatientPool } from "./postgres-pool.ts";
import { digestMark, digestOf, keptMs, type QueueStore, submitterMs } from "./queue-store.ts";
import { nameOfSheet, type WorkSheet } from "./work-sheet.ts";

/** Spells SLUI: of the processes that come first, one makes the tables. */
const lockKey = 0x53_4c_55_49;

const tables = `
SELECT pg_advisory_xact_lock(${lockKey});
CREATE SCHEMA IF NOT EXISTS sluice;
CREATE TABLE IF NOT EXISTS sluice.sheet (sheet text PRIMARY KEY, content text NOT NULL, up_since timestamptz, kept_until timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS sluice.result
  (sheet text, run integer, answer text NOT NULL, kept_until timestamptz NOT NULL, PRIMARY KEY (sheet, run));
CREATE TABLE IF NOT EXISTS sluice.finished
  (id bigserial PRIMARY KEY, sheet text NOT NULL, run integer NOT NULL, kept_until timestamptz NOT NULL);
CREATE INDEX IF NOT EXISTS finished_of_sheet ON sluice.finished (sheet, id);
CREATE TABLE IF NOT EXISTS sluice.differing (sheet text, run integer, kept_until timestamptz NOT NULL, PRIMARY KEY (sheet, run));
CREATE TABLE IF NOT EXISTS sluice.refusal
  (sheet text, worker text, reason text NOT NULL, kept_until timestamptz NOT NULL, PRIMARY KEY (sheet, worker));
CREATE TABLE IF NOT EXISTS sluice.submitter (sheet text PRIMARY KEY, holder text NOT NULL, kept_until timestamptz NOT NULL);`;
const perishing = ["sheet", "result", "finished", "differing", "refusal", "submitter"] as const;

const in_ = (ms: number): string => `now() + interval '${ms} milliseconds'`;
const kept = in_(keptMs);

const addResult = `
WITH put AS (
  INSERT INTO sluice.result (sheet, run, answer, kept_until) VALUES ($1, $2, $3, ${kept}) ON CONFLICT DO NOTHING RETURNING run
), told AS (
  INSERT INTO sluice.finished (sheet, run, kept_until) VALUES ($1, $2, ${kept})
)
SELECT count(*)::int AS put FROM put`;

export class PostgresQueueStore implements QueueStore {
  readonly #pool: PatientPool;

  constructor(pool: PatientPool) {
    this.#pool = pool;
  }

  /** Makes the tables where they are missing. */
  async prepare(): Promise<void> {
    const [last] = await this.#rows<{ readonly found: string | null }>(
      "SELECT to_regclass('sluice.submitter')::text AS found",
    );
    // Without parameters all of it is one transaction.
    if (last?.found === null) await this.#rows(tables);
  }

  async open(sheet: WorkSheet): Promise<void> {
    for (const table of perishing) await this.#rows(`DELETE FROM sluice.${table} WHERE kept_until < now()`);
    await this.#rows(
      `INSERT INTO sluice.sheet AS known (sheet, content, up_since, kept_until) VALUES ($1, $2, clock_timestamp(), ${kept})
       ON CONFLICT (sheet) DO UPDATE SET kept_until = excluded.kept_until, up_since = coalesce(known.up_since, excluded.up_since)`,
      [nameOfSheet(sheet), JSON.stringify(sheet)],
    );
  }

  async withdraw(name: string): Promise<void> {
    await this.#rows("UPDATE sluice.sheet SET up_since = NULL WHERE sheet = $1", [name]);
  }

  async clearSaid(name: string): Promise<void> {
    await this.#rows("DELETE FROM sluice.refusal WHERE sheet = $1", [name]);
    await this.#rows("DELETE FROM sluice.differing WHERE sheet = $1", [name]);
  }

  async sheets(): Promise<readonly string[]> {
    const rows = await this.#rows<{ readonly sheet: string }>(
      "SELECT sheet FROM sluice.sheet WHERE up_since IS NOT NULL AND kept_until > now() ORDER BY up_since, sheet",
    );
    return rows.map(({ sheet }) => sheet);
  }

  async sheetText(name: string): Promise<string | undefined> {
    const rows = await this.#rows<{ readonly content: string }>(
      "SELECT content FROM sluice.sheet WHERE sheet = $1 AND kept_until > now()",
      [name],
    );
    return rows[0]?.content;
  }

  async hold(name: string, holder: string): Promise<string | undefined> {
    const taken = await this.#rows(
      `INSERT INTO sluice.submitter AS known (sheet, holder, kept_until) VALUES ($1, $2, ${in_(submitterMs)})
       ON CONFLICT (sheet) DO UPDATE SET holder = excluded.holder, kept_until = excluded.kept_until
       WHERE known.holder = excluded.holder OR known.kept_until < now() RETURNING sheet`,
      [name, holder],
    );
    if (taken.length > 0) return undefined;
    const rows = await this.#rows<{ readonly holder: string }>("SELECT holder FROM sluice.submitter WHERE sheet = $1", [
      name,
    ]);
    // The holder released it between the two queries: the next request gets it.
    return rows[0]?.holder ?? "another process";
  }

  async release(name: string, holder: string): Promise<void> {
    await this.#rows("DELETE FROM sluice.submitter WHERE sheet = $1 AND holder = $2", [name, holder]);
  }

  async addResult(name: string, index: number, answer: string): Promise<"new" | "same" | "differs"> {
    const [added] = await this.#rows<{ readonly put: number }>(addResult, [name, index, answer]);
    if (added?.put === 1) return "new";
    const [first] = await this.#answers(name, [index]);
    if (first === undefined || first.answer === answer || first.answer === digestOf(answer)) return "same";
    await this.#rows(
      `INSERT INTO sluice.differing (sheet, run, kept_until) VALUES ($1, $2, ${kept}) ON CONFLICT DO NOTHING`,
      [name, index],
    );
    return "differs";
  }

  async results(name: string, indexes: readonly number[]): Promise<readonly (string | undefined)[]> {
    const answers = new Map((await this.#answers(name, indexes)).map(({ run, answer }) => [run, answer]));
    return indexes.map((index) => {
      const answer = answers.get(index);
      return answer?.startsWith(digestMark) === true ? undefined : answer;
    });
  }

  async digest(name: string, answers: ReadonlyMap<number, string>): Promise<void> {
    if (answers.size === 0) return;
    await this.#rows(
      `UPDATE sluice.result SET answer = short.answer FROM unnest($2::int[], $3::text[]) AS short (run, answer)
       WHERE sheet = $1 AND result.run = short.run`,
      [name, [...answers.keys()], [...answers.values()].map(digestOf)],
    );
  }

  async forget(name: string, indexes: readonly number[]): Promise<void> {
    if (indexes.length > 0)
      await this.#rows("DELETE FROM sluice.result WHERE sheet = $1 AND run = ANY($2::int[])", [name, indexes]);
  }

  async finished(name: string, most: number): Promise<readonly number[]> {
    const rows = await this.#rows<{ readonly run: number }>(
      `DELETE FROM sluice.finished WHERE id IN
       (SELECT id FROM sluice.finished WHERE sheet = $1 ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED) RETURNING run`,
      [name, most],
    );
    return rows.map(({ run }) => run);
  }

  async differing(name: string): Promise<readonly number[]> {
    const rows = await this.#rows<{ readonly run: number }>(
      "SELECT run FROM sluice.differing WHERE sheet = $1 ORDER BY run",
      [name],
    );
    return rows.map(({ run }) => run);
  }

  async refuse(name: string, worker: string, reason: string): Promise<void> {
    await this.#rows(
      `INSERT INTO sluice.refusal (sheet, worker, reason, kept_until) VALUES ($1, $2, $3, ${kept})
       ON CONFLICT (sheet, worker) DO UPDATE SET reason = excluded.reason, kept_until = excluded.kept_until`,
      // Text of PostgreSQL has no such character.
      [name, worker, reason.slice(0, 2_000).replaceAll("\0", "")],
    );
  }

  async refusals(name: string): Promise<Readonly<Record<string, string>>> {
    const rows = await this.#rows<{ readonly worker: string; readonly reason: string }>(
      "SELECT worker, reason FROM sluice.refusal WHERE sheet = $1",
      [name],
    );
    return Object.fromEntries(rows.map(({ worker, reason }) => [worker, reason]));
  }

  #answers(
    name: string,
    indexes: readonly number[],
  ): Promise<readonly { readonly run: number; readonly answer: string }[]> {
    return this.#rows("SELECT run, answer FROM sluice.result WHERE sheet = $1 AND run = ANY($2::int[])", [
      name,
      indexes,
    ]);
  }

  async #rows<R extends Record<string, unknown>>(text: string, values?: readonly unknown[]): Promise<readonly R[]> {
    return (await this.#pool.patiently(() => this.#pool.query<R>(text, values))).rows;
  }
}
