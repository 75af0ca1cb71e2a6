/**
 * External orders: orders of the account that this instance did not place, as events.
 *
 * Invariants: reported are those that are open when first seen, and afterwards each change of them; one that ended
 * before the engine traded is only counted, once for all of them; one that came and went while it traded is reported
 * with its end. The order that a close call of ours makes is not of them: its executions are reported as fills and as
 * the position's end.
 * Not here: whose an order is (client-order-id.ts), what follows from it: nothing, it is left alone.
 */
import { isActive, type OrderRecord } from "../contract/schemas.ts";
import { type Effect, type Effects, noEffects, record } from "./effects.ts";

export class ForeignOrders {
  /** Client order ids of our close calls. */
  readonly #closing = new Set<string>();
  /** Reported and not over. */
  readonly #open = new Set<string>();
  #isTrading = false;
  #endedBefore = 0;
  /** End of the last of those, on the service's calendar: later reads of its history may return older orders. */
  #endedAt = 0;

  /** The engine trades from now on. */
  begin(): Effects {
    this.#isTrading = true;
    return this.#endedBefore === 0 ? noEffects : [record({ type: "history.external", orders: this.#endedBefore })];
  }

  /** A close call of ours makes an order with this client order id. */
  close(clOrdId: string): void {
    this.#closing.add(clOrdId);
  }

  /** A record of an order that is not ours is new or has changed. */
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
