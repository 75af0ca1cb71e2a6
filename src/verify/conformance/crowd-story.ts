/**
 * More orders than a page holds, listed while they stand and after they were cancelled.
 *
 * Invariants: one more than the default page in a quick run, one more than the largest page otherwise; all are cancelled.
 */
import { paging } from "../../contract/limits.ts";
import type { Bench } from "./test-client.ts";
import type { Reply } from "./test-reply.ts";

export interface Pages {
  readonly page: Reply;
  readonly hundred: Reply;
  readonly beyond: Reply;
}

export interface CrowdStory {
  readonly pending: Pages;
  readonly history: Pages;
}

export const crowdStory = (bench: Bench): Promise<CrowdStory> => bench.story("crowd", () => play(bench));

const play = async (bench: Bench): Promise<CrowdStory> => {
  const { orders, quick } = bench;
  const crowd = await orders.open(1 + (quick ? paging.limitDefault : paging.limitMax));
  const pending = await pagesOf(bench, "pendingOrders");
  await orders.cancelAll(crowd);
  return { pending, history: await pagesOf(bench, "orderHistory") };
};

const pagesOf = async (bench: Bench, listing: "pendingOrders" | "orderHistory"): Promise<Pages> => ({
  page: await bench.ask(listing),
  hundred: await bench.ask(listing, { limit: String(paging.limitMax) }),
  beyond: await bench.ask(listing, { limit: String(2 * paging.limitMax) }),
});
