/**
 * Closing on demand: market orders that close the position of one strategy in an instrument, and the shares of all
 * strategies when the account's position is closed.
 *
 * Invariants: one order at a time for each strategy and instrument; never more is asked for than the strategy holds by
 * its own fills; a closing order is treated like every other exit when orders rest, when it is rejected and when its
 * outcome is unknown. The close of the account's position is booked to each strategy that holds a share of it, at the
 * price and fee of the service's records, even if these come late.
 * Not here: the size that is sent (exit-size.ts), the follow-up of a rejected or cut order (exits.ts), how long it is
 * tried (engine/close-holdings.ts).
 */
import type { Side } from "../contract/profile.ts";
import type { InstrumentRecord, OrderRecord } from "../contract/schemas.ts";
import {
  abs,
  add,
  compare,
  type Decimal,
  div,
  equal,
  isPositive,
  isZero,
  max,
  min,
  mul,
  neg,
  read,
  spell,
  sub,
  sum,
  zero,
} from "../decimal-value.ts";
import type { ClosedPart } from "../journal/holdings.ts";
import { evaluate, type Run, record as recordEvent } from "./effects.ts";
import { executedIn } from "./executions.ts";
import { against, leastQty } from "./exit-size.ts";
import type { ManagerState } from "./manager-state.ts";
import { isClosed } from "./order-state.ts";
import type { Slot } from "./slot.ts";

/** Orders of the service that closed the account's position of an instrument. */
interface AccountClose {
  readonly instId: string;
  /** Closed orders, oldest first. */
  readonly orders: readonly OrderRecord[];
  /** Base currency that the account still holds; "0" where the position is gone. */
  readonly left: string;
  /**
   * Price at which any part of the position that these orders did not close counts as closed, once the account's
   * position is gone. If it is undefined, because no price is known, that part stays open.
   */
  readonly px: string | undefined;
}

interface Holder {
  readonly strategy: string;
  readonly qty: Decimal;
}

/** Slot of fills that no order of a strategy made, because the account's position was closed. */
export const accountSlot = "#close";

export class ClosingSlots {
  readonly #state: ManagerState;
  readonly #run: Run;
  #round = 0;

  constructor(state: ManagerState, run: Run) {
    this.#state = state;
    this.#run = run;
  }

