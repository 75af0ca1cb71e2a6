/**
 * State of one engine on the page: the rows of its control document, and which sections have changed since they were drawn.
 *
 * Invariants: a snapshot replaces everything, an update the rows it names; a section never holds more than its bound: the oldest rows go
 * first, so that a page left open for days stays as small as after an hour.
 * Not here: how rows arrive (feed.js).
 */

/** @import {ControlUpdate} from "../control-document.ts" */
/** @import {ControlRows, SectionName} from "../control-rows.ts" */

/** Largest number of rows of a section, a little more than are sent; other sections have `boundElsewhere`. */
const bounds = /** @type {Readonly<Record<string, number>>} */ ({ orders: 21_000, candles: 37_000 });
const boundElsewhere = 6_000;

export class SourceState {
  id;
  /** @type {Map<SectionName, Map<string, any>>} */
  #sections = new Map();
  /** Changes of each section, counted. @type {Map<SectionName, number>} */
  #versions = new Map();
  #seq = -1;
  #at = 0;

  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /** The engine's clock when its last update was made. */
  get at() {
    return this.#at;
  }

  get hasRows() {
    return this.#seq >= 0;
  }

  /** @param {ControlUpdate} update @param {boolean} isWhole a snapshot */
  apply(update, isWhole) {
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

  /** @template {SectionName} S @param {S} section @returns {ReadonlyMap<string, ControlRows[S]>} */
  rows(section) {
    return this.#sections.get(section) ?? new Map();
  }

  /** @template {SectionName} S @param {S} section @returns {ControlRows[S][]} */
  list(section) {
    return [...this.rows(section).values()];
  }

  /** @template {SectionName} S @param {S} section @param {string} [key] @returns {ControlRows[S] | undefined} */
  row(section, key = "") {
    return this.#sections.get(section)?.get(key);
  }

  /** Changes so far of some sections: another number when any has changed. @param {readonly SectionName[]} sections */
  version(sections) {
    let sum = 0;
    for (const section of sections) sum += this.#versions.get(section) ?? 0;
    return sum;
  }

  /** @param {SectionName} section */
  #touch(section) {
    this.#versions.set(section, (this.#versions.get(section) ?? 0) + 1);
  }

  /** @param {Map<string, any>} rows @param {number} most */
  #bound(rows, most) {
    for (const key of rows.keys()) {
      if (rows.size <= most) return;
      rows.delete(key);
    }
  }
}
