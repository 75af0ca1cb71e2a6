/**
 * Risk manager: the exposure of all orders, limits on losses, and figures for the risk limits.
 *
 * Invariants: without a limit in the config nothing is summed up; a wanted order that is refused again for the
 * same limit is refused in the same words, so that it is reported once.
 * Not here: what may pass (risk-limits.ts), the sums (exposure.ts).
 */
import { EMPTY, type Observable } from "rxjs";
import type { Clock } from "../../clock/clock.ts";
import type { Contract } from "../../contract/contract.ts";
import type { InstrumentRecord } from "../../contract/schemas.ts";
import type { Decimal } from "../../decimal-value.ts";
import type { BookedPosition } from "../../journal/holdings.ts";
import { type Effects, noEffects, type Run } from "../effects.ts";
import type { Execution } from "../executions.ts";
import { isClosed, type Order } from "../order-state.ts";
import type { Positions } from "../positions.ts";
import type { Slot } from "../slot.ts";
import { sameWanted, type WantedOrder } from "../wanted-order.ts";
import { type EntrySource, Exposure, exposureEntryOf } from "./exposure.ts";
import { createLossWatch } from "./loss-limits.ts";
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

/** Holding of a strategy from closed orders of previous runs. */
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
   * Number of wanted orders without room that are tried again when an order has ended. It can be above one, because the
   * order that ended may have been larger than they are.
   */
  readonly retries: number;
  /** True if a limit on money is set. Otherwise orders need not be counted. */
  readonly isLimited: boolean;
  readonly #marketPx: RiskManagerOptions["marketPx"];
  readonly #source: EntrySource;
  readonly #positions: Positions;
  readonly #losses: ReturnType<typeof createLossWatch>;
  /** Strategies of the orders that a previous run sent. */
  readonly #owners = new Map<string, string>();

  /** `run` performs what follows from a price. */
  constructor(options: RiskManagerOptions, positions: Positions, run: Run) {
    const { clock, contract, rules, instruments, marketPx, priceChanges = () => EMPTY } = options;
    this.isLimited = limitsMoney(rules);
    this.retries = this.isLimited ? retriesWithin : 1;
    this.#marketPx = marketPx;
    this.#source = { profile: contract.profile, instruments, marketPx };
    this.#positions = positions;
    this.#losses = createLossWatch({
      clock,
      rules,
      positions,
      closingPx: marketPx,
      priceChanges,
      run,
    });
  }

  /** Counts an order in its present state. Call it after its executions were booked. */
  take(order: Order, executed: Execution): Effects {
    const told = this.isLimited ? this.#count(order, executed) : noEffects;
    if (isClosed(order)) this.#owners.delete(order.clOrdId);
    return told;
  }

  #count(order: Order, executed: Execution): Effects {
    const { record } = order;
    this.exposure.take({ ...exposureEntryOf(order, this.#source, executed), strategy: this.ownerOf(order) });
    return record === undefined || record.avgPx === "" ? noEffects : this.#losses.traded(record.instId, record.avgPx);
  }

  /**
   * Called when holdings of previous runs were taken over. The losses of `judged` were already reported (empty: all
   * strategies together).
   */
  inherited(judged: readonly string[]): Effects {
    return this.isLimited ? this.#losses.inherited(judged) : noEffects;
  }

  /** Called when holdings changed without an own order. */
  changed(): Effects {
    return this.isLimited ? this.#losses.changed() : noEffects;
  }

  close(): void {
    this.#losses.close();
  }

  /** Strategy of an order, from its slot or from the journal; empty if neither has it. */
  ownerOf({ clOrdId, strategy }: Order): string {
    return strategy === "" ? (this.#owners.get(clOrdId) ?? "") : strategy;
  }

  /**
   * Records which strategy wanted an order of a previous run, so that the order counts for it before a slot adopts it.
   */
  owned(clOrdId: string, strategy: string): void {
    if (strategy !== "") this.#owners.set(clOrdId, strategy);
  }

  /** Figures for the limits on money. */
  view({ strategy }: Slot, { instId, side }: WantedOrder): Pick<RiskInput, "strategy" | "all" | "marketPx"> {
    const positions = this.#positions;
    const standing = (of: string | undefined, position: Decimal) => ({
      openNotional: this.exposure.openNotional(of),
      holding: { position, ...this.exposure.sizes(instId, of) },
    });
    return {
      strategy: standing(strategy, positions.qtyOf(strategy, instId)),
      all: standing(undefined, positions.netQty(instId)),
      marketPx: this.#marketPx(instId, side),
    };
  }

  /** Returns the ruling with the reason that was reported before. */
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
