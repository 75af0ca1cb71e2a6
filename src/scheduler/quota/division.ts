/**
 * Interface between the rate limiter and a plugin that divides a quota among several engines.
 *
 * Not here: how it is divided (plugins/shared-quota).
 */

import type { Ceiling, LimitWindow } from "./limit-window.ts";
import type { Rank, ReservePolicy } from "./reserve.ts";

/** Facts that the division asks the rate limiter for. */
export interface DivisionFacts {
  readonly policy: ReservePolicy;
  /** Orders at rest of a user, or of all. */
  openOrders(uid?: string): number;
  /** Exits a millisecond that are to be expected. */
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
  /** Called once, before anything is asked. */
  attach(facts: DivisionFacts): void;
  /** A window was made; those that are divided are looked after from here on. */
  adopt(window: LimitWindow): void;
  /** Ceiling of a window for this rank; `alone` is the ceiling without division. */
  ceiling(window: LimitWindow, rank: Rank, alone: Ceiling): Ceiling;
  /** A call of so many units was not granted. */
  lacks(window: LimitWindow, units: number, rank: Rank, at: number): void;
  /** Something left. */
  spent(at: number): void;
  /** Windows have to be named again: what is held of them counts as spent. */
  disturb(): void;
}
