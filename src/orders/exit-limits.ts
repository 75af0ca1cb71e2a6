/**
 * What bounds an exit: the holding of its strategy, that of the others, and what open orders may still execute.
 *
 * Invariants: an order counts with all that may still be executed from the instant it is sent until there is evidence
 * of its end; an order of which it is not known how it was sent counts both ways; what a strategy wants beside its
 * exits on the same side, and does not call an exit, is no exit: it may open a position of its own.
 * Not here: what follows from it (exit-size.ts, exits.ts), the sums (risk/exposure.ts).
 */
import type { Clock } from "../clock/clock.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import type { Side } from "../contract/profile.ts";
import { add, compare, isPositive, isZero, sub } from "../decimal.ts";
import { type Effect, type Effects, evaluate, noEffects } from "./effects.ts";
import { against, type ExitLimit } from "./exit-size.ts";
import { hasExecuted, isClosed, isResting, type Order } from "./order-state.ts";
import type { Positions } from "./positions.ts";
import type { Exposure } from "./risk/exposure.ts";
import { type EntrySource, exposureEntryOf } from "./risk/exposure-entry.ts";
import type { Slots } from "./slots.ts";
import type { SpotCover } from "./spot-cover.ts";

interface LimitSources {
  readonly positions: Pick<Positions, "has">;
  readonly cover: Pick<SpotCover, "of">;
  /** Why exits of an instrument may leave only with the service's flag. */
  readonly flagOnly?: (instId: string) => string | undefined;
}

export class ExitLimits {
  readonly #slots: Pick<Slots, "orders" | "of">;
  readonly #exposure: Pick<Exposure, "holding" | "strategies">;
  readonly #source: EntrySource;
  readonly #ownerOf: (order: Order) => string;
  readonly #positions: Pick<Positions, "has">;
  readonly #cover: Pick<SpotCover, "of">;
  readonly #flagOnly: (instId: string) => string | undefined;

  /**
   * `ownerOf` names the strategy of an order, also where no slot has taken it over yet; empty where that is not known.
   */
  constructor(
    slots: Pick<Slots, "orders" | "of">,
    exposure: Pick<Exposure, "holding" | "strategies">,
    source: EntrySource,
    ownerOf: (order: Order) => string,
    { positions, cover, flagOnly }: LimitSources,
  ) {
    this.#slots = slots;
    this.#flagOnly = flagOnly ?? (() => undefined);
    this.#exposure = exposure;
    this.#source = source;
    this.#ownerOf = ownerOf;
    this.#positions = positions;
    this.#cover = cover;
  }

