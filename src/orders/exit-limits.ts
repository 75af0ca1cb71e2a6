/**
 * Figures that limit an exit: the position of its strategy, those of the others, and what open orders may still
 * execute.
 *
 * Invariants: from the instant it is sent until there is evidence of its end, an order counts with the full quantity
 * that it may still execute; an order whose reduce-only flag is unknown counts both as an exit and as an entry; an
 * order of the same side that its strategy does not call an exit may open a position, and does not count as an exit.
 * Not here: the size of an exit (exit-size.ts), its waits (exits.ts), positions (positions.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import type { Side } from "../contract/profile.ts";
import { type Decimal, isPositive, positive, sub, sum } from "../decimal-value.ts";
import { type Effects, evaluate, noEffects } from "./effects.ts";
import { against, type ExitLimit } from "./exit-size.ts";
import { hasExecuted, isClosed, isResting, type Order } from "./order-state.ts";
import { exposureEntryOf } from "./risk/exposure.ts";
import type { World } from "./world.ts";

export class ExitLimits {
  readonly #state: World;
  /** Open exits that were sized by the position of their strategy. */
  readonly #sized = new Set<Order>();

  constructor(state: World) {
    this.#state = state;
  }

  /** Part of the strategy's position that an order of this side reduces. */
  held(strategy: string, instId: string, side: Side): Decimal {
    return positive(against(side, this.#state.positions.qtyOf(strategy, instId)));
  }

  of(strategy: string, instId: string, side: Side): ExitLimit {
    const { positions, cover } = this.#state;
    const hasFlag = instTypeOf(instId) !== "SPOT";
    const orders = this.#state.slots.orders().filter(({ spec }) => spec.instId === instId);
    const own = orders.filter((order) => order.spec.side === side && this.#ownerOf(order) === strategy);
    const isUnderWay = (order: Order): boolean =>
      order.spec.side !== side && !order.spec.reduceOnly && !isResting(order) && this.#ownerOf(order) !== strategy;
    const holdsOthers = this.#others(strategy, instId).some((other) =>
      isPositive(this.held(other.strategy, instId, side)),
    );
    return {
      held: this.held(strategy, instId, side),
      promised: this.#left(own.filter((order) => this.#mayReduce(order))),
      covered: sub(this.net(instId, side), this.#left(orders.filter((order) => usesCover(order, side)))),
      hasFlag,
      isAlone: hasFlag && !this.isShared(strategy, instId) && !own.some(mayLackFlag),
      isOthers: holdsOthers || orders.some(isUnderWay),
      isKnown: positions.has(strategy, instId),
      coins: hasFlag || side === "buy" ? undefined : cover.of(instId),
      flagOnly: this.#state.flagOnly(instId),
    };
  }

  /**
   * Returns whether the service's flag keeps all exits of the strategy together within its position, so that a second
   * exit cannot open a position.
   */
  isBounded(strategy: string, instId: string, side: Side): boolean {
    const { isAlone, isOthers } = this.of(strategy, instId, side);
    return isAlone && !isOthers;
  }

  /**
   * Part of the account's net position, by all own fills, that an order of this side reduces; negative where the order
   * would enlarge it.
   */
  net(instId: string, side: Side): Decimal {
    return against(side, this.#state.positions.netQty(instId));
  }

  /** Returns whether other strategies hold the product or have orders in it. */
  isShared(strategy: string, instId: string): boolean {
    if (this.#others(strategy, instId).length > 0) return true;
    return this.#state.slots
      .orders()
      .some((order) => order.spec.instId === instId && !["", strategy].includes(this.#ownerOf(order)));
  }

  /**
   * Returns whether orders of the strategy that are no exits may still enlarge the position that an order of this side
   * reduces.
   */
  mayGrow(strategy: string, instId: string, side: Side): boolean {
    return this.#state.slots.orders().some((order) => {
      const { spec } = order;
      return spec.instId === instId && spec.side !== side && !spec.reduceOnly && this.#ownerOf(order) === strategy;
    });
  }

  /** Returns whether the exit may execute more than its strategy holds, with the exits sent before it. */
  isExcess(order: Order): boolean {
    const { strategy, terms, spec } = order;
    // For an exit without a wanted quantity the service decides the size.
    if (terms.wantedQty === undefined) return false;
    const { instId, side } = spec;
    const { isAlone, held } = this.of(strategy, instId, side);
    if (isAlone) return false;
    const orders = this.#state.slots.orders();
    const before = orders.slice(0, orders.indexOf(order) + 1 || orders.length);
    const exits = before.filter(
      (one) => one.spec.instId === instId && one.spec.side === side && one.spec.reduceOnly && one.strategy === strategy,
    );
    return isPositive(sub(this.#left(exits), held));
  }

  /**
   * Returns whether a reduce-only order of the product and side is about to be canceled and still counts at the
   * service. Without `strategy`, the orders of all strategies are looked at.
   */
  isLeaving(instId: string, side: Side, strategy?: string): boolean {
    return this.#state.slots.orders().some((order) => {
      const { spec, slot } = order;
      if (strategy !== undefined && order.strategy !== strategy) return false;
      return isExit(order) && spec.instId === instId && spec.side === side && slot !== "" && this.#leaves(order);
    });
  }

  /** Called when an order has changed. Finds exits that are now larger than the position they reduce. */
  take(order: Order): Effects {
    const isSized = order.terms.wantedQty !== undefined;
    if (isSized && !isClosed(order)) this.#sized.add(order);
    else if (isSized) this.#sized.delete(order);
    if (this.#sized.size === 0) return noEffects;
    const isNews = isSized ? (order.record?.accFillSz ?? "") !== "" : hasExecuted(order);
    return isNews ? this.trim(order.spec.instId) : noEffects;
  }

  /**
   * Called when the position of a product has changed. Exits that are now too large are evaluated at the end of this
   * instant.
   *
   * The service cuts a reduce-only order to the account's position. If other strategies hold the product too, or an
   * exit goes without the flag, the account's position is not the position of the exit's own strategy, and another
   * order may have reduced it.
   */
  trim(instId: string): Effects {
    if (this.#sized.size === 0) return noEffects;
    return [...this.#sized].flatMap((order) => {
      if (order.spec.instId !== instId || order.unwanted !== undefined || !this.isExcess(order)) return noEffects;
      const slot = this.#state.slots.of(order);
      if (slot === undefined) return noEffects;
      return [{ kind: "schedule", at: this.#state.now, due: () => [evaluate(slot)] }];
    });
  }

  #leaves(order: Order): boolean {
    if (isClosed(order) || order.state.kind === "unknown" || order.cancel.failures > 0) return false;
    const slot = this.#state.slots.of(order);
    if (slot?.wanted === undefined || slot.order !== order) return true;
    // The replacing order leaves before any slot that waits for its cancel.
    const { unwanted } = order;
    return unwanted?.urgency === "emergency" || (unwanted?.urgency === "cancel" && !unwanted.isReplaced);
  }

  /** Other strategies that hold the product. */
  #others(strategy: string, instId: string) {
    return this.#state.positions.holders(instId).filter((holder) => holder.strategy !== strategy);
  }

  #ownerOf(order: Order): string {
    return this.#state.risk.ownerOf(order);
  }

  #left(orders: readonly Order[]): Decimal {
    return sum(orders.map((order) => exposureEntryOf(order, this.#state.source).left));
  }

  /**
   * Returns true for an order that uses up the position available to exits. An order that its slot still wants, but not
   * as an exit, does not.
   */
  #mayReduce(order: Order): boolean {
    const { spec, unwanted } = order;
    if (spec.reduceOnly || (unwanted !== undefined && unwanted.urgency !== "place")) return true;
    const slot = this.#state.slots.of(order);
    return slot?.order !== order || slot.wanted === undefined || slot.wanted.reduceOnly === true;
  }
}

/** Returns true if an order is or may be an exit. For an order found at the service the record does not show it. */
const isExit = ({ spec, wanted }: Order): boolean => spec.reduceOnly || wanted === undefined;

/** Returns true for an order of this side that may reduce the account's net position before a further exit does. */
const usesCover = (order: Order, side: Side): boolean =>
  order.spec.side === side && (!isResting(order) || (isExit(order) && !order.terms.withoutFlag));

/** An exit that may have been sent without the service's flag. */
const mayLackFlag = (order: Order): boolean => isExit(order) && (order.terms.withoutFlag || order.wanted === undefined);
