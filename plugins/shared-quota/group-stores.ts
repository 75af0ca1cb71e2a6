/**
 * Stores in which the engines of a group meet: one divides their quota, one keeps what the service answered each of
 * them.
 *
 * Invariants: nothing is opened before an engine joins its group.
 * Not here: what is asked of them (quota-group.ts, shared-reads.ts).
 */

import { addressIn } from "sluice/plugins/redis";
import type { ClaimStore } from "./claim.ts";
import type { SharedQuotaSettings } from "./options.ts";
import { RedisAnswerStore } from "./redis-answer-store.ts";
import { RedisClaimStore } from "./redis-claim-store.ts";
import type { AnswerStore } from "./shared-reads.ts";

/** Opens the stores of a group of engines that share one quota. */
export interface GroupStores {
  claims(settings: SharedQuotaSettings): Promise<ClaimStore>;
  /** Answers of one `kind` are understood by each other's engines; `member` is this one's name. */
  answers(settings: SharedQuotaSettings, kind: string, member: string): Promise<AnswerStore>;
}

const place = "sharedQuota.store";

/** CONFIG_INVALID where the config names no address. */
export const redisStores: GroupStores = {
  claims: async ({ store, group }) => RedisClaimStore.open(addressIn(store, place), group),
  answers: async ({ store, group }, kind, member) =>
    RedisAnswerStore.open(addressIn(store, place), group, kind, member),
};
