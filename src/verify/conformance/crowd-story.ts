/**
 * More orders than a page holds, listed while they stand and after they were cancelled.
 *
 * Invariants: one more than the default page in a quick run, one more than the largest page otherwise; all are cancelled.
 */
import { paging } from "../../contract/limits.ts";
import type { TestClient } from "./test-client.ts";
import type { Reply } from "./test-reply.ts";

interface Pages {
  readonly page: Reply;
  readonly hundred: Reply;
  readonly beyond: Reply;
}

interface CrowdStory {
  readonly pending: Pages;
  readonly history: Pages;
}

export const crowdStory = (testClient: TestClient): Promise<CrowdStory> => testClient.story("crowd", () => play(testClient));

const play = async (testClient: TestClient): Promise<CrowdStory> => {
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
