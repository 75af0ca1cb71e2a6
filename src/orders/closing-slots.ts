/**
 * Closing from outside, of strategies that are halted: market orders that close what one strategy holds of an
 * instrument, and what becomes of all holdings of an instrument when the account's position is closed.
 *
 * Invariants: one order at a time for each strategy and instrument; never more is asked for than the strategy holds by
 * its own fills; what resting orders, rejections and unknown outcomes mean for such an order is what they mean for
 * every exit. What closed the account's position is booked to those who hold it, each its share, at the price and for
 * the fee that the service's records tell, also when they tell it late.
 * Not here: the size that is sent (exit-size.ts), follow-up of a rejected or cut one (exits.ts), how long it is tried
 * (engine/close-holdings.ts).
 */
import type { InstrumentRecord, OrderRecord } from "../contract/schemas.ts";
import { abs, add, compare, div, equal, isPositive, isZero, mul, neg, sub, sum } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { ClosedPart } from "../journal/holdings.ts";
import { evaluate, type Run } from "./effects.ts";
import { leastQty } from "./exit-size.ts";
import type { ManagerState } from "./manager-state.ts";
import { isClosed } from "./order-state.ts";
import type { Positions } from "./positions.ts";
import { executedIn, type Rules } from "./risk/exposure-entry.ts";

/** What the service executed to close the account's position of an instrument. */
interface AccountClose {
  readonly instId: string;
  /** Orders that are over, oldest first. */
  readonly orders: readonly OrderRecord[];
  /** Base currency that the account still holds; "0" where the position is gone. */
  readonly left: string;
  /**
   * What strategies hold beyond these orders counts as closed at it, once the position is gone; where none is known it
   * goes on being counted.
   */
  readonly px: string | undefined;
}

/** The slot of fills that no order of a strategy made: the account's position was closed. */
export const accountSlot = "#close";

export class ClosingSlots {
  readonly #state: ManagerState;
  readonly #rules: Rules;
  readonly #journal: EventLog;
  readonly #run: Run;
  #round = 0;

  constructor(state: ManagerState, run: Run) {
    const { contract, instruments, journal } = state.options;
    this.#state = state;
    this.#run = run;
    this.#rules = { profile: contract.profile, instruments };
    this.#journal = journal;
  }

