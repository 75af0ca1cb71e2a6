/**
 * More orders than a page holds, listed while they are open and after they were canceled.
 *
 * Invariants: one more than the default page in a quick run, one more than the largest page otherwise; all are
 * canceled.
 */
import { paging } from "sluice/dialect";
import type { Reply } from "../probe/reply.ts";
import type { TestClient } from "./test-client.ts";

interface Pages {
  readonly page: Reply;
  readonly hundred: Reply;
  readonly beyond: Reply;
}

interface PagingScenario {
  readonly pending: Pages;
  readonly history: Pages;
}

export const pagingScenario = (testClient: TestClient): Promise<PagingScenario> =>
  testClient.once("crowd", () => play(testClient));

const play = async (testClient: TestClient): Promise<PagingScenario> => {
  const { orders, quick } = testClient;
  const crowd = await orders.open(1 + (quick ? paging.limitDefault : paging.limitMax));
  const pending = await pagesOf(testClient, "pendingOrders");
  await orders.cancelAll(crowd);
  return { pending, history: await pagesOf(testClient, "orderHistory") };
};

const pagesOf = async (testClient: TestClient, listing: "pendingOrders" | "orderHistory"): Promise<Pages> => ({
  page: await testClient.ask(listing),
  hundred: await testClient.ask(listing, { limit: String(paging.limitMax) }),
  beyond: await testClient.ask(listing, { limit: String(2 * paging.limitMax) }),
});
