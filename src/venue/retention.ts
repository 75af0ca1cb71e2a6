/**
 * Retention of completed orders: for the time in the profile, and for one user no more than its number.
 *
 * Invariants: open orders are never dropped; a dropped order is unknown by either of its ids, and its client id may be
 * used again; those that ended first are dropped first; what is kept stays in the order of ids.
 * Not here: what is hidden of orders that are kept (queries.ts).
 */
import type { Profile } from "../contract/profile.ts";
import type { Account } from "./account.ts";

/** Number of dropped orders that may still be in an array before it is compacted. */
const gatheredMax = 256;

/** Drops what the service does not keep at `at`. */
export const dropOld = (account: Account, { history }: Profile, at: number): void => {
  const { ended, byOrdId, byClOrdId } = account;
  const { orders } = ended;
  const from = ended.first;
  for (let order = orders[ended.first]; order !== undefined; order = orders[ended.first]) {
    const tooMany = orders.length - ended.first > history.ordersMax;
    if (!tooMany && order.updatedAt >= at - history.retentionMs) break;
    byOrdId.delete(order.ordId);
    if (byClOrdId.get(order.clOrdId) === order) byClOrdId.delete(order.clOrdId);
    ended.first++;
  }
  if (ended.first === from || ended.first < Math.max(gatheredMax, orders.length / 2)) return;
  orders.splice(0, ended.first);
  ended.first = 0;
  keepKnown(account);
};

const keepKnown = ({ orders, byOrdId }: Account): void => {
  let kept = 0;
  for (const order of orders) if (byOrdId.has(order.ordId)) orders[kept++] = order;
  orders.length = kept;
};
