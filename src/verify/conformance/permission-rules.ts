/**
 * Section 5: who may ask, and whose quota it costs.
 *
 * Invariants: whether a door was open is read from the order behind it as well as from the answer; an order that got in by an open
 * door is cancelled.
 */
import type { EndpointName } from "../../contract/endpoints.ts";
import type { Own } from "./own-orders.ts";
import { all, expectThat, open, type Rule, rule, skipped, type Verdict } from "./rule.ts";
import { type Bench, need } from "./test-client.ts";
import type { CheckKey } from "./test-keys.ts";
import { elementDone, fieldOf, type Reply } from "./test-reply.ts";
import { usedAfter } from "./used-weight.ts";

type Who = CheckKey | "nobody";

/** Runs with an order that stands, and cancels it. */
const withOrder = async (bench: Bench, run: (order: Own) => Promise<Verdict>): Promise<Verdict> => {
  const [order] = (await bench.orders.open(1)) as readonly [Own];
  try {
    return await run(order);
  } finally {
    await bench.orders.cancelAll([order]);
  }
};

/** What became of the order; empty text when the service does not tell. */
const stateOf = async (bench: Bench, { ordId }: Own): Promise<string> =>
  fieldOf((await bench.ask("getOrder", { ordId })).records[0], "state");

const complete: readonly string[] = ["filled", "canceled"];

const refuses = (reply: Reply, who: string): Verdict => expectThat(!reply.ok, reply, `a refusal of ${who}`);

const reads = (bench: Bench, who: Who, order: Own): readonly (() => Promise<Reply>)[] => [
  () => bench.ask("getOrder", { ordId: order.ordId }, { as: who }),
  () => bench.ask("pendingOrders", {}, { as: who }),
  () => bench.ask("orderHistory", {}, { as: who }),
];

const inTurn = async (asks: readonly (() => Promise<Reply>)[]): Promise<readonly Reply[]> => {
  const replies: Reply[] = [];
  for (const ask of asks) replies.push(await ask());
  return replies;
};

/** A cancel by somebody who may not: refused, and the order stands. */
const mayNotCancel = (bench: Bench, who: Who, words: string): Promise<Verdict> =>
  withOrder(bench, async (order) => {
    const reply = await bench.orders.cancel([order], { as: who });
    const state = await stateOf(bench, order);
    return all([
      refuses(reply, words),
      expectThat(!complete.includes(state), reply, "the order stands", `${order.ordId} is ${state}`),
      expectThat(!elementDone(reply.records[0]) || reply.status !== 200, reply, "no element told as cancelled"),
    ]);
  });

const mayNotPlace = async (bench: Bench, who: Who, words: string): Promise<Verdict> => {
  const body = await bench.orders.body();
  const reply = await bench.ask("placeOrder", body, { as: who });
  const ordId = fieldOf(reply.records[0], "ordId");
  if (reply.ok && ordId !== "") {
    bench.orders.adopt({ ordId });
    await bench.orders.cancelAll([{ ordId }]);
  }
  return refuses(reply, words);
};

/** The statuses of refusals are open. */
const refusalOf = async (bench: Bench, endpoint: EndpointName, who: Who): Promise<string> => {
  const reply = await bench.ask(endpoint, {}, { as: who });
  return reply.shown;
};

export const permissionRules: readonly Rule[] = [
  rule("5-unsigned-read", "order query and listings need a key", "trade key", (bench) =>
    withOrder(bench, async (order) =>
      all((await inTurn(reads(bench, "nobody", order))).map((reply) => refuses(reply, "a request without a key"))),
    ),
  ),
  rule("5-unsigned-cancel", "batch cancel needs a key", "trade key", (bench) => mayNotCancel(bench, "nobody", "a request without a key")),
  rule("5-unsigned-place", "placing needs a key", "trade key", (bench) => mayNotPlace(bench, "nobody", "a request without a key")),
  rule("5-unsigned-answer", "open: the answer to a request without a key", "key", async (bench) =>
    open(`${await refusalOf(bench, "pendingOrders", "nobody")} (G12)`),
  ),
  rule("5-read", "the permission read opens the order query and the listings", "read-only key", (bench) =>
    bench.parts.trader === undefined
      ? Promise.resolve(skipped("needs a key that may trade"))
      : withOrder(bench, async (order) =>
          all(
            (await inTurn(reads(bench, need(bench.parts.reader), order))).map((reply) =>
              expectThat(reply.ok, reply, "an answer to a key with read"),
            ),
          ),
        ),
  ),
  rule("5-read-cancel", "without trade_futures a key may not cancel", "read-only key", (bench) =>
    bench.parts.trader === undefined
      ? Promise.resolve(skipped("needs a key that may trade"))
      : mayNotCancel(bench, need(bench.parts.reader), "a key without trade_futures"),
  ),
  rule("5-read-place", "without the permission to trade a key may not place", "read-only key", (bench) =>
    bench.parts.trader === undefined || bench.contract.profile.permissions.placeSwap === "read"
      ? Promise.resolve(skipped("the permission for placing is open (G11); needs a key that may trade"))
      : mayNotPlace(bench, need(bench.parts.reader), "a key that may only read"),
  ),
  rule("5-trade-read", "without read a key may not query or list orders", "trade-only key", (bench) =>
    withOrder(bench, async (order) =>
      all((await inTurn(reads(bench, need(bench.parts.blind), order))).map((reply) => refuses(reply, "a key without read"))),
    ),
  ),
  rule("5-trade-cancel", "the permission trade_futures opens batch cancel", "trade-only key", (bench) =>
    withOrder(bench, async (order) => {
      const reply = await bench.orders.cancel([order], { as: need(bench.parts.blind) });
      const state = await stateOf(bench, order);
      return expectThat(state === "" || complete.includes(state), reply, "the order is cancelled", `the order is ${state}; ${reply.shown}`);
    }),
  ),
  rule("5-shared", "all keys of a user share the quota", "two keys", (bench) =>
    usedAfter(bench, "spotBalance", need(bench.parts.second), 5, "the other key's consumption continues this one's"),
  ),
];