  /** Of what the strategy holds by its own fills, as much as an order of this side reduces. */
  held(strategy: string, instId: string, side: Side): string {
    const held = against(side, this.#exposure.holding(instId, strategy).position);
    return isPositive(held) ? held : "0";
  }

  of(strategy: string, instId: string, side: Side): ExitLimit {
    const hasFlag = instTypeOf(instId) !== "SPOT";
    let isAlone = hasFlag && !this.isShared(strategy, instId);
    let isOthers = this.#others(strategy).some((name) => isPositive(this.held(name, instId, side)));
    let covered = this.net(instId, side);
    let promised = "0";
    for (const order of this.#slots.orders()) {
      if (order.spec.instId !== instId) continue;
      const isOwn = this.#ownerOf(order) === strategy;
      if (order.spec.side !== side) {
        if (!isOwn && !order.spec.reduceOnly && !isResting(order)) isOthers = true;
        continue;
      }
      const left = this.#leftOf(order);
      const isExit = order.spec.reduceOnly || order.wanted === undefined;
      if (!isResting(order) || (isExit && !order.terms.withoutFlag)) covered = sub(covered, left);
      if (isOwn && this.#mayReduce(order)) promised = add(promised, left);
      if (isOwn && isExit && (order.terms.withoutFlag || order.wanted === undefined)) isAlone = false;
    }
    const isKnown = this.#positions.has(strategy, instId);
    const flagOnly = this.#flagOnly(instId);
    const held = this.held(strategy, instId, side);
    const coins = hasFlag || side === "buy" ? undefined : this.#cover.of(instId);
    return { held, promised, covered, hasFlag, isAlone, isOthers, isKnown, coins, flagOnly };
  }

  /**
   * Whether the service's flag keeps all exits of the strategy together within what it holds: a second one cannot open
   * a position.
   */
  isBounded(strategy: string, instId: string, side: Side): boolean {
    const { isAlone, isOthers } = this.of(strategy, instId, side);
    return isAlone && !isOthers;
  }

  /**
   * Of the account's net position by all fills of ours, as much as an order of this side reduces; negative where it is
   * the other direction.
   */
  net(instId: string, side: Side): string {
    return against(side, this.#exposure.holding(instId).position);
  }

  /** Whether other strategies hold the product or have orders in it. */
  isShared(strategy: string, instId: string): boolean {
    return (
      this.#others(strategy).some((name) => !isZero(this.#exposure.holding(instId, name).position)) ||
      this.#slots
        .orders()
        .some((order) => order.spec.instId === instId && ![strategy, ""].includes(this.#ownerOf(order)))
    );
  }

  /** Whether orders of the strategy that are no exits may still enlarge what an order of this side reduces. */
  mayGrow(strategy: string, instId: string, side: Side): boolean {
    return this.#slots
      .orders()
      .some(
        (order) =>
          order.spec.instId === instId &&
          order.spec.side !== side &&
          !order.spec.reduceOnly &&
          this.#ownerOf(order) === strategy,
      );
  }

  /** Whether the exit may execute more than its strategy holds, with the exits sent before it. */
  isExcess(order: Order): boolean {
    const { strategy, terms, spec } = order;
    // What the service was left to decide is its own matter.
    if (terms.wantedQty === "") return false;
    const { instId, side } = spec;
    const { isAlone, held } = this.of(strategy, instId, side);
    if (isAlone) return false;
    let left = held;
    for (const other of this.#slots.orders()) {
      if (
        other.spec.instId !== instId ||
        other.spec.side !== side ||
        !other.spec.reduceOnly ||
        other.strategy !== strategy
      )
        continue;
      left = sub(left, this.#leftOf(other));
      if (other === order) break;
    }
    return compare(left, "0") < 0;
  }

  /**
   * Whether an order of the product and side that may only reduce is on its way out and still counts at the service; of
   * all where no strategy is named.
   */
  isLeaving(instId: string, side: Side, strategy?: string): boolean {
    return this.#slots.orders().some((order) => {
      if (strategy !== undefined && order.strategy !== strategy) return false;
      const { spec, slot, wanted } = order;
      // A record does not say whether an order found at the service only reduces: it may.
      const mayReduce = spec.reduceOnly || wanted === undefined;
      return mayReduce && spec.instId === instId && spec.side === side && slot !== "" && this.#leaves(order);
    });
  }

  #leaves(order: Order): boolean {
    if (isClosed(order) || order.state.kind === "unknown" || order.cancel.failures > 0) return false;
    const slot = this.#slots.of(order);
    if (slot?.wanted === undefined || slot.order !== order) return true;
    // The order that replaces it leaves before whatever waits for its cancel.
    const { unwanted } = order;
    return unwanted?.urgency === "emergency" || (unwanted?.urgency === "cancel" && !unwanted.isReplaced);
  }

  #others(strategy: string): readonly string[] {
    return this.#exposure.strategies().filter((name) => name !== strategy && name !== "");
  }

  #leftOf(order: Order): string {
    const { base, filled } = exposureEntryOf(order, this.#source);
    const left = sub(base, filled);
    return isPositive(left) ? left : "0";
  }

  /** Whether it takes from what exits may reduce: unless its slot still wants it, and not as an exit. */
  #mayReduce(order: Order): boolean {
    const { spec, unwanted } = order;
    if (spec.reduceOnly || (unwanted !== undefined && unwanted.urgency !== "place")) return true;
    const slot = this.#slots.of(order);
    return slot?.order !== order || slot.wanted === undefined || slot.wanted.reduceOnly === true;
  }
}

/**
 * Resting exits that have become larger than the position they reduce: found when something was executed, and taken
 * back.
 *
 * The service cuts a reduce-only order to the account's position. Where other strategies hold the product too, or an
 * exit goes without the flag, that is not what its own strategy holds: another order of the strategy may have reduced
 * the position meanwhile.
 */
export class ExitTrims {
  readonly #clock: Clock;
  readonly #slots: Pick<Slots, "of">;
  readonly #limits: Pick<ExitLimits, "isExcess">;
  /** Open exits that were sized by what their strategy held. */
  readonly #open = new Set<Order>();

  constructor(clock: Clock, slots: Pick<Slots, "of">, limits: Pick<ExitLimits, "isExcess">) {
    this.#clock = clock;
    this.#slots = slots;
    this.#limits = limits;
  }

  /** An order has changed. */
  take(order: Order): Effects {
    if (order.terms.wantedQty !== "") {
      if (isClosed(order)) this.#open.delete(order);
      else this.#open.add(order);
    }
    if (this.#open.size === 0) return noEffects;
    const isNews = order.terms.wantedQty === "" ? hasExecuted(order) : (order.record?.accFillSz ?? "") !== "";
    return isNews ? this.look(order.spec.instId) : noEffects;
  }

  /**
   * What is held of a product has changed: exits that have become too large are evaluated at the end of this instant.
   */
  look(instId: string): Effects {
    if (this.#open.size === 0) return noEffects;
    const effects: Effect[] = [];
    for (const order of this.#open) {
      if (order.spec.instId !== instId || order.unwanted !== undefined || !this.#limits.isExcess(order)) continue;
      const slot = this.#slots.of(order);
      if (slot !== undefined) effects.push({ kind: "schedule", at: this.#clock.now(), due: () => [evaluate(slot)] });
    }
    return effects;
  }
}
