/**
 * State of one engine on the page: the rows of its control document, by section.
 *
 * Invariants: a snapshot replaces everything, an update the rows it names; a component or an effect that reads a
 * section is drawn again after the section has changed, and no other; a section never holds more than its bound: the
 * oldest rows go first, so that a page left open for days stays as small as after an hour.
 * Not here: how rows arrive (feed.ts).
 */
import { batch, type Signal, signal } from "@preact/signals";
import type { ControlUpdate } from "../control-document.ts";
import type { ControlRows, SectionName, Unrecorded } from "../control-rows.ts";

/** Largest number of rows of a section, a little more than are sent; other sections have `boundElsewhere`. */
const bounds: Readonly<Record<string, number>> = { orders: 21_000, candles: 37_000 };
const boundElsewhere = 6_000;

/** Calls `work` when there is time for it; of several calls for one owner the last counts. */
type Later = (owner: object, work: () => void) => void;

export class SourceState {
  id;
  #later;
  #sections = new Map<SectionName, Map<string, ControlRows[SectionName]>>();
  /** Changes of each section, counted. Reading one subscribes to it. */
  #versions: Map<SectionName, Signal<number>> = new Map();
  #at = 0;

  /** @param later - runs what follows from an update; at once by default */
  constructor(id: string, later: Later = (_, work) => work()) {
    this.id = id;
    this.#later = later;
  }

  /** The engine's clock when its last update was made. */
  get at() {
    return this.#at;
  }

  /** @param isWhole - a snapshot, which is shown at once */
  apply(update: ControlUpdate, isWhole: boolean) {
    const changed = new Set(isWhole ? this.#sections.keys() : []);
    if (isWhole) this.#sections.clear();
    this.#at = update.at;
    for (const [section, key, row] of update.rows) {
      const rows = this.#sections.get(section) ?? new Map();
      this.#sections.set(section, rows);
      if (row === null) rows.delete(key);
      else rows.set(key, row);
      changed.add(section);
    }
    for (const [section, rows] of this.#sections) this.#bound(rows, bounds[section] ?? boundElsewhere);
    const versions = [...changed].map((section) => this.#versionOf(section));
    if (isWhole) batch(() => versions.forEach(countUp));
    else for (const version of versions) this.#later(version, () => countUp(version));
  }

  rows<S extends SectionName>(section: S): ReadonlyMap<string, ControlRows[S]> {
    this.version([section]);
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
    return sections.reduce((sum, section) => sum + this.#versionOf(section).value, 0);
  }

  #versionOf(section: SectionName) {
    const version = this.#versions.get(section) ?? signal(0);
    this.#versions.set(section, version);
    return version;
  }

  #bound(rows: Map<string, unknown>, most: number) {
    for (const key of rows.keys()) {
      if (rows.size <= most) return;
      rows.delete(key);
    }
  }
}

const countUp = (version: Signal<number>) => {
  version.value++;
};
