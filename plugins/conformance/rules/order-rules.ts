/**
 * Sections 3 and 4.1: states, and the details of one order.
 */
import { wire } from "sluice/dialect";
import { fieldOf, ordIdsOf, type Reply } from "../probe/reply.ts";
import { all, expectThat, open, type Rule, skipped, type Verdict } from "./rule.ts";
import { tradeRule } from "./trade-scenario.ts";

const known: readonly string[] = wire.schemas.orderStates;

/** Passes if the reply contains exactly this order. */
const tells = (reply: Reply, ordId: string, expected: string): Verdict =>
  expectThat(reply.ok && ordIdsOf(reply).join() === ordId, reply, `${expected}: order ${ordId}`);

const active: readonly string[] = ["live", "partially_filled"];

const stateOf = (reply: Reply): string => fieldOf(reply.records[0], "state");

export const orderRules: readonly Rule[] = [
  tradeRule("3-live", "an order that rests is live", ({ order }) => {
    const found = [order.byOrdId, order.hinted, order.byClOrdId].find(({ ok, records }) => ok && records.length > 0);
    return found === undefined
      ? skipped("the order was not found; see 4.1")
      : expectThat(stateOf(found) === "live", found, "state live", `state ${stateOf(found)}`);
  }),
  tradeRule("3-canceled", "an order that was cancelled is canceled", ({ after }) => {
    const shown = after.order.filter((reply) => reply.records.length > 0 && !active.includes(stateOf(reply)));
    // A completed order may be absent (H11), and one that is still open is judged by the rules of 4.4.
    return all(
      shown.map((reply) =>
        expectThat(stateOf(reply) === "canceled", reply, "state canceled", `state ${stateOf(reply)}`),
      ),
    );
  }),
  tradeRule("3-words", "no other state is named", ({ order, pending, history, after }) => {
    const replies = [...Object.values(order), ...Object.values(pending), ...Object.values(history), ...after.order];
    return all(
      replies.map((reply) => {
        const odd = reply.records
          .map((record) => fieldOf(record, "state"))
          .find((state) => state !== "" && !known.includes(state));
        return expectThat(odd === undefined, reply, known.join(", "), `state ${odd}`);
      }),
    );
  }),
  tradeRule("4.1-ordId", "an order is found by ordId", ({ order, a }) =>
    tells(order.byOrdId, a.ordId, "found by ordId"),
  ),
  tradeRule("4.1-clOrdId", "an order is found by clOrdId", ({ order, b }) =>
    tells(order.byClOrdId, b.ordId, "found by clOrdId"),
  ),
  tradeRule("4.1-priority", "ordId takes priority when both ids are sent", ({ order, a }) => {
    const reply = order.ordIdUnknown;
    return all([
      tells(order.both, a.ordId, "ordId takes priority"),
      expectThat(reply.records.length === 0, reply, "no order, as ordId takes priority and is unknown"),
    ]);
  }),
  tradeRule("4.1-hint", "instId may be added", ({ order, a }) => tells(order.hinted, a.ordId, "found with its instId")),
  tradeRule("4.1-wrong-hint", "open: an instId that is not the order's", ({ order, otherInstId }) =>
    open(otherInstId === undefined ? "not asked: one product only" : `with ${otherInstId}: ${order.misled.shown}`),
  ),
  tradeRule("4.1-either", "without ordId and clOrdId no order is returned", ({ order: { neither } }) =>
    expectThat(
      neither.records.every((record) => fieldOf(record, "state") === ""),
      neither,
      "no order record",
    ),
  ),
  tradeRule("4.1-neither", "open: the answer without ids", ({ order: { neither } }) => open(`${neither.shown} (G5)`)),
  tradeRule("4.1-not-found", "open: the answer when there is no such order", ({ order: { unknown } }) =>
    open(`${unknown.shown} (G5)`),
  ),
];
