/**
 * Tables of a database of runs, and the steps from each version of them to the next.
 *
 * Invariants: a step is never changed once it was released; each is one transaction, so a file has one version or the
 * next; a file of a later version is refused, never changed.
 */
import { SluiceError } from "sluice";
import type { Sqlite } from "./sqlite.ts";

/** Marks a file as one of these: "SLUI" in ASCII. */
const applicationId = 0x53_4c_55_49;

const steps: readonly string[] = [
  `CREATE TABLE runs (run INTEGER PRIMARY KEY, name TEXT NOT NULL, startedAt INTEGER NOT NULL);
   CREATE TABLE events (run INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL, type TEXT NOT NULL, body TEXT NOT NULL,
     PRIMARY KEY (run, seq)) WITHOUT ROWID;
   CREATE TABLE orders (clOrdId TEXT PRIMARY KEY, run INTEGER NOT NULL, strategy TEXT NOT NULL, slot TEXT NOT NULL, instId TEXT NOT NULL,
     side TEXT NOT NULL, ordType TEXT NOT NULL, px TEXT NOT NULL, sz TEXT NOT NULL, ordId TEXT NOT NULL, phase TEXT NOT NULL,
     filledQty TEXT NOT NULL, avgPx TEXT NOT NULL, reason TEXT NOT NULL, placedAt INTEGER NOT NULL, changedAt INTEGER NOT NULL) WITHOUT ROWID;
   CREATE TABLE fills (clOrdId TEXT NOT NULL, filledQty TEXT NOT NULL, run INTEGER NOT NULL, seq INTEGER NOT NULL, at INTEGER NOT NULL,
     strategy TEXT NOT NULL, slot TEXT NOT NULL, instId TEXT NOT NULL, ordId TEXT NOT NULL, side TEXT NOT NULL, px TEXT NOT NULL,
     qty TEXT NOT NULL, fee TEXT NOT NULL, cost TEXT NOT NULL, currency TEXT NOT NULL, liquidity TEXT NOT NULL, position TEXT NOT NULL,
     recovered INTEGER NOT NULL, PRIMARY KEY (clOrdId, filledQty), UNIQUE (run, seq)) WITHOUT ROWID;
   CREATE TABLE equity (run INTEGER NOT NULL, at INTEGER NOT NULL, currency TEXT NOT NULL, profit TEXT NOT NULL,
     PRIMARY KEY (run, at, currency)) WITHOUT ROWID;`,
  `CREATE TABLE marks (run INTEGER NOT NULL, at INTEGER NOT NULL, instId TEXT NOT NULL, px TEXT NOT NULL,
     PRIMARY KEY (run, at, instId)) WITHOUT ROWID;
   CREATE INDEX eventsByTime ON events (at);
   CREATE INDEX fillsByTime ON fills (at);
   CREATE INDEX ordersByTime ON orders (changedAt);`,
];

export const storeVersion = steps.length;

const numberOf = (database: Sqlite, pragma: string): number =>
  Number(Object.values(database.all(`PRAGMA ${pragma}`)[0] ?? {})[0] ?? 0);

/**
 * Returns the version of the tables; 0 for an empty file. Refuses files of another kind, and those of a later version.
 */
export const checkedVersion = (database: Sqlite, path: string): number => {
  const version = numberOf(database, "user_version");
  const isOurs = numberOf(database, "application_id") === applicationId;
  const isEmpty = database.all("SELECT name FROM sqlite_master LIMIT 1").length === 0;
  if (!isOurs && !isEmpty)
    throw new SluiceError("CONFIG_INVALID", `${path} is a database of another program. Name a file of its own.`);
  if (version > storeVersion) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${path} has version ${version}, and this program knows ${storeVersion}. Use the program that made it.`,
    );
  }
  return version;
};

/** Brings the tables to the present version. */
export const migrate = (database: Sqlite, path: string): void => {
  // Not permitted within a transaction.
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = NORMAL");
  for (let version = checkedVersion(database, path); version < storeVersion; version++) {
    database.transaction(() => {
      database.exec(steps[version] as string);
      database.exec(`PRAGMA application_id = ${applicationId}`);
      database.exec(`PRAGMA user_version = ${version + 1}`);
    });
  }
};
