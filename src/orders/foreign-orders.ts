/**
 * External orders: orders of the account that this instance did not place, as events.
 *
 * Invariants: an order that is open when first seen is reported, and so is each later change of it; orders that ended
 * before the engine traded are only counted, all together; an order that appeared and ended while the engine traded is
 * reported when it has ended. An order made by one of our close calls is not reported here: its executions are reported
 * as fills and as the end of the position.
 * Not here: whose an order is (client-order-id.ts). Nothing follows from an external order: it is left alone.
 */
import { isActive, type OrderRecord } from "../contract/schemas.ts";
import { type Effect, type Effects, noEffects, record } from "./effects.ts";

export class ForeignOrders {
  /** Client order ids of our close calls. */
  readonly #closing = new Set<string>();
  /** Orders that were reported and are not closed. */
  readonly #open = new Set<string>();
  #isTrading = false;
  #endedBefore = 0;
  /**
   * Instant on the service's calendar at which the last of the orders counted at the start ended. Later reads of the
   * history may return older orders.
   */
  #endedAt = 0;

  /** Called when the engine begins to trade. */
  begin(): Effects {
    this.#isTrading = true;
    return this.#endedBefore === 0 ? noEffects : [record({ type: "history.external", orders: this.#endedBefore })];
  }

  /** Called when a close call of ours makes an order with this client order id. */
  close(clOrdId: string): void {
    this.#closing.add(clOrdId);
  }

  /** Called when the record of an order that is not ours is new or has changed. */
  take(found: OrderRecord, previous: OrderRecord | undefined): Effects {
    const { ordId, clOrdId, state, updatedAt } = found;
    if (this.#closing.has(clOrdId)) return noEffects;
    if (isActive(state)) {
      if (this.#open.has(ordId) && previous?.state === state) return noEffects;
      this.#open.add(ordId);
      return [told(found)];
    }
    if (this.#open.delete(ordId)) return [told(found)];
    if (previous !== undefined) return noEffects;
    if (this.#isTrading) return Number(updatedAt) > this.#endedAt ? [told(found)] : noEffects;
    this.#endedBefore++;
    this.#endedAt = Math.max(this.#endedAt, Number(updatedAt));
    return noEffects;
  }
}

const told = ({ ordId, clOrdId, instId, side, px, sz, state }: OrderRecord): Effect =>
  record({ type: "order.external", ordId, clOrdId, instId, side, px, sz, state });
