/**
 * The order book of a recording: which snapshot and change messages become rows, by their update ids.
 *
 * Invariants: nothing is shown before a snapshot; changes that the snapshot already holds are dropped, those received before it
 * but newer are applied at its instant; a message whose predecessor is missing is counted as a gap and applied all the same
 * (quantities are absolute, so levels heal one by one), and the next snapshot then starts a fresh book.
 * Chains: a perpetual's message names the last id of its predecessor (`pu`), a spot one begins one past it (`U`).
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

export interface BookChain {
  snapshot(at: number, line: number, lastUpdateId: number, levels: BookLevels): void;
  delta(at: number, delta: BookDelta): void;
  /** Says what was left over when the recording ended. */
  finish(): void;
}

/** Takes levels into the book at `at`, which hold all updates up to `lastId`; a snapshot empties it first. */
type Emit = (at: number, line: number, levels: BookLevels, lastId: number, snapshot: boolean) => void;

export const createBookChain = (emit: Emit, note: (what: string, count?: number) => void): BookChain => {
  /** The last id in the book; undefined before the first snapshot. */
  let lastId: number | undefined;
  /** The snapshot's id until a message has linked to it. */
  let unlinked = false;
  /** The first id after the last gap: a snapshot heals it when it reaches up to there. */
  let brokenAt: number | undefined;
  /** Messages a coming snapshot may not hold yet: all before the first one, later those since the last gap. */
  let held: BookDelta[] = [];
  const apply = (at: number, delta: BookDelta): void => {
    const book = lastId as number;
    if (delta.lastId <= book) {
      note("book messages already in the book, dropped");
      return;
    }
    const { previousId, firstId } = delta;
    // A snapshot may end inside a message or, for a perpetual whose ids have holes, between two: then the predecessor is in it.
    const linked = previousId === undefined ? firstId <= book + 1 : unlinked ? previousId <= book : previousId === book;
    if (!linked) {
      brokenAt = firstId;
      held = [];
      note("gaps in the chain of book messages");
    }
    unlinked = false;
    lastId = delta.lastId;
    if (brokenAt !== undefined) held.push(delta);
    emit(at, delta.line, delta.levels, delta.lastId, false);
  };
  return {
    snapshot: (at, line, lastUpdateId, levels) => {
      if (lastId !== undefined && !(brokenAt !== undefined && lastUpdateId >= brokenAt - 1)) {
        note(brokenAt === undefined ? "book snapshots that were not needed" : "book snapshots older than a gap, dropped");
        return;
      }
      lastId = lastUpdateId;
      unlinked = true;
      brokenAt = undefined;
      emit(at, line, levels, lastUpdateId, true);
      const waiting = held;
      held = [];
      for (const delta of waiting) apply(at, delta);
    },
    delta: (at, delta) => {
      if (lastId === undefined) held.push(delta);
      else apply(at, delta);
    },
    finish: () => {
      if (lastId === undefined && held.length > 0) note("book messages without a snapshot before or after them, dropped", held.length);
    },
  };
};
