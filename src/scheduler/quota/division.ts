/**
 * Interface between the rate limiter and a plugin that divides a quota among several engines.
 *
 * Not here: how it is divided (plugins/shared-quota).
 */

import type { Ceiling, LimitWindow } from "./limit-window.ts";
import type { Rank, ReservePolicy } from "./reserve.ts";

/** Facts that the division requests from the rate limiter. */
export interface DivisionFacts {
  readonly policy: ReservePolicy;
  /** Number of resting orders of a user, or of all. */
  openOrders(uid?: string): number;
  /** Expected number of exits per millisecond. */
  exitRate(at: number): number;
  /** Drops the estimates of other clients' use. */
  forgetOthers(): void;
  /** Drops the estimates of where windows begin. */
  relearn(at: number): void;
  /** Called when the part that may be used has changed. */
  changed(): void;
}

/** Divides the windows of a rate limiter among several engines. */
export interface Division {
  /** Called once, before any other call. */
  attach(facts: DivisionFacts): void;
  /** Called when a window was made. If it is divided, the division manages it from then on. */
  adopt(window: LimitWindow): void;
  /** Ceiling of a window for this rank; `alone` is the ceiling without division. */
  ceiling(window: LimitWindow, rank: Rank, alone: Ceiling): Ceiling;
  /** Called when a call of this many units was not granted. */
  lacks(window: LimitWindow, units: number, rank: Rank, at: number): void;
  /** Called when a call has left. */
  spent(at: number): void;
  /** Called when windows have to be numbered again. Units that are held of them count as spent. */
  disturb(): void;
}
