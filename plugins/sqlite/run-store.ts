/**
 * Database of runs: orders, fills, equity and events of an engine, written in batches and read for a report.
 *
 * Invariants: a batch is one transaction; a fill is stored once, also if events are repeated after a restart: for an
 * order that a later run meets again only missing fills are added; decimals are text and exact.
 * Not here: the tables (store-schema.ts), results from the rows (stored-run.ts).
 */
import { add, compare, div, type Event, isPositive, mul, type OrderUpdate, SluiceError, sub, sum } from "sluice";
import type { EventOf } from "sluice/extension";
import { type Row, Sqlite } from "./sqlite.ts";
import { checkedVersion, migrate, storeVersion } from "./store-schema.ts";

/** One thing to be stored. `total`: executed of the order so far, in base currency, where it is known. */
export type Entry =
  | { readonly kind: "event"; readonly event: Event }
  | { readonly kind: "fill"; readonly fill: EventOf<"fill">; readonly total?: string }
  | { readonly kind: "order"; readonly order: OrderUpdate; readonly at: number }
  | { readonly kind: "equity"; readonly at: number; readonly currency: string; readonly profit: string }
  | { readonly kind: "mark"; readonly at: number; readonly instId: string; readonly px: string };

const places = 12;

/**
 * A file of SQLite that one run of an engine is written to. Its methods block: they are for between orders, in batches.
 */
export class RunStore {
  readonly #database: Sqlite;
  readonly #run: number;

  /**
   * Opens or makes a file, brings it to the present version and begins a run. CONFIG_INVALID with the reason where it
   * cannot.
   */
  constructor(path: string, { name, startedAt }: { readonly name: string; readonly startedAt: number }) {
    this.#database = opened(path, {});
    migrate(this.#database, path);
    this.#run = Number(this.#database.all("SELECT coalesce(max(run), 0) + 1 AS next FROM runs")[0]?.["next"]);
    this.#database.run("INSERT INTO runs VALUES (?, ?, ?)", this.#run, name, Math.round(startedAt));
  }

  /** Number of this run in the file. */
  get run(): number {
    return this.#run;
  }

  /** All entries, or none where it throws. */
  write(entries: readonly Entry[]): void {
    if (entries.length === 0) return;
    this.#database.transaction(() => {
      for (const entry of entries) this.#write(entry);
    });
  }

  /** Events above a number. Counts them all: for now and then. */
  eventsAbove(most: number): number {
    return Math.max(0, Number(this.#database.all("SELECT count(*) AS count FROM events")[0]?.["count"]) - most);
  }

  /** Removes the `count` oldest events; orders, fills and equity stay. Returns the number of removed events. */
  removeEvents(count: number): number {
    return this.#database.run(
      "DELETE FROM events WHERE (run, seq) IN (SELECT run, seq FROM events ORDER BY run, seq LIMIT ?)",
      count,
    );
  }

  /** Returns the sum of the stored fills of a strategy in an instrument; undefined where there are none. */
  position(strategy: string, instId: string): string | undefined {
    const rows = this.#database.all("SELECT side, qty FROM fills WHERE strategy = ? AND instId = ?", strategy, instId);
    if (rows.length === 0) return undefined;
    return sum(rows.map(({ side, qty }) => (side === "buy" ? String(qty) : sub("0", String(qty)))));
  }

  close(): void {
    this.#database.close();
  }

  #write(entry: Entry): void {
    const run = this.#run;
    switch (entry.kind) {
      case "event": {
        const { seq, at, type, ...body } = entry.event;
        this.#database.run(
          "INSERT OR IGNORE INTO events VALUES (?, ?, ?, ?, ?)",
          run,
          seq,
          Math.round(at),
          type,
          JSON.stringify(body),
        );
        return;
      }
      case "fill":
        this.#addFill(entry.fill, entry.total);
        return;
      case "order":
        this.#putOrder(entry.order, Math.round(entry.at));
        return;
      case "equity":
        this.#database.run(
          "INSERT OR REPLACE INTO equity VALUES (?, ?, ?, ?)",
          run,
          Math.round(entry.at),
          entry.currency,
          entry.profit,
        );
        return;
      case "mark":
        this.#database.run(
          "INSERT OR REPLACE INTO marks VALUES (?, ?, ?, ?)",
          run,
          Math.round(entry.at),
          entry.instId,
          entry.px,
        );
        return;
    }
  }

  #addFill(fill: EventOf<"fill">, total: string | undefined): void {
    const stored = this.#database.all("SELECT px, qty, cost FROM fills WHERE clOrdId = ?", fill.clOrdId);
    const before = sum(stored.map(({ qty }) => String(qty)));
    const part = fill.recovered ? missingPart(fill, stored, before, total) : fill;
    if (part === undefined) return;
    const {
      clOrdId,
      seq,
      at,
      strategy,
      slot,
      instId,
      ordId,
      side,
      fee,
      currency,
      liquidity = "",
      position,
      recovered,
    } = fill;
    const { px, qty, cost } = part;
    const sign = fee === fill.cost ? cost : sub("0", cost);
    this.#database.run(
      "INSERT OR IGNORE INTO fills VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      ...[clOrdId, add(before, qty), this.#run, seq, Math.round(at), strategy, slot, instId, ordId, side, px, qty],
      ...[part === fill ? fee : sign, cost, currency, liquidity, position, recovered ? 1 : 0],
    );
  }

  #putOrder({ clOrdId, strategy, slot, spec, ordId, phase, filledQty, avgPx, reason }: OrderUpdate, at: number): void {
    if (clOrdId === "" || spec === undefined) return;
    this.#database.run(
      `INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (clOrdId) DO UPDATE SET ordId = excluded.ordId,
       phase = excluded.phase, filledQty = excluded.filledQty, avgPx = excluded.avgPx, reason = excluded.reason, changedAt = excluded.changedAt`,
      ...[
        clOrdId,
        this.#run,
        strategy,
        slot,
        spec.instId,
        spec.side,
        spec.ordType,
        spec.px,
        spec.sz,
        ordId,
        phase,
        filledQty,
        avgPx,
        reason,
      ],
      ...[at, at],
    );
  }
}

