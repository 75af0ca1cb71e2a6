/**
 * Sections 3 and 4.1: states, and the details of one order.
 */
import { orderStates } from "../../contract/schemas.ts";
import { all, expectThat, open, type Rule, rule, skipped, type Verdict } from "./rule.ts";
import { fieldOf, ordIdsOf, type Reply } from "./test-reply.ts";
import { tradeStory } from "./trade-story.ts";

const known: readonly string[] = orderStates;

/** The reply tells exactly this order. */
const tells = (reply: Reply, ordId: string, expected: string): Verdict =>
  expectThat(reply.ok && ordIdsOf(reply).join() === ordId, reply, `${expected}: order ${ordId}`);

const active: readonly string[] = ["live", "partially_filled"];

const stateOf = (reply: Reply): string => fieldOf(reply.records[0], "state");

export const orderRules: readonly Rule[] = [
  rule("3-live", "an order that rests is live", "trade key", async (testClient) => {
    const { order } = await tradeStory(testClient);
    const found = [order.byOrdId, order.hinted, order.byClOrdId].find(({ ok, records }) => ok && records.length > 0);
    return found === undefined
      ? skipped("the order was not found; see 4.1")
      : expectThat(stateOf(found) === "live", found, "state live", `state ${stateOf(found)}`);
  }),
  rule("3-canceled", "an order that was cancelled is canceled", "trade key", async (testClient) => {
    const { after } = await tradeStory(testClient);
    const shown = after.order.filter((reply) => reply.records.length > 0 && !active.includes(stateOf(reply)));
    // A completed order may be forgotten (H11), and one that still stands is the matter of 4.4.
    return all(shown.map((reply) => expectThat(stateOf(reply) === "canceled", reply, "state canceled", `state ${stateOf(reply)}`)));
  }),
  rule("3-words", "no other state is named", "trade key", async (testClient) => {
    const { order, pending, history, after } = await tradeStory(testClient);
    const replies = [...Object.values(order), ...Object.values(pending), ...Object.values(history), ...after.order];
    return all(
      replies.map((reply) => {
        const odd = reply.records.map((record) => fieldOf(record, "state")).find((state) => state !== "" && !known.includes(state));
        return expectThat(odd === undefined, reply, known.join(", "), `state ${odd}`);
      }),
    );
  }),
  rule("4.1-ordId", "an order is found by ordId", "trade key", async (testClient) => {
    const { order, a } = await tradeStory(testClient);
    return tells(order.byOrdId, a.ordId, "found by ordId");
  }),
  rule("4.1-clOrdId", "an order is found by clOrdId", "trade key", async (testClient) => {
    const { order, b } = await tradeStory(testClient);
    return tells(order.byClOrdId, b.ordId, "found by clOrdId");
  }),
  rule("4.1-priority", "ordId takes priority when both ids are sent", "trade key", async (testClient) => {
    const { order, a } = await tradeStory(testClient);
    const reply = order.ordIdUnknown;
    return all([
      tells(order.both, a.ordId, "ordId takes priority"),
      expectThat(reply.records.length === 0, reply, "no order, as ordId takes priority and is unknown"),
    ]);
  }),
  rule("4.1-hint", "instId may be added", "trade key", async (testClient) => {
    const { order, a } = await tradeStory(testClient);
    return tells(order.hinted, a.ordId, "found with its instId");
  }),
  rule("4.1-wrong-hint", "open: an instId that is not the order's", "trade key", async (testClient) => {
    const { order, otherInstId } = await tradeStory(testClient);
    return open(otherInstId === undefined ? "not asked: one product only" : `with ${otherInstId}: ${order.misled.shown}`);
  }),
  rule("4.1-either", "without ordId and clOrdId no order is told", "trade key", async (testClient) => {
    const { neither } = (await tradeStory(testClient)).order;
    return expectThat(
      neither.records.every((record) => fieldOf(record, "state") === ""),
      neither,
      "no order record",
    );
  }),
  rule("4.1-neither", "open: the answer without ids", "trade key", async (testClient) => {
    const { neither } = (await tradeStory(testClient)).order;
    return open(`${neither.shown} (G5)`);
  }),
  rule("4.1-not-found", "open: the answer when there is no such order", "trade key", async (testClient) => {
    const { unknown } = (await tradeStory(testClient)).order;
    return open(`${unknown.shown} (G5)`);
  }),
];
