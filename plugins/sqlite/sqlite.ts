/**
 * SQLite as the platform offers it: Node's own module where there is one, else the package better-sqlite3, behind one
 * small interface.
 *
 * Invariants: a file that is made is its owner's alone, and so are the files that SQLite adds next to it; values are
 * text and whole numbers; a statement is prepared once; a failed transaction is rolled back as a whole.
 */
import { closeSync, openSync } from "node:fs";
import { createRequire } from "node:module";
import { SluiceError } from "sluice";

type Value = string | number | null;
export type Row = Readonly<Record<string, Value>>;

interface Statement {
  run(...values: Value[]): { readonly changes: number | bigint };
  all(...values: Value[]): unknown[];
}
interface Handle {
  exec(sql: string): unknown;
  prepare(sql: string): Statement;
  close(): void;
}
type Open = new (path: string, options: object) => Handle;

const install = "npm install better-sqlite3@12";

/** Node has it from 22.13 on without a flag. */
const opener = (): { readonly Open: Open; readonly readOnly: string } => {
  const own = process.getBuiltinModule("node:sqlite") as { readonly DatabaseSync: Open } | undefined;
  if (own !== undefined) return { Open: own.DatabaseSync, readOnly: "readOnly" };
  try {
    return { Open: createRequire(import.meta.url)("better-sqlite3") as Open, readOnly: "readonly" };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "MODULE_NOT_FOUND") throw error;
    throw new SluiceError(
      "PLATFORM_UNSUPPORTED",
      `This Node (${process.version}) has no SQLite of its own. Use Node 22.13 or later, or install the package: ${install}`,
    );
  }
};

export class Sqlite {
  readonly #handle: Handle;
  readonly #statements = new Map<string, Statement>();

  /** Throws what opening throws; PLATFORM_UNSUPPORTED where there is no SQLite. */
  constructor(path: string, { readOnly = false }: { readonly readOnly?: boolean } = {}) {
    const { Open, readOnly: name } = opener();
    // SQLite would create it with the mode of the umask; the files next to it get the mode of the file.
    if (!readOnly && path !== ":memory:") closeSync(openSync(path, "a", 0o600));
    this.#handle = new Open(path, readOnly ? { [name]: true } : {});
    // Who writes has the thread of an engine, and tries again later.
    this.#handle.exec(`PRAGMA busy_timeout = ${readOnly ? 2_000 : 20}`);
  }

  exec(sql: string): void {
    this.#handle.exec(sql);
  }

  /** Rows that were changed. */
  run(sql: string, ...values: Value[]): number {
    return Number(this.#prepared(sql).run(...values).changes);
  }

  all(sql: string, ...values: Value[]): readonly Row[] {
    return this.#prepared(sql).all(...values) as Row[];
  }

  transaction(work: () => void): void {
    this.exec("BEGIN IMMEDIATE");
    try {
      work();
      this.exec("COMMIT");
    } catch (error) {
      try {
        this.exec("ROLLBACK");
      } catch {
        // A full disk may have rolled it back already; the first error has more information.
      }
      throw error;
    }
  }

  close(): void {
    this.#statements.clear();
    this.#handle.close();
  }

  #prepared(sql: string): Statement {
    const known = this.#statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.#handle.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }
}
