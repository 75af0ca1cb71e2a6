/**
 * Interface between the rate limiter and whatever divides a quota among several engines.
 *
 * Not here: how it is divided (plugins/shared-quota).
 */

import type { Ceiling, LimitWindow } from "./limit-window.ts";
import type { Rank, ReservePolicy } from "./reserve.ts";

/** What the division asks the rate limiter. */
export interface DivisionFacts {
  readonly policy: ReservePolicy;
  /** Orders at rest of a user, or of all. */
  openOrders(uid?: string): number;
  /** Exits a millisecond that are to be expected. */
  exitRate(at: number): number;
  /** What was laid to other clients is not believed any more. */
  forgetOthers(): void;
  /** What was taken for the beginning of windows is not believed any more. */
  relearn(at: number): void;
  /** What may be used has changed. */
  changed(): void;
}

/** Divides the windows of a rate limiter among several engines. */
export interface Division {
  /** Called once, before anything is asked. */
  attach(facts: DivisionFacts): void;
  /** A window was made; those that are divided are looked after from here on. */
  adopt(window: LimitWindow): void;
  /** Most that may be used of a window, for this rank; `alone` says so where nothing is divided. */
  ceiling(window: LimitWindow, rank: Rank, alone: Ceiling): Ceiling;
  /** A call of so many units was not granted. */
  lacks(window: LimitWindow, units: number, rank: Rank, at: number): void;
  /** Something left. */
  spent(at: number): void;
  /** Windows have to be named again: what is held of them counts as spent. */
  disturb(): void;
}