  /** The account's position was closed, or a part of it: books that, and returns what of it each strategy held. */
  account({ instId, orders, left, px }: AccountClose): readonly ClosedPart[] {
    const { positions, risk, protections, exitTrims } = this.#state;
    const executed = orders
      .map((order) => ({ order, ...executedIn(order, this.#rules) }))
      .filter(({ filled }) => isPositive(filled));
    let rest = abs(left);
    for (const { filled } of executed) rest = add(rest, filled);
    const parts: ClosedPart[] = [];
    for (const { order, filled, cost } of executed) {
      const holders = positions.holders(instId);
      for (const part of sharesOf(holders, order, filled, cost, rest)) parts.push(this.#book(part, order));
      rest = sub(rest, filled);
    }
    if (isZero(left) && px !== undefined) {
      for (const { strategy, qty } of positions.holders(instId)) {
        const detail = `${instId}: ${qty} of ${strategy} counts as closed at ${px} and without a fee: which order closed it is not known`;
        this.#journal.append({ type: "anomaly", what: "position", detail });
        const side = isPositive(qty) ? "sell" : "buy";
        parts.push(this.#book({ strategy, instId, side, px, qty: abs(qty), cost: "0", standsIn: true }));
      }
      risk.exposure.close(instId, px);
    }
    risk.changed();
    this.#run([...protections.closed(instId), ...exitTrims.look(instId)]);
    return parts;
  }

  /**
   * The record of an order that closed a position has come late. What stood in for it is taken back and booked anew, at
   * its price and for its fee; returns these parts, and what still stands in.
   */
  correct(
    order: OrderRecord,
    standing: readonly ClosedPart[],
  ): { readonly parts: readonly ClosedPart[]; readonly standing: readonly ClosedPart[] } {
    const { instId } = order;
    const { filled, cost } = executedIn(order, this.#rules);
    if (!isPositive(filled)) return { parts: [], standing };
    if (standing.length === 0)
      return { parts: this.account({ instId, orders: [order], left: "0", px: undefined }), standing };
    const holders = standing.map(({ strategy, side, qty }) => ({ strategy, qty: side === "sell" ? qty : neg(qty) }));
    const parts: ClosedPart[] = [];
    const left = new Map(standing.map((part) => [part.strategy, part]));
    for (const share of sharesOf(holders, order, filled, cost, filled)) {
      const { strategy } = share;
      const { px, side, qty } = left.get(strategy) as ClosedPart;
      const known = { ...share, qty: compare(share.qty, qty) < 0 ? share.qty : qty };
      left.set(strategy, { ...(left.get(strategy) as ClosedPart), qty: sub(qty, known.qty) });
      const detail = `${instId}: ${known.qty} of ${strategy} was closed at ${known.px} for a fee of ${known.cost}, as is known now, and not at ${px}`;
      this.#journal.append({ type: "anomaly", what: "position", detail });
      parts.push(
        this.#enter(
          { strategy, instId, side: side === "sell" ? "buy" : "sell", px, qty: known.qty, cost: "0" },
          order,
          "back",
        ),
      );
      parts.push(this.#book(known, order));
    }
    this.#state.risk.changed();
    return { parts, standing: [...left.values()].filter(({ qty }) => isPositive(qty)) };
  }

  #book(part: ClosedPart, order?: OrderRecord): ClosedPart {
    this.#enter(part, order);
    this.#state.positions.tell(part.strategy);
    return part;
  }

  /** `as` tells apart entries of one order. */
  #enter(part: ClosedPart, order?: OrderRecord, as = ""): ClosedPart {
    const { positions, risk } = this.#state;
    const { strategy, instId, side, px, qty, cost } = part;
    const { clOrdId = "", ordId = "" } = order ?? {};
    const { currency, position } = positions.close(part);
    const value = mul(px, qty);
    const id = `${ordId} ${strategy}${as}`;
    if (order !== undefined)
      risk.exposure.take({
        id,
        strategy,
        instId,
        side,
        px: "",
        base: qty,
        reduceOnly: true,
        open: false,
        filled: qty,
        value,
        cost,
      });
    const fee = this.#rules.profile.order.feeSign === "negative_is_cost" ? neg(cost) : cost;
    const money = {
      side,
      px,
      qty,
      fee,
      cost,
      currency,
      liquidity: order === undefined ? undefined : ("taker" as const),
    };
    this.#journal.append({
      type: "fill",
      strategy,
      slot: accountSlot,
      instId,
      clOrdId,
      ordId,
      ...money,
      position,
      recovered: false,
    });
    return part;
  }

  /**
   * Asks for what is held to be closed at the market, unless an order that does it is on its way or is followed by
   * another one.
   */
  ask(strategy: string, instId: string): void {
    const { slots, positions } = this.#state;
    const { qty } = positions.netOf(strategy, instId);
    if (isZero(qty)) return;
    const slot = slots.reserve(strategy, nameOf(instId), "closing");
    const isUnderWay =
      slot.queued !== undefined || (slot.order !== undefined && !isClosed(slot.order)) || slot.rest !== undefined;
    // One that was refused is ruled on again by itself.
    if (isUnderWay || (slot.wanted !== undefined && slot.refused)) return;
    slot.wanted = {
      slot: slot.name,
      instId,
      side: isPositive(qty) ? "sell" : "buy",
      ordType: "market",
      qty: abs(qty),
      reduceOnly: true,
      round: ++this.#round,
    };
    slot.settled = undefined;
    this.#run([evaluate(slot)]);
  }

  /** Nothing more is closed. An order that was sent runs on. */
  withdraw(strategy: string, instId: string): void {
    const slot = this.#state.slots.find(strategy, nameOf(instId));
    if (slot?.closing !== true) return;
    slot.wanted = undefined;
    this.#run([evaluate(slot)]);
  }

  /** Why nothing of it could be closed up to now, in words; empty where that is not known. */
  problemOf(strategy: string, instId: string): string {
    const slot = this.#state.slots.find(strategy, nameOf(instId));
    if (slot === undefined) return "";
    if (slot.order?.state.kind === "unknown") return "whether the last closing order was executed is not known yet";
    return slot.rest?.reason ?? (slot.refused ? this.#state.refusals.reasonOf(slot) : "");
  }
}

/**
 * What an order that closed `filled` of `whole` did to those who hold it: each closes as large a part, at its price,
 * and pays for the size of its own. Strategies may hold against each other: then one buys what the other sells.
 */
const sharesOf = (
  holders: ReturnType<Positions["holders"]>,
  { instId, side, avgPx }: OrderRecord,
  filled: string,
  cost: string,
  whole: string,
): readonly ClosedPart[] => {
  const closing = holders.map(({ qty }) => (side === "sell" ? qty : neg(qty)));
  const [net, gross] = [sum(closing), sum(closing.map(abs))];
  const quantities = split(filled, closing, compare(net, whole) > 0 ? net : whole);
  const costs = split(cost, closing.map(abs), compare(gross, whole) > 0 ? gross : whole);
  return holders.flatMap(({ strategy }, index) => {
    const qty = quantities[index] ?? "0";
    if (isZero(qty)) return [];
    const sells = (side === "sell") === isPositive(qty);
    return [{ strategy, instId, side: sells ? "sell" : "buy", px: avgPx, qty: abs(qty), cost: costs[index] ?? "0" }];
  });
};

/**
 * Parts of `total` by weights, cut at the 18th place; the last one takes what cutting left where nobody else has any.
 */
const split = (total: string, weights: readonly string[], whole: string): readonly string[] => {
  const parts = weights.map((weight) => div(mul(total, weight), whole, places));
  const missing = equal(sum(weights), whole) ? sub(total, sum(parts)) : "0";
  return parts.map((part, index) => (index === parts.length - 1 ? add(part, missing) : part));
};

const places = 18;

const nameOf = (instId: string): string => `${instId}.close`;

/** Too little for an order: the service would not take one. */
export const isDust = (qty: string, instrument: InstrumentRecord | undefined): boolean =>
  instrument !== undefined && compare(abs(qty), leastQty(instrument)) < 0;