type Part = Pick<EventOf<"fill">, "px" | "qty" | "cost">;

/** Returns the part of an execution that is not stored yet; undefined if it is stored completely. */
const missingPart = (
  fill: Part,
  stored: readonly Row[],
  before: string,
  total: string | undefined,
): Part | undefined => {
  const missing = sub(total ?? fill.qty, before);
  if (!isPositive(missing)) return undefined;
  if (compare(missing, fill.qty) >= 0) return fill;
  const worth = sub(mul(fill.px, fill.qty), sum(stored.map(({ px, qty }) => mul(String(px), String(qty)))));
  const isWhole = compare(fill.qty, total ?? fill.qty) === 0;
  if (!isWhole) return { px: fill.px, qty: missing, cost: div(mul(fill.cost, missing), fill.qty, places) };
  return {
    px: div(worth, missing, places),
    qty: missing,
    cost: sub(fill.cost, sum(stored.map(({ cost }) => String(cost)))),
  };
};

/** Opens a file; throws an error with the reason in one sentence. */
const opened = (path: string, options: { readonly readOnly?: boolean }): Sqlite => {
  try {
    return new Sqlite(path, options);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("CONFIG_INVALID", `${path} cannot be opened as a database: ${messageOf(error)}.`);
  }
};

/** Stored rows of a span of time, in order of time. `before`: fills from earlier. */
interface StoredSpan {
  readonly events: readonly Event[];
  readonly fills: readonly Row[];
  readonly before: readonly Row[];
  readonly marks: readonly Row[];
  readonly open: readonly Row[];
}

/** Reads a span (milliseconds since the epoch, both ends included) without changing the file. */
export const readSpan = (
  path: string,
  from: number,
  to: number,
): StoredSpan & { readonly from: number; readonly to: number } => {
  const database = opened(path, { readOnly: true });
  try {
    return spanOf(database, path, from, to);
  } catch (error) {
    if (error instanceof SluiceError) throw error;
    throw new SluiceError("CONFIG_INVALID", `${path} cannot be read as a file of SQLite: ${messageOf(error)}.`);
  } finally {
    database.close();
  }
};

const spanOf = (database: Sqlite, path: string, from: number, to: number): ReturnType<typeof readSpan> => {
  const version = checkedVersion(database, path);
  if (version === 0) throw new SluiceError("CONFIG_INVALID", `${path} holds no runs. Write it with the plugin sqlite.`);
  if (version < storeVersion) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${path} has version ${version} of ${storeVersion}. Start an engine with it once, which brings it up to date.`,
    );
  }
  const ends =
    database.all(
      `SELECT min(startedAt) AS first, max(max(startedAt), (SELECT coalesce(max(at), 0) FROM events),
           (SELECT coalesce(max(at), 0) FROM fills)) AS last FROM runs`,
    )[0] ?? {};
  const [first, last] = [Math.max(from, Number(ends["first"])), Math.min(to, Number(ends["last"]))];
  const events = database.all(
    "SELECT run, seq, at, type, body FROM events WHERE at BETWEEN ? AND ? ORDER BY at, run, seq",
    first,
    last,
  );
  return {
    from: first,
    to: last,
    events: events.map(
      ({ seq, at, type, body }) => ({ seq, at, type, ...(JSON.parse(String(body)) as object) }) as unknown as Event,
    ),
    fills: database.all("SELECT * FROM fills WHERE at BETWEEN ? AND ? ORDER BY at, run, seq", first, last),
    before: database.all("SELECT * FROM fills WHERE at < ? ORDER BY at, run, seq", first),
    marks: database.all("SELECT at, instId, px FROM marks WHERE at <= ? ORDER BY at, run", last),
    open: database.all(
      "SELECT * FROM orders WHERE phase NOT IN ('filled', 'canceled', 'rejected', 'absent', 'refused') AND changedAt <= ?",
      last,
    ),
  };
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
