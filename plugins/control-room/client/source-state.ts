/**
 * State of one engine on the page: the rows of its control document, and which sections have changed since they were drawn.
 *
 * Invariants: a snapshot replaces everything, an update the rows it names; a section never holds more than its bound: the oldest rows go
 * first, so that a page left open for days stays as small as after an hour.
 * Not here: how rows arrive (feed.ts).
 */
import type { ControlUpdate } from "../control-document.ts";
import type { ControlRows, SectionName, Unrecorded } from "../control-rows.ts";

/** Largest number of rows of a section, a little more than are sent; other sections have `boundElsewhere`. */
const bounds: Readonly<Record<string, number>> = { orders: 21_000, candles: 37_000 };
const boundElsewhere = 6_000;

export class SourceState {
  id;
  #sections = new Map<SectionName, Map<string, ControlRows[SectionName]>>();
  /** Changes of each section, counted. */
  #versions: Map<SectionName, number> = new Map();
  #seq = -1;
  #at = 0;

  constructor(id: string) {
    this.id = id;
  }

  /** The engine's clock when its last update was made. */
  get at() {
    return this.#at;
  }

  get hasRows() {
    return this.#seq >= 0;
  }

  /** @param isWhole - a snapshot */
  apply(update: ControlUpdate, isWhole: boolean) {
    if (isWhole) {
      for (const section of this.#sections.keys()) this.#touch(section);
      this.#sections.clear();
    }
    this.#seq = update.seq;
    this.#at = update.at;
    for (const [section, key, row] of update.rows) {
      let rows = this.#sections.get(section);
      if (rows === undefined) {
        rows = new Map();
        this.#sections.set(section, rows);
      }
      if (row === null) rows.delete(key);
      else rows.set(key, row);
      this.#touch(section);
    }
    for (const [section, rows] of this.#sections) this.#bound(rows, bounds[section] ?? boundElsewhere);
  }

  rows<S extends SectionName>(section: S): ReadonlyMap<string, ControlRows[S]> {
    return (this.#sections.get(section) ?? new Map()) as ReadonlyMap<string, ControlRows[S]>;
  }

  list<S extends SectionName>(section: S): ControlRows[S][] {
    return [...this.rows(section).values()];
  }

  row<S extends SectionName>(section: S, key: string = ""): ControlRows[S] | undefined {
    return this.rows(section).get(key);
  }

  /** Returns true if the engine is a recording without this part. */
  lacks(part: Unrecorded) {
    return this.row("engine")?.unrecorded?.includes(part) === true;
  }

  /** Changes so far of some sections: another number when any has changed. */
  version(sections: readonly SectionName[]) {
    let sum = 0;
    for (const section of sections) sum += this.#versions.get(section) ?? 0;
    return sum;
  }

  #touch(section: SectionName) {
    this.#versions.set(section, (this.#versions.get(section) ?? 0) + 1);
  }

  #bound(rows: Map<string, unknown>, most: number) {
    for (const key of rows.keys()) {
      if (rows.size <= most) return;
      rows.delete(key);
    }
  }
}
