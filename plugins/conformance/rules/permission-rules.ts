/**
 * Section 5: who may ask, and whose quota it costs.
 *
 * Invariants: whether a door was open is read from the order behind it as well as from the answer; an order that got in
 * by an open door is canceled.
 */
import type { EndpointName } from "sluice/dialect";
import { elementDone, fieldOf, type Reply } from "../probe/reply.ts";
import { all, expectThat, open, type Rule, rule, skipped, type Verdict } from "./rule.ts";
import { need, type TestClient } from "./test-client.ts";
import type { CheckKey } from "./test-keys.ts";
import type { Own } from "./test-orders.ts";
import { usedAfter } from "./used-weight.ts";

type Who = CheckKey | "no key";

/** Runs with an open order, and cancels it. */
const withOrder = async (testClient: TestClient, run: (order: Own) => Promise<Verdict>): Promise<Verdict> => {
  const [order] = (await testClient.orders.open(1)) as readonly [Own];
  try {
    return await run(order);
  } finally {
    await testClient.orders.cancelAll([order]);
  }
};

/** Returns the state of the order; empty text when the service does not report it. */
const stateOf = async (testClient: TestClient, { ordId, body }: Own): Promise<string> =>
  fieldOf((await testClient.ask("getOrder", { ordId, instId: body["instId"] })).records[0], "state");

const complete: readonly string[] = ["filled", "canceled"];

const refuses = (reply: Reply, who: string): Verdict => expectThat(!reply.ok, reply, `a refusal of ${who}`);

const reads = (testClient: TestClient, who: Who, order: Own): readonly (() => Promise<Reply>)[] => [
  () => testClient.ask("getOrder", { ordId: order.ordId, instId: order.body["instId"] }, { as: who }),
  () => testClient.ask("pendingOrders", {}, { as: who }),
  () => testClient.ask("orderHistory", {}, { as: who }),
];

const inTurn = async (asks: readonly (() => Promise<Reply>)[]): Promise<readonly Reply[]> => {
  const replies: Reply[] = [];
  for (const ask of asks) replies.push(await ask());
  return replies;
};

/** A cancel without permission must be refused and leave the order open. */
const mayNotCancel = (testClient: TestClient, who: Who, words: string): Promise<Verdict> =>
  withOrder(testClient, async (order) => {
    const reply = await testClient.orders.cancel([order], { as: who });
    const state = await stateOf(testClient, order);
    return all([
      refuses(reply, words),
      expectThat(!complete.includes(state), reply, "the order remains", `${order.ordId} is ${state}`),
      expectThat(!elementDone(reply.records[0]) || reply.status !== 200, reply, "no element reported as cancelled"),
    ]);
  });

const mayNotPlace = async (testClient: TestClient, who: Who, words: string): Promise<Verdict> => {
  const body = await testClient.orders.body();
  const reply = await testClient.ask("placeOrder", body, { as: who });
  const ordId = fieldOf(reply.records[0], "ordId");
  if (reply.ok && ordId !== "") {
    await testClient.orders.adopt(fieldOf(body, "clOrdId"), ordId);
    await testClient.orders.cancelAll([{ ordId }]);
  }
  return refuses(reply, words);
};

/** The statuses of refusals are open. */
const refusalOf = async (testClient: TestClient, endpoint: EndpointName, who: Who): Promise<string> => {
  const reply = await testClient.ask(endpoint, {}, { as: who });
  return reply.shown;
};

export const permissionRules: readonly Rule[] = [
  rule("5-unsigned-read", "order query and listings need a key", "trade key", (testClient) =>
    withOrder(testClient, async (order) =>
      all((await inTurn(reads(testClient, "no key", order))).map((reply) => refuses(reply, "a request without a key"))),
    ),
  ),
  rule("5-unsigned-cancel", "batch cancel needs a key", "trade key", (testClient) =>
    mayNotCancel(testClient, "no key", "a request without a key"),
  ),
  rule("5-unsigned-place", "placing needs a key", "trade key", (testClient) =>
    mayNotPlace(testClient, "no key", "a request without a key"),
  ),
  rule("5-unsigned-answer", "open: the answer to a request without a key", "key", async (testClient) =>
    open(`${await refusalOf(testClient, "pendingOrders", "no key")} (G12)`),
  ),
  rule("5-read", "the permission read opens the order query and the listings", "read-only key", (testClient) =>
    testClient.roles.trader === undefined
      ? Promise.resolve(skipped("needs a key that may trade"))
      : withOrder(testClient, async (order) =>
          all(
            (await inTurn(reads(testClient, need(testClient.roles.readOnly), order))).map((reply) =>
              expectThat(reply.ok, reply, "an answer to a key with read"),
            ),
          ),
        ),
  ),
  rule("5-read-cancel", "without trade_futures a key may not cancel", "read-only key", (testClient) =>
    testClient.roles.trader === undefined
      ? Promise.resolve(skipped("needs a key that may trade"))
      : mayNotCancel(testClient, need(testClient.roles.readOnly), "a key without trade_futures"),
  ),
  rule("5-read-place", "without the permission to trade a key may not place", "read-only key", (testClient) =>
    testClient.roles.trader === undefined || testClient.contract.profile.permissions.placeSwap === "read"
      ? Promise.resolve(skipped("the permission for placing is open (G11); needs a key that may trade"))
      : mayNotPlace(testClient, need(testClient.roles.readOnly), "a key that may only read"),
  ),
  rule("5-trade-read", "without read a key may not query or list orders", "trade-only key", (testClient) =>
    withOrder(testClient, async (order) =>
      all(
        (await inTurn(reads(testClient, need(testClient.roles.tradeOnly), order))).map((reply) =>
          refuses(reply, "a key without read"),
        ),
      ),
    ),
  ),
  rule("5-trade-cancel", "the permission trade_futures opens batch cancel", "trade-only key", (testClient) =>
    withOrder(testClient, async (order) => {
      const reply = await testClient.orders.cancel([order], { as: need(testClient.roles.tradeOnly) });
      const state = await stateOf(testClient, order);
      return expectThat(
        state === "" || complete.includes(state),
        reply,
        "the order is cancelled",
        `the order is ${state}; ${reply.shown}`,
      );
    }),
  ),
  rule("5-shared", "all keys of a user share the quota", "two keys", (testClient) =>
    usedAfter(
      testClient,
      "spotBalance",
      need(testClient.roles.second),
      5,
      "the other key's consumption continues this one's",
    ),
  ),
];
