/**
 * Parts of the engine that an order manager uses, and callbacks to the engine.
 *
 * Not here: what it does with them (order-manager.ts).
 */
import type { Observable } from "rxjs";
import type { Gateway } from "../client/gateway.ts";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ProtectionRecord } from "../journal/protection-records.ts";
import type { Order } from "./order-state.ts";
import type { TriggerPrices } from "./protection/price-triggers.ts";
import type { RuleSet } from "./risk/pre-trade-checks.ts";
import type { Balances } from "./spot-cover.ts";
import type { ContractValues } from "./state/account-positions.ts";
import type { OrderStore } from "./state/order-store.ts";

export interface OrderManagerOptions {
  readonly clock: Clock;
  /**
   * The service's calendar, at the earliest, by which records are stamped; undefined until its answers have shown it.
   */
  readonly serviceNow?: () => number | undefined;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly journal: EventLog;
  readonly store: OrderStore;
  readonly instance: string;
  /** Strategies of the config that trade for the user; none where left out. */
  readonly strategies?: readonly string[];
  readonly rules: RuleSet;
  /** Why no order may be sent now, or none but exits, in words; undefined when it may. */
  readonly refused?: ((isExit: boolean) => string | undefined) | undefined;
  /** Balances of the account, read where a spot exit was rejected for want of funds. */
  readonly balances?: Balances | undefined;
  /** Units of the account's positions, which are read where the service forgot an exit. */
  readonly contractValues?: Pick<ContractValues, "isKnown" | "positionsOf"> | undefined;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** Price a market order would meet, if a quote is known. */
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
  /** Emits whenever the price of an instrument may have changed: limits on losses are compared then. */
  readonly priceChanges?: ((instId: string) => Observable<unknown>) | undefined;
  /** Returns true while a slot pauses whose post-only orders are rejected one after the other. */
  readonly pauses: () => boolean;
  /** Prices that trigger stops and take-profits. */
  readonly prices: TriggerPrices;
  /** Silence of a triggering price after which it is reported. */
  readonly priceSilenceMs?: number | undefined;
  /** Why exits may leave only with the service's reduce-only flag, in words; undefined where they may leave without. */
  readonly flagOnly?: (() => string | undefined) | undefined;
  /**
   * Milliseconds for which an exit lets another process that may lead go first, where the flag would not keep the two
   * apart.
   */
  readonly yieldMs?: (() => number) | undefined;
  /** An order that the journal may lack was found at the service: for the next run. */
  readonly onFound?: (order: Order) => void;
  /** A protection changed: its record for the next run. */
  readonly onProtection?: (record: ProtectionRecord) => void;
  /** So many orders are open now; called with every change of an order. */
  readonly onOpenOrders: (count: number) => void;
  /** The service rejected an order. */
  readonly onRejected?: (order: Order) => void;
  /** The record of an accepted change has not shown up: the lists should be read, unless it has by then. */
  readonly onDoubt: (needed: () => boolean) => void;
  /** A wanted order names a product that is not listed: the list may be old. At most once a minute. */
  readonly onUnknownInstrument?: (instId: string) => void;
  /** All strategies together have lost more than they may. By default trading of this user halts. */
  readonly onLoss?: (reason: string) => void;
}
