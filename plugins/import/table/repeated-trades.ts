/**
 * Trades that a file holds more than once, as where its pages overlap.
 *
 * Invariants: rows of one id and one instant are one trade, and the first of them is kept; rows without an id are kept,
 * as two trades may be alike, and those that are alike are counted.
 */
import type { Column } from "sluice/extension";
import type { Note } from "../reader-options.ts";

/** Ids that are kept at least, of trades one after the other. */
const idsMax = 100_000;

interface Rows {
  readonly at: Float64Array;
  /** By `idNumberOf`. */
  readonly ids: Float64Array;
  /** Columns by which trades of one instant are compared if they have no id. */
  readonly columns: readonly Column[];
  /** Places of the rows by time; undefined where they are in order. */
  readonly order: Uint32Array | undefined;
  readonly note: Note;
}

/** An id as a number: the number it is, or 53 bits that are mixed from its characters. NaN where there is none. */
export const idNumberOf = (id: string): number => {
  if (id === "") return Number.NaN;
  if (/^\d{1,15}$/.test(id)) return Number(id);
  let low = 0x811c9dc5;
  let high = 0x9e3779b9;
  for (let index = 0; index < id.length; index++) {
    const code = id.charCodeAt(index);
    low = Math.imul(low ^ code, 0x01000193);
    high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 13);
  }
  // Negative, apart from the ids that are numbers.
  return -((low >>> 0) * 2 ** 21 + (high >>> 11)) - 1;
};

/** Places of the rows that are kept, by time; undefined where all of them are, in the order of the file. */
export const withoutRepeats = ({ at, ids, columns, order, note }: Rows): Uint32Array | undefined => {
  const places = order ?? Uint32Array.from(at, (_, row) => row);
  const seen = new Set<number>();
  const alike = new Set<string>();
  let instant = Number.NaN;
  let count = 0;
  for (const row of places) {
    if (at[row] !== instant) {
      instant = at[row] as number;
      seen.clear();
      alike.clear();
    }
    const id = ids[row] as number;
    if (Number.isNaN(id)) {
      const values = columns.map((column) => column[row]).join(" ");
      if (alike.has(values)) note("trades like another one of the same instant, kept: without ids they may be two");
      alike.add(values);
    } else if (seen.has(id)) {
      note("repeated trades by their ids, dropped");
      continue;
    }
    seen.add(id);
    places[count++] = row;
  }
  return order === undefined && count === at.length ? undefined : places.slice(0, count);
};

/** Ids of the latest trades of a stream, to recognise one that comes again, as after a new connection. */
export class TradeIds {
  #latest = new Set<number>();
  #before = new Set<number>();

  /** Returns true if a trade of this id came before; false for a trade without an id. */
  isRepeated(id: unknown): boolean {
    if (typeof id !== "string" && typeof id !== "number") return false;
    const number = idNumberOf(String(id));
    if (Number.isNaN(number)) return false;
    if (this.#latest.has(number) || this.#before.has(number)) return true;
    if (this.#latest.size === idsMax) {
      this.#before = this.#latest;
      this.#latest = new Set();
    }
    this.#latest.add(number);
    return false;
  }
}
