/**
 * External orders: orders of the account that this instance did not place, as events.
 *
 * Invariants: reported are those that are open when first seen, and afterwards each change of them; one that ended
 * before the engine traded is only counted, once for all of them; one that came and went while it traded is reported
 * with its end. The order that a close call of ours makes is not of them: its executions are reported as fills and as
 * the position's end.
 * Not here: whose an order is (client-order-id.ts), what follows from it: nothing, it is left alone.
 */

import type { OrderRecord } from "../contract/schemas.ts";
import { isActive } from "../contract/schemas.ts";
import type { EventLog } from "../journal/event-log.ts";

export interface ForeignOrders {
  take(record: OrderRecord, previous: OrderRecord | undefined): void;
}

export const createForeignOrders = (journal: EventLog): ForeignOrders => {
  /** Client order ids of our close calls. */
  const closing = new Set<string>();
  /** Reported and not over. */
  const open = new Set<string>();
  let isTrading = false;
  let endedBefore = 0;
  /** End of the last of those, on the service's calendar: later reads of its history may return older orders. */
  let endedAt = 0;

  journal.on(["engine.started"], () => {
    isTrading = true;
    if (endedBefore > 0) journal.append({ type: "history.external", orders: endedBefore });
  });
  journal.on(["position.closing"], ({ clOrdId }) => {
    if (clOrdId !== undefined) closing.add(clOrdId);
  });
  const tell = ({ ordId, clOrdId, instId, side, px, sz, state }: OrderRecord): void => {
    journal.append({ type: "order.external", ordId, clOrdId, instId, side, px, sz, state });
  };

  return {
    take: (record, previous) => {
      const { ordId, clOrdId, state } = record;
      if (closing.has(clOrdId)) return;
      if (isActive(state)) {
        if (open.has(ordId) && previous?.state === state) return;
        open.add(ordId);
        tell(record);
      } else if (open.delete(ordId)) tell(record);
      else if (previous !== undefined) return;
      else if (isTrading) {
        if (Number(record.updatedAt) > endedAt) tell(record);
      } else {
        endedBefore++;
        endedAt = Math.max(endedAt, Number(record.updatedAt));
      }
    },
  };
};
