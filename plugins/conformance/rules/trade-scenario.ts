/**
 * Answers of the service about three orders while they are open, while they are canceled, and afterwards.
 *
 * Invariants: a, b and c were placed in this order; d is placed and canceled first, so that a batch holds an element
 * that must fail; all are complete at the end. Every look is one reply; rules only read.
 */

import { fieldOf, type Reply } from "../probe/reply.ts";
import { type Rule, rule, type Verdict } from "./rule.ts";
import type { TestClient } from "./test-client.ts";
import type { How } from "./test-keys.ts";
import type { Own } from "./test-orders.ts";

/** `early` is the history while a, b and c were open. */
export interface TradeScenario {
  readonly instId: string;
  readonly otherInstId: string | undefined;
  readonly a: Own;
  readonly b: Own;
  readonly c: Own;
  /** Order that is complete before the others are read. */
  readonly d: Own;
  readonly order: Readonly<Record<OrderLook, Reply>>;
  readonly pending: Readonly<Record<PendingLook, Reply>>;
  readonly history: Readonly<Record<HistoryLook, Reply>>;
  readonly cancel: { readonly one: Reply; readonly mixed: Reply };
  readonly after: { readonly order: readonly Reply[]; readonly pending: Reply };
}

type OrderLook = "byOrdId" | "byClOrdId" | "both" | "ordIdUnknown" | "hinted" | "misled" | "neither" | "unknown";
type PendingLook = "all" | "swap" | "spot" | "own" | "other" | "two" | "after" | "before" | "both";
type HistoryLook = "early" | "all" | "swap" | "spot" | "canceled" | "filled" | "two" | "after" | "before";

/** An id the service is not likely to have given to any order. */
const unknownOrdId = "1";

/** Asks in the given order, so that the scenario is the same in every run. */
const inTurn = async <K extends string>(
  looks: Readonly<Record<K, () => Promise<Reply>>>,
): Promise<Readonly<Record<K, Reply>>> => {
  const replies: [string, Reply][] = [];
  for (const [name, look] of Object.entries<() => Promise<Reply>>(looks)) replies.push([name, await look()]);
  return Object.fromEntries(replies) as Readonly<Record<K, Reply>>;
};

export const tradeScenario = (testClient: TestClient): Promise<TradeScenario> =>
  testClient.once("trade", () => play(testClient));

const play = async (testClient: TestClient): Promise<TradeScenario> => {
  const { orders } = testClient;
  const instId = await orders.instId();
  const otherInstId = await orders.otherInstId();
  const [d] = (await orders.open(1)) as readonly [Own];
  const one = await orders.cancel([d]);
  const [a, b, c] = (await orders.open(3)) as readonly [Own, Own, Own];
  const order = await inTurn(orderLooks(testClient, [a, b], instId, otherInstId));
  const pending = await inTurn(pendingLooks(testClient, b, instId, otherInstId));
  const early = await testClient.ask("orderHistory", {});
  const mixed = await orders.cancel([d, a, b, c]);
  const after: Reply[] = [];
  for (const { ordId } of [d, a, b, c])
    after.push(await testClient.ask("getOrder", { ordId, ...hintFor(testClient, instId) }));
  // If a batch failed, the orders after it still have to be read.
  for (const [index, own] of [d, a, b, c].entries()) {
    if (["live", "partially_filled"].includes(fieldOf(after[index]?.records[0], "state"))) await orders.cancel([own]);
  }
  const pendingAfter = await testClient.ask("pendingOrders", { instId, limit: "100" });
  const history = await inTurn(historyLooks(testClient, b));
  return {
    instId,
    otherInstId,
    a,
    b,
    c,
    d,
    order,
    pending,
    history: { early, ...history },
    cancel: { one, mixed },
    after: { order: after, pending: pendingAfter },
  };
};

/**
 * Instrument of an order in requests: optional in the description, required by some exchanges, and always sent by
 * engines.
 */
const hintFor = ({ dialect }: TestClient, instId: string) => (dialect === undefined ? {} : { instId });

const orderLooks = (
  testClient: TestClient,
  [a, b]: readonly [Own, Own],
  instId: string,
  otherInstId: string | undefined,
) => {
  const look =
    (query: Readonly<Record<string, string>>, how: How = {}) =>
    () =>
      testClient.ask("getOrder", { ...hintFor(testClient, instId), ...query }, how);
  const none = { mayBeUnread: true };
  return {
    byOrdId: look({ ordId: a.ordId }),
    byClOrdId: look({ clOrdId: b.clOrdId }),
    both: look({ ordId: a.ordId, clOrdId: b.clOrdId }),
    ordIdUnknown: look({ ordId: unknownOrdId, clOrdId: b.clOrdId }, none),
    hinted: look({ ordId: a.ordId, instId }),
    misled: look({ ordId: a.ordId, instId: otherInstId ?? instId }, none),
    neither: look({ instId }, none),
    unknown: look({ ordId: unknownOrdId }, none),
  };
};

/** Not every exchange has products of every kind, nor both cursors at once. */
const lookAt =
  (testClient: TestClient, listing: "pendingOrders" | "orderHistory") =>
  (query: Readonly<Record<string, string>>): (() => Promise<Reply>) =>
  () =>
    testClient.ask(listing, query, { mayBeUnread: query["instType"] === "SPOT" });

const pendingLooks = (testClient: TestClient, b: Own, instId: string, otherInstId: string | undefined) => {
  const look = lookAt(testClient, "pendingOrders");
  return {
    all: look({}),
    swap: look({ instType: "SWAP", limit: "100" }),
    spot: look({ instType: "SPOT", limit: "100" }),
    own: look({ instId, limit: "100" }),
    other: look({ instId: otherInstId ?? instId, limit: "100" }),
    two: look({ instId, limit: "2" }),
    after: look({ instId, after: b.ordId, limit: "100" }),
    before: look({ instId, before: b.ordId, limit: "100" }),
    both: look({ instId, after: b.ordId, before: b.ordId }),
  };
};

const historyLooks = (testClient: TestClient, b: Own) => {
  const look = lookAt(testClient, "orderHistory");
  return {
    all: look({}),
    swap: look({ instType: "SWAP", limit: "100" }),
    spot: look({ instType: "SPOT", limit: "100" }),
    canceled: look({ state: "canceled", limit: "100" }),
    filled: look({ state: "filled", limit: "100" }),
    two: look({ limit: "2" }),
    after: look({ after: b.ordId, limit: "100" }),
    before: look({ before: b.ordId, limit: "100" }),
  };
};

/** Creates a rule about the results of the trade scenario. */
export const tradeRule = (id: string, title: string, judge: (scenario: TradeScenario) => Verdict): Rule =>
  rule(id, title, "trade key", async (testClient) => judge(await tradeScenario(testClient)));

/** One success of everything that may be asked without harm. */
export const sample = (testClient: TestClient): Promise<readonly Reply[]> =>
  testClient.once("sample", async () => {
    const replies: Reply[] = [];
    for (const name of ["instruments", "spotBalance", "positions", "pendingOrders", "orderHistory"] as const) {
      replies.push(await testClient.ask(name));
    }
    return replies;
  });

/** Returns successes of every endpoint that the available keys can call. */
export const successes = async (testClient: TestClient): Promise<readonly Reply[]> => {
  const replies = [...(await sample(testClient))];
  if (testClient.roles.trader !== undefined) {
    const { order, pending, history, cancel, a } = await tradeScenario(testClient);
    replies.push(a.placed, order.byOrdId, pending.own, history.canceled, cancel.one);
  }
  return replies.filter(({ ok }) => ok);
};
