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
   * Earliest possible time on the service's calendar, which stamps its records; undefined until its answers have shown
   * it.
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
  /** Reason why no order, or no order but an exit, may be sent now; undefined if it may. */
  readonly refused?: ((isExit: boolean) => string | undefined) | undefined;
  /** Balances of the account. They are read when a spot exit was rejected for insufficient funds. */
  readonly balances?: Balances | undefined;
  /** Units of the account's positions. They are read when the service forgot an exit. */
  readonly contractValues?: Pick<ContractValues, "isKnown" | "positionsOf"> | undefined;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  /** Price a market order would meet, if a quote is known. */
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
  /** Emits whenever the price of an instrument may have changed. Limits on losses are then compared. */
  readonly priceChanges?: ((instId: string) => Observable<unknown>) | undefined;
  /** Returns true while a slot has to pause after several post-only orders in a row were rejected. */
  readonly pauses: () => boolean;
  /** Prices that trigger stops and take-profits. */
  readonly prices: TriggerPrices;
  /** Time without a triggering price after which the silence is reported. */
  readonly priceSilenceMs?: number | undefined;
  /** Reason why exits may leave only with the service's reduce-only flag; undefined if they may leave without it. */
  readonly flagOnly?: (() => string | undefined) | undefined;
  /**
   * Time in milliseconds for which an exit waits, so that another process that may lead goes first. Needed where the
   * flag would not keep both exits within the position.
   */
  readonly yieldMs?: (() => number) | undefined;
  /** Called when an order was found at the service that the journal may lack: it is recorded for the next run. */
  readonly onFound?: (order: Order) => void;
  /** Called when a protection changed, with its record for the next run. */
  readonly onProtection?: (record: ProtectionRecord) => void;
  /** Called with the number of open orders on every change of an order. */
  readonly onOpenOrders: (count: number) => void;
  /** Called when the service rejected an order. */
  readonly onRejected?: (order: Order) => void;
  /** Called when the record of an accepted amend has not arrived: the lists should be read, unless it arrives first. */
  readonly onDoubt: (needed: () => boolean) => void;
  /**
   * Called when a wanted order names a product that is not listed, because the list may be outdated. At most once a
   * minute.
   */
  readonly onUnknownInstrument?: (instId: string) => void;
  /** Called when all strategies together have lost more than the limit. By default trading of this user halts. */
  readonly onLoss?: (reason: string) => void;
}
