/**
 * Part of one engine in a divided window that is on its floor: its counts are not used, and every engine of the group
 * spends its own part evenly.
 *
 * Invariants: the part depends on the configured shares alone, so the parts of all engines never add up to more than
 * the floor of one engine, also while engines join, leave, die or do not reach the store. All engines are on the floor
 * as long as the evidence of one of them requires it and the store answers. An engine without an answer stays on it
 * until the instant that the last answer stated.
 * Not here: the schedule and the evidence (quota/floor.ts), the messages (claim.ts).
 */
import type { FixedWindow, Rank } from "sluice/extension";

const exitShare = 1 / 8;

export class EvenPart {
  readonly #gauge: FixedWindow;
  readonly #exitUnits: () => number;

  /** `part` is this engine's, of 1; `exitUnits` returns what one exit takes. */
  constructor(gauge: FixedWindow, part: number, exitUnits: () => number) {
    this.#gauge = gauge;
    this.#exitUnits = exitUnits;
    gauge.floor.part = part;
  }

  /** True while counts are not used. */
  get isActive(): boolean {
    return this.#gauge.mode === "floor";
  }

  /** Milliseconds for which the evidence of this engine requires the floor, a whole number. */
  neededMs(at: number): number {
    return Math.ceil(this.#gauge.floor.neededMs(at));
  }

  /** Called with the milliseconds from `at` for which an engine of the group requires the floor, 0 for none. */
  hear(forMs: number, at: number): void {
    const gauge = this.#gauge;
    gauge.floor.othersUntil = at + forMs;
    if (forMs > 0) gauge.fall(at, "another engine of the group does not use its counts", false);
    else gauge.leaveFloor(at);
  }

  /**
   * Most units that may be used; `alone` is the result without division. Exits keep an eighth of the part at most, or
   * what one of them takes, if that is less than half: even spending frees quota all the time.
   */
  most(rank: Rank, at: number, alone: number): number {
    if (rank !== "ordinary") return alone;
    const { capacity } = this.#gauge;
    const kept = Math.min(capacity / 2, Math.max(capacity * exitShare, this.#exitUnits()));
    return Math.max(alone, Math.min(this.#gauge.paced(at), capacity - kept));
  }
}
