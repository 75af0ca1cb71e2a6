/**
 * History of each order of a test: the placement, its phases, and its executions at the embedded service.
 *
 * Invariants: orders are listed in the sequence in which they were sent; returned values do not change any more.
 */
import type { OrdType, Side } from "../../contract/profile.ts";
import { add, div, isZero, mul, sub } from "../../decimal.ts";
import type { OrderUpdate } from "../../orders/order-update.ts";
import type { Fill } from "../../venue/venue.ts";

/** One order that was sent. Money and sizes are decimal text, instants milliseconds. */
export interface TestOrder {
  readonly strategy: string;
  readonly slot: string;
  readonly clOrdId: string;
  readonly instId: string;
  readonly side: Side;
  readonly ordType: OrdType;
  /** Empty for a market order. */
  readonly px: string;
  /** Size as it was sent, in the unit in which the service counts `sz`. */
  readonly sz: string;
  readonly reduceOnly: boolean;
  readonly sentAt: number;
  /** As the engine sees it: `sent`, `live`, `filled` and so on. */
  readonly phase: OrderUpdate["phase"];
  /** Reason for its present phase, in words. */
  readonly reason: string;
  /** All phases so far, the present one last. */
  readonly phases: readonly OrderUpdate["phase"][];
  /**
   * Quantity that the exchange has executed, in base currency; `0` before the first fill. The engine learns of it on
   * the way back.
   */
  readonly filledQty: string;
  /** Mean price of the executed quantity, to twelve places; empty before the first fill. */
  readonly avgPx: string;
}

/**
 * One fill as the exchange made it. Decimal text; `qty` is in base currency and `fee` a cost, negative for a rebate.
 */
export interface TestFill {
  readonly at: number;
  readonly slot: string;
  readonly clOrdId: string;
  readonly instId: string;
  readonly side: Side;
  readonly px: string;
  readonly qty: string;
  readonly fee: string;
  readonly liquidity: "maker" | "taker";
}

interface Entry {
  readonly sentAt: number;
  last: OrderUpdate;
  readonly phases: OrderUpdate["phase"][];
  qty: string;
  value: string;
}

const avgPlaces = 12;

export class SentOrders {
  readonly fills: TestFill[] = [];
  readonly #entries = new Map<string, Entry>();
  readonly #slots = new Map<string, string>();

  /** The slot is known before the order leaves. */
  name(clOrdId: string, slot: string): void {
    this.#slots.set(clOrdId, slot);
  }

  slotOf(clOrdId: string): string | undefined {
    return this.#slots.get(clOrdId);
  }

  take(update: OrderUpdate, at: number): void {
    if (update.phase === "refused") return;
    const entry = this.#entries.get(update.clOrdId) ?? { sentAt: at, last: update, phases: [], qty: "0", value: "0" };
    this.#entries.set(update.clOrdId, entry);
    entry.last = update;
    if (entry.phases.at(-1) !== update.phase) entry.phases.push(update.phase);
  }

  fill({ at, clOrdId, instId, side, px, qty, cost: fee, liquidity }: Fill): void {
    this.fills.push(
      Object.freeze({ at, slot: this.slotOf(clOrdId) ?? "", clOrdId, instId, side, px, qty, fee, liquidity }),
    );
    const entry = this.#entries.get(clOrdId);
    if (entry === undefined) return;
    entry.qty = add(entry.qty, qty);
    entry.value = add(entry.value, mul(qty, px));
  }

  /** Quantity bought less quantity sold, in base currency. */
  position(instId: string): string {
    return this.fills
      .filter((fill) => fill.instId === instId)
      .reduce((held, { side, qty }) => (side === "buy" ? add(held, qty) : sub(held, qty)), "0");
  }

  all(): readonly TestOrder[] {
    return [...this.#entries.values()].flatMap((entry) => orderOf(entry));
  }
}

const orderOf = ({ sentAt, last, phases, qty, value }: Entry): readonly TestOrder[] => {
  const { strategy, slot, clOrdId, spec, phase, reason } = last;
  if (spec === undefined) return [];
  const avgPx = isZero(qty) ? "" : div(value, qty, avgPlaces);
  return [
    Object.freeze({
      strategy,
      slot,
      clOrdId,
      ...spec,
      sentAt,
      phase,
      reason,
      phases: [...phases],
      filledQty: qty,
      avgPx,
    }),
  ];
};
