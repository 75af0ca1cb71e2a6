/**
 * Control document: the complete published state of one engine, and its changes as updates.
 *
 * Invariants: an update holds each row at most once, the latest; sections are bounded, and rows dropped by a bound are
 * removed by the same update; a document that has taken a snapshot and every update since equals the one they were
 * taken from; keys are text like any other, `__proto__` included.
 * Not here: the rows (control-rows.ts), when updates are taken (engine-view.ts).
 */
import type { ControlChange, ControlRows, SectionName } from "./control-rows.ts";

/**
 * One change of a source: rows replaced (or removed, null) by section and key. Coalesced: the latest row of a key wins.
 */
export interface ControlUpdate {
  readonly source: string;
  /** Rises; where updates were merged numbers are left out. */
  readonly seq: number;
  /** Milliseconds on the engine's clock. */
  readonly at: number;
  readonly rows: readonly ControlChange[];
}

/** Largest number of rows of each section; the oldest are dropped first. */
export const rowsMax: Readonly<Record<SectionName, number>> = {
  engine: 1,
  strategies: 1_000,
  positions: 5_000,
  money: 100,
  userMoney: 1_000,
  balances: 500,
  accountPositions: 1_000,
  equity: 2_000,
  orders: 20_000,
  fills: 1_000,
  quota: 200,
  queue: 5_000,
  events: 500,
  health: 100,
  markets: 50,
  book: 50,
  candles: 36_000,
};

/** Largest number of finished orders, in addition to all open ones. */
export const ordersOverMax = 1_000;
/** Candles of one instrument. */
export const candlesMax = 720;

type Rows = Map<string, unknown>;

/** Published state of one source. Its producer puts rows and takes updates; a follower applies them. */
export class ControlDocument {
  readonly #source: string;
  readonly #sections = new Map<SectionName, Rows>();
  readonly #changed = new Map<SectionName, Set<string>>();
  readonly #over = new Set<string>();
  readonly #bars = new Map<string, Set<string>>();
  #seq = 0;
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  /** Number of the last update. */
  get seq(): number {
    return this.#seq;
  }

  /** Instant of the last update. */
  get at(): number {
    return this.#at;
  }

  row<S extends SectionName>(section: S, key: string): ControlRows[S] | undefined {
    return this.#sections.get(section)?.get(key) as ControlRows[S] | undefined;
  }

  /** Keys of a section, the oldest first. */
  keys(section: SectionName): readonly string[] {
    return [...(this.#sections.get(section)?.keys() ?? [])];
  }

  count(section: SectionName): number {
    return this.#sections.get(section)?.size ?? 0;
  }

  rows<S extends SectionName>(section: S): readonly ControlRows[S][] {
    return [...(this.#sections.get(section)?.values() ?? [])] as ControlRows[S][];
  }

  /** Replaces a row. A row that was there keeps its age. */
  put<S extends SectionName>(section: S, key: string, row: ControlRows[S]): void {
    const rows = this.#rowsOf(section);
    rows.set(key, row);
    this.#mark(section, key);
    if (section === "orders") this.#noteOrder(key, row as ControlRows["orders"]);
    else if (section === "candles") this.#noteCandle(key, row as ControlRows["candles"]);
    else if (section === "equity" && rows.size > rowsMax.equity) this.#thin(rows);
    for (const oldest of rows.keys()) {
      if (rows.size <= rowsMax[section]) break;
      this.drop(section, oldest);
    }
  }

  /** Replaces a row where it differs from the one that is there: unchanged figures are no update. */
  putChanged<S extends SectionName>(section: S, key: string, row: ControlRows[S]): void {
    const before = this.row(section, key);
    if (before === undefined || JSON.stringify(before) !== JSON.stringify(row)) this.put(section, key, row);
  }

  drop(section: SectionName, key: string): void {
    if (this.#sections.get(section)?.delete(key) !== true) return;
    if (section === "orders") this.#over.delete(key);
    if (section === "candles") this.#bars.get(instIdOf(key))?.delete(key);
    this.#mark(section, key);
  }

  /** Makes a section hold exactly these rows. */
  replace<S extends SectionName>(section: S, rows: Iterable<readonly [key: string, row: ControlRows[S]]>): void {
    const kept = new Set<string>();
    for (const [key, row] of rows) {
      kept.add(key);
      this.putChanged(section, key, row);
    }
    for (const key of this.keys(section)) if (!kept.has(key)) this.drop(section, key);
  }

  /** Returns the changes since the last update; undefined if there are none. */
  take(at: number): ControlUpdate | undefined {
    const rows: ControlChange[] = [];
    for (const [section, keys] of this.#changed) {
      for (const key of keys) rows.push([section, key, this.#sections.get(section)?.get(key) ?? null] as ControlChange);
    }
    this.#changed.clear();
    if (rows.length === 0) return undefined;
    this.#at = at;
    return { source: this.#source, seq: ++this.#seq, at, rows };
  }

  /** Returns the complete state as of the last update. Changes since then are also in the next update. */
  snapshot(): ControlUpdate {
    const rows = [...this.#sections].flatMap(([section, kept]) =>
      [...kept].map(([key, row]) => [section, key, row] as ControlChange),
    );
    return { source: this.#source, seq: this.#seq, at: this.#at, rows };
  }

  /** Applies an update of the same source made elsewhere; the changes are not published again. */
  apply({ seq, at, rows }: ControlUpdate): void {
    for (const [section, key, row] of rows) {
      if (row === null) this.#sections.get(section)?.delete(key);
      else this.#rowsOf(section).set(key, row);
    }
    this.#seq = seq;
    this.#at = at;
  }

  #rowsOf(section: SectionName): Rows {
    let rows = this.#sections.get(section);
    if (rows === undefined) {
      rows = new Map();
      this.#sections.set(section, rows);
    }
    return rows;
  }

  #mark(section: SectionName, key: string): void {
    const keys = this.#changed.get(section);
    if (keys === undefined) this.#changed.set(section, new Set([key]));
    else keys.add(key);
  }

  #noteOrder(key: string, { isFinal }: ControlRows["orders"]): void {
    if (!isFinal) this.#over.delete(key);
    else this.#over.add(key);
    for (const oldest of this.#over) {
      if (this.#over.size <= ordersOverMax) return;
      this.drop("orders", oldest);
    }
  }

  #noteCandle(key: string, { instId }: ControlRows["candles"]): void {
    const bars = this.#bars.get(instId) ?? new Set();
    this.#bars.set(instId, bars.add(key));
    for (const oldest of bars) {
      if (bars.size <= candlesMax) return;
      this.drop("candles", oldest);
    }
  }

  /** Every second point goes, the first and the last stay: the curve keeps its length at half the resolution. */
  #thin(rows: Rows): void {
    const keys = [...rows.keys()];
    for (const [index, key] of keys.entries())
      if (index % 2 === 1 && index !== keys.length - 1) this.drop("equity", key);
  }
}

const instIdOf = (key: string): string => key.slice(0, key.lastIndexOf("|"));

/** Key of a candle. */
export const candleKey = (instId: string, at: number): string => `${instId}|${at}`;

/** Two updates of one source as one: later rows win. */
export const mergeUpdates = (earlier: ControlUpdate, later: ControlUpdate): ControlUpdate => {
  const rows = new Map<string, ControlChange>();
  for (const change of [...earlier.rows, ...later.rows]) rows.set(`${change[0]}\n${change[1]}`, change);
  return { ...later, rows: [...rows.values()] };
};
