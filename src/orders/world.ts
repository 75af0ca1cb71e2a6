/**
 * World: the state of the order manager as its policies see it.
 *
 * Not here: the state itself (manager-state.ts).
 */
import type { Side } from "../contract/profile.ts";
import type { Decimal } from "../decimal-value.ts";
import type { Execution } from "./executions.ts";
import type { ExitLimit } from "./exit-size.ts";
import type { OrderManagerOptions } from "./order-manager-options.ts";
import type { Order } from "./order-state.ts";
import type { Positions } from "./positions.ts";
import type { EntrySource } from "./risk/exposure.ts";
import type { RiskManager } from "./risk/risk-manager.ts";
import type { TradingModes } from "./risk/trading-mode.ts";
import type { Slot } from "./slot.ts";
import type { Slots } from "./slots.ts";
import type { SpotCover } from "./spot-cover.ts";
import type { Waits } from "./waits.ts";
import type { WatchdogStanding } from "./watchdog-cancels.ts";

/** Rejections in a row of one slot. */
interface Series {
  readonly order: Order;
  readonly count: number;
  /** Number of pauses in a row, each twice as long as the one before. */
  readonly pauses: number;
  /** No placement before this instant. */
  readonly until: number;
  armed: boolean;
}

export interface PostOnlyState {
  /** Instruments whose waiting slots are looked at again by a timer. */
  readonly looks: Set<string>;
  /**
   * Rejections in a row, by strategy and slot. A slot that was withdrawn and is wanted again continues its series.
   */
  readonly series: Map<string, Series>;
}

/** Refusals of wanted orders. */
export interface RefusalState {
  /** The slot that is being checked again. */
  retried: Slot | undefined;
  /** Instant at which the list of instruments was last requested. */
  relistedAt: number;
  /** `ending`: nothing waits for a quote any more. `ended`: nothing is requested any more. */
  phase: "running" | "ending" | "ended";
}

/** State of the rate limit for one strategy's changes. */
export interface Pace {
  /** Instant at which its bucket of tokens is full. */
  fullAt: number;
  /** True while a timer is set to give the next slot its turn. */
  armed: boolean;
}

export interface World {
  /** Instant at which the decision is made. */
  readonly now: number;
  readonly options: OrderManagerOptions;
  readonly source: EntrySource;
  readonly modes: Pick<TradingModes, "of">;
  readonly waits: Waits;
  readonly slots: Slots;
  readonly risk: Pick<RiskManager, "ownerOf">;
  readonly positions: Positions;
  readonly postOnly: PostOnlyState;
  readonly refusals: RefusalState;
  /** Rates of changes, by strategy. */
  readonly paces: Map<string, Pace>;
  readonly cover: Pick<SpotCover, "of">;
  readonly exitLimits: {
    held(strategy: string, instId: string, side: Side): Decimal;
    of(strategy: string, instId: string, side: Side): ExitLimit;
    net(instId: string, side: Side): Decimal;
    isBounded(strategy: string, instId: string, side: Side): boolean;
    isShared(strategy: string, instId: string): boolean;
    isLeaving(instId: string, side: Side, strategy?: string): boolean;
    mayGrow(strategy: string, instId: string, side: Side): boolean;
  };
  /** State of the cancels by the engine's watchdog. */
  readonly watchdog: () => WatchdogStanding;
  /** Why exits of an instrument may leave only with the service's flag; undefined where they may leave without. */
  flagOnly(instId: string): string | undefined;
  /** Execution of an order so far. */
  executed(order: Order): Execution;
}