  /** Books a close of the account's position, or of a part of it, and returns the part of each strategy. */
  account({ instId, orders, left, px }: AccountClose): readonly ClosedPart[] {
    const { risk, positions, protections, exitLimits, source } = this.#state;
    const executed = orders
      .map((order) => ({ order, ...executedIn(order, source) }))
      .filter(({ filled }) => isPositive(filled));
    let rest = add(abs(read(left)), sum(executed.map(({ filled }) => filled)));
    const parts: ClosedPart[] = [];
    for (const { order, filled, cost } of executed) {
      for (const part of sharesOf(this.#holders(instId), order, filled, cost, rest))
        parts.push(this.#book(part, order));
      rest = sub(rest, filled);
    }
    if (isZero(read(left)) && px !== undefined) {
      for (const { strategy, qty } of this.#holders(instId)) {
        const text = `${instId}: ${spell(qty)} of ${strategy} counts as closed at ${px} and without a fee`;
        this.#note(`${text}: which order closed it is not known`);
        const side = isPositive(qty) ? "sell" : "buy";
        parts.push(this.#book({ strategy, instId, side, px, qty: spell(abs(qty)), cost: "0", standsIn: true }));
      }
      positions.closeUnowned(instId, read(px));
    }
    this.#run(risk.changed());
    this.#run([...protections.closed(instId), ...exitLimits.trim(instId)]);
    return parts;
  }

  /**
   * Called when the record of an order that closed a position comes late. Takes back the parts that were booked in its
   * place and books them again at the record's price and fee. Returns these parts, and those that are still without a
   * record.
   */
  correct(
    order: OrderRecord,
    standing: readonly ClosedPart[],
  ): { readonly parts: readonly ClosedPart[]; readonly standing: readonly ClosedPart[] } {
    const { instId } = order;
    const { filled, cost } = executedIn(order, this.#state.source);
    if (!isPositive(filled)) return { parts: [], standing };
    if (standing.length === 0)
      return { parts: this.account({ instId, orders: [order], left: "0", px: undefined }), standing };
    const holders = standing.map(({ strategy, side, qty }) => ({ strategy, qty: against(side, read(qty)) }));
    const left = new Map(standing.map((part) => [part.strategy, part]));
    const parts = sharesOf(holders, order, filled, cost, filled).flatMap((share) => {
      const { strategy } = share;
      const before = left.get(strategy) as ClosedPart;
      const { px, side } = before;
      const known = { ...share, qty: spell(min(read(share.qty), read(before.qty))) };
      left.set(strategy, { ...before, qty: spell(sub(read(before.qty), read(known.qty))) });
      const how = `was closed at ${known.px} for a fee of ${known.cost}, as is known now, and not at ${px}`;
      this.#note(`${instId}: ${known.qty} of ${strategy} ${how}`);
      const back: Side = side === "sell" ? "buy" : "sell";
      this.#enter({ strategy, instId, side: back, px, qty: known.qty, cost: "0" }, order);
      return [{ strategy, instId, side: back, px, qty: known.qty, cost: "0" }, this.#book(known, order)];
    });
    this.#run(this.#state.risk.changed());
    return { parts, standing: [...left.values()].filter(({ qty }) => isPositive(read(qty))) };
  }

  #holders(instId: string): readonly Holder[] {
    return this.#state.positions.holders(instId).map(({ strategy, qty }) => ({ strategy, qty: read(qty) }));
  }

  #note(detail: string): void {
    this.#run([recordEvent({ type: "anomaly", what: "position", detail })]);
  }

  #book(part: ClosedPart, order?: OrderRecord): ClosedPart {
    this.#enter(part, order);
    this.#state.positions.tell(part.strategy);
    return part;
  }

  #enter(part: ClosedPart, order?: OrderRecord): void {
    const { positions, source } = this.#state;
    const { strategy, instId, side, px, qty, cost } = part;
    const { clOrdId = "", ordId = "" } = order ?? {};
    const { currency, position } = positions.close(part);
    const paid = read(cost);
    const names = { strategy, instId, side };
    const fee = spell(source.profile.order.feeSign === "negative_is_cost" ? neg(paid) : paid);
    const liquidity = order === undefined ? undefined : ("taker" as const);
    const money = { px, qty, fee, cost, currency, liquidity, position, recovered: false };
    this.#run([recordEvent({ type: "fill", ...names, slot: accountSlot, clOrdId, ordId, ...money })]);
  }

  /** Asks for a position to be closed at the market, unless a closing order is already on its way or due to follow. */
  ask(strategy: string, instId: string): void {
    const { slots, positions } = this.#state;
    const { qty } = positions.netOf(strategy, instId);
    if (isZero(qty)) return;
    const slot = slots.reserve(strategy, nameOf(instId), "closing");
    const { queued, order, followUp, wanted, refused } = slot;
    if (queued !== undefined || (order !== undefined && !isClosed(order)) || followUp !== undefined) return;
    // A refused order is checked again without being asked for.
    if (wanted !== undefined && refused) return;
    const side = isPositive(qty) ? "sell" : "buy";
    const amount = { ordType: "market", qty: spell(abs(qty)), reduceOnly: true } as const;
    slot.wanted = { slot: slot.name, instId, side, ...amount, round: ++this.#round };
    slot.settled = undefined;
    this.#run([evaluate(slot)]);
  }

  /** Stops closing. An order that was already sent stays. */
  withdraw(strategy: string, instId: string): void {
    const slot = this.#slotOf(strategy, instId);
    if (slot?.closing !== true) return;
    slot.wanted = undefined;
    this.#run([evaluate(slot)]);
  }

  /** Reason why nothing was closed so far; empty if it is not known. */
  problemOf(strategy: string, instId: string): string {
    const slot = this.#slotOf(strategy, instId);
    if (slot === undefined) return "";
    if (slot.order?.state.kind === "unknown") return "whether the last closing order was executed is not known yet";
    return slot.followUp?.reason ?? (slot.refused ? (slot.refusal?.reason ?? "") : "");
  }

  #slotOf(strategy: string, instId: string): Slot | undefined {
    return this.#state.slots.find(strategy, nameOf(instId));
  }
}

/**
 * Shares of the holders in an order that closed `filled` of `whole`. Each holder closes an equal part at the order's
 * price and pays the fee of its own size. Strategies may hold opposite positions: then one buys what the other sells.
 */
const sharesOf = (
  holders: readonly Holder[],
  { instId, side, avgPx: px }: OrderRecord,
  filled: Decimal,
  cost: Decimal,
  whole: Decimal,
): readonly ClosedPart[] => {
  const closing = holders.map(({ qty }) => against(side as Side, qty));
  const sizes = closing.map(abs);
  const quantities = split(filled, closing, max(sum(closing), whole));
  const costs = split(cost, sizes, max(sum(sizes), whole));
  return holders.flatMap(({ strategy }, index) => {
    const qty = quantities[index] ?? zero;
    if (isZero(qty)) return [];
    const isSale = (side === "sell") === isPositive(qty);
    const amounts = { px, qty: spell(abs(qty)), cost: spell(costs[index] ?? zero) };
    return [{ strategy, instId, side: isSale ? "sell" : "buy", ...amounts }];
  });
};

/**
 * Splits `total` by weights, each part cut off at the 18th decimal place. If the weights add up to `whole`, the last
 * part takes the remainder.
 */
const split = (total: Decimal, weights: readonly Decimal[], whole: Decimal): readonly Decimal[] => {
  const parts = weights.map((weight) => div(mul(total, weight), whole, places));
  const missing = equal(sum(weights), whole) ? sub(total, sum(parts)) : zero;
  return parts.map((part, index) => (index === parts.length - 1 ? add(part, missing) : part));
};

const places = 18;

const nameOf = (instId: string): string => `${instId}.close`;

/** Returns true for a quantity that is smaller than the smallest order. */
export const isDust = (qty: string, instrument: InstrumentRecord | undefined): boolean =>
  instrument !== undefined && compare(abs(read(qty)), leastQty(instrument)) < 0;
