/**
 * Order book of a recording: selects by update ids the snapshot and change messages that become rows.
 *
 * Invariants: nothing is shown before a snapshot; changes that the snapshot already holds are dropped, those received
 * before it but newer are applied at its instant; a message whose predecessor is missing is counted as a gap and
 * applied nevertheless (quantities are absolute, so each level is correct after its next change), and the next snapshot
 * then starts a new book. Chains: a perpetual's message names the last id of its predecessor (`pu`), a spot one begins
 * one past it (`U`).
 */
import type { Parts } from "./import-decimals.ts";

/** Levels of both sides, four numbers each: count and places of the price, count and places of the quantity. */
export interface BookLevels {
  readonly bids: Parts;
  readonly asks: Parts;
}

interface BookDelta {
  readonly line: number;
  readonly firstId: number;
  readonly lastId: number;
  /** The `pu` of a perpetual; undefined for spot. */
  readonly previousId: number | undefined;
  readonly levels: BookLevels;
}

/** Takes levels into the book at `at`, which hold all updates up to `lastId`; a snapshot empties it first. */
type Emit = (at: number, line: number, levels: BookLevels, lastId: number, snapshot: boolean) => void;

export class BookChain {
  readonly #emit: Emit;
  readonly #note: (what: string, count?: number) => void;
  /** The last id in the book; undefined before the first snapshot. */
  #lastId: number | undefined;
  /** The snapshot's id until a message has linked to it. */
  #unlinked = false;
  /** The first id after the last gap: a snapshot heals it when it reaches up to there. */
  #brokenAt: number | undefined;
  /** Messages a coming snapshot may not hold yet: all before the first one, later those since the last gap. */
  #held: BookDelta[] = [];

  constructor(emit: Emit, note: (what: string, count?: number) => void) {
    this.#emit = emit;
    this.#note = note;
  }

  /** Adds a snapshot. With `anew` the exchange states that the book begins here, independent of earlier messages. */
  snapshot(at: number, line: number, lastUpdateId: number, levels: BookLevels, anew = false): void {
    if (anew && this.#lastId !== undefined) this.#held = [];
    const heals = this.#brokenAt !== undefined && lastUpdateId >= this.#brokenAt - 1;
    if (this.#lastId !== undefined && !heals && !anew) {
      this.#note(
        this.#brokenAt === undefined
          ? "book snapshots that were not needed"
          : "book snapshots older than a gap, dropped",
      );
      return;
    }
    this.#lastId = lastUpdateId;
    this.#unlinked = true;
    this.#brokenAt = undefined;
    this.#emit(at, line, levels, lastUpdateId, true);
    const waiting = this.#held;
    this.#held = [];
    for (const delta of waiting) this.#apply(at, delta);
  }

  delta(at: number, delta: BookDelta): void {
    if (this.#lastId === undefined) this.#held.push(delta);
    else this.#apply(at, delta);
  }

  /** Reports the messages left over at the end of the recording. */
  finish(): void {
    const left = this.#lastId === undefined ? this.#held.length : 0;
    if (left > 0) this.#note("book messages without a snapshot before or after them, dropped", left);
  }

  #apply(at: number, delta: BookDelta): void {
    const book = this.#lastId as number;
    if (delta.lastId <= book) {
      this.#note("book messages already in the book, dropped");
      return;
    }
    const { previousId, firstId } = delta;
    // A snapshot may end inside a message or, for a perpetual whose ids have holes, between two: then the predecessor
    // is in it.
    const linked =
      previousId === undefined ? firstId <= book + 1 : this.#unlinked ? previousId <= book : previousId === book;
    if (!linked) {
      this.#brokenAt = firstId;
      this.#held = [];
      this.#note("gaps in the chain of book messages");
    }
    this.#unlinked = false;
    this.#lastId = delta.lastId;
    if (this.#brokenAt !== undefined) this.#held.push(delta);
    this.#emit(at, delta.line, delta.levels, delta.lastId, false);
  }
}
