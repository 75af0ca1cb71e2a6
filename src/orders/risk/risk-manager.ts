/**
 * Risk manager: the exposure of all orders, limits on losses, and figures for the risk limits.
 *
 * Invariants: without a limit in the config only what was executed is summed up; a wanted order that is refused again
 * for the same limit is refused in the same words, so that it is reported once.
 * Not here: what may pass (risk-limits.ts), the sums (exposure.ts).
 */
import { EMPTY, type Observable } from "rxjs";
import type { Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { InstrumentRecord } from "../../contract/schemas.ts";
import { read } from "../../decimal-value.ts";
import type { BookedPosition } from "../../journal/holdings.ts";
import type { Execution } from "../executions.ts";
import { isClosed, type Order } from "../order-state.ts";
import type { Slot } from "../slot.ts";
import { sameWanted, type WantedOrder } from "../wanted-order.ts";
import { type EntrySource, Exposure, exposureEntryOf } from "./exposure.ts";
import { createLossWatch, type OnLoss } from "./loss-limits.ts";
import type { Ruling } from "./pre-trade-checks.ts";
import { limitsMoney, type RiskInput, type RiskRules } from "./risk-limits.ts";

interface RiskManagerOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly rules: RiskRules;
  readonly instruments: () => ReadonlyMap<string, InstrumentRecord>;
  readonly marketPx: (instId: string, side: "buy" | "sell") => string | undefined;
  readonly priceChanges?: ((instId: string) => Observable<unknown>) | undefined;
}

/** Holding of a strategy by closed orders of previous runs. */
export interface Inherited {
  /** Decimal text. */
  readonly position: string;
  readonly cash: string;
  readonly strategy: string;
  readonly instId: string;
  readonly booked?: BookedPosition;
}

const retriesWithin = 8;

export class RiskManager {
  readonly exposure = new Exposure();
  /**
   * Number of wanted orders without room that are tried again when an order has ended: it may have been larger than
   * they are.
   */
  readonly retries: number;
  /** Money is limited; otherwise only what was executed is to be taken. */
  readonly isLimited: boolean;
  readonly #marketPx: RiskManagerOptions["marketPx"];
  readonly #source: EntrySource;
  readonly #losses: ReturnType<typeof createLossWatch>;
  /** Strategies of orders that a previous run sent. */
  readonly #owners = new Map<string, string>();

  constructor(options: RiskManagerOptions, onLoss: OnLoss) {
    const { clock, contract, rules, instruments, marketPx, priceChanges = () => EMPTY } = options;
    this.isLimited = limitsMoney(rules);
    this.retries = this.isLimited ? retriesWithin : 1;
    this.#marketPx = marketPx;
    this.#source = { profile: contract.profile, instruments, marketPx };
    this.#losses = createLossWatch({
      clock,
      rules,
      exposure: this.exposure,
      closingPx: marketPx,
      priceChanges,
      onLoss,
    });
  }

  /** An order is as it is now. */
  take(order: Order, executed: Execution): void {
    // Without limits only executions matter: they make the positions.
    if (!executed.isAny && !this.isLimited) return;
    if (order.state.kind === "notExecuted") {
      this.exposure.forget(order.clOrdId);
      return;
    }
    const { clOrdId, record, spec, strategy } = order;
    const entry = exposureEntryOf(order, this.#source, executed);
    this.exposure.take(strategy === "" ? { ...entry, strategy: this.ownerOf(order) } : entry);
    if (isClosed(order)) this.#owners.delete(clOrdId);
    if (this.isLimited && record !== undefined && record.avgPx !== "") this.#losses.traded(spec.instId, record.avgPx);
  }

  /** Takes over holdings of previous runs, whose losses were already judged for some strategies (empty: all). */
  inherit(holdings: readonly Inherited[], judged: readonly string[]): void {
    for (const { strategy, instId, position, cash } of holdings)
      this.exposure.inherit(strategy, instId, { position: read(position), cash: read(cash) });
    if (this.isLimited) this.#losses.inherited(judged);
  }

  /** Holdings changed without an own order. */
  changed(): void {
    if (this.isLimited) this.#losses.changed();
  }

  close(): void {
    this.#losses.close();
  }

  /** Strategy of an order, by its slot or by the journal; empty where neither has it. */
  ownerOf({ clOrdId, strategy }: Order): string {
    return strategy === "" ? (this.#owners.get(clOrdId) ?? "") : strategy;
  }

  /** The strategy that wanted an order of a previous run: it counts for that strategy before a slot takes it over. */
  owned(clOrdId: string, strategy: string): void {
    if (strategy !== "") this.#owners.set(clOrdId, strategy);
  }

  /** Figures for the limits on money. */
  view({ strategy }: Slot, { instId, side }: WantedOrder): Pick<RiskInput, "strategy" | "all" | "marketPx"> {
    const standing = (of?: string) => ({
      openNotional: this.exposure.openNotional(of),
      holding: this.exposure.holding(instId, of),
    });
    return { strategy: standing(strategy), all: standing(), marketPx: this.#marketPx(instId, side) };
  }

  /** The ruling with the reason that was reported before. */
  steady(slot: Slot, wanted: WantedOrder, ruling: Ruling): Ruling {
    if (!this.isLimited) return ruling;
    if (ruling.approved || ruling.limit === undefined) {
      slot.limited = undefined;
      return ruling;
    }
    const { limit, reason } = ruling;
    const before = slot.limited;
    if (before?.limit === limit && sameWanted(wanted, before.wanted)) return { ...ruling, reason: before.reason };
    slot.limited = { wanted, limit, reason };
    return ruling;
  }
}
