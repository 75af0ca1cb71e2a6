/**
 * Stores in which the engines of a group meet: one divides their quota, one keeps what the service answered each of them.
 *
 * Invariants: nothing is opened before an engine joins its group.
 * Not here: what is asked of them (quota-group.ts, shared-reads.ts).
 */
import type { SharedQuotaConfig } from "../host/config.ts";
import type { ClaimStore } from "../scheduler/shared/claim.ts";
import { RedisClaimStore } from "../scheduler/shared/redis-claim-store.ts";
import { addressIn } from "../scheduler/shared/store-address.ts";
import { RedisAnswerStore } from "./redis-answer-store.ts";
import type { AnswerStore } from "./shared-reads.ts";

/** Opens the stores of a group of engines that share one quota. */
export interface GroupStores {
  claims(settings: SharedQuotaConfig): Promise<ClaimStore>;
  /** Answers of one `kind` are understood by each other's engines; `member` is this one's name. */
  answers(settings: SharedQuotaConfig, kind: string, member: string): Promise<AnswerStore>;
}

/** CONFIG_INVALID where the config names no address. */
export const redisStores: GroupStores = {
  claims: async ({ store, group }) => RedisClaimStore.open(addressIn(store), group),
  answers: async ({ store, group }, kind, member) => RedisAnswerStore.open(addressIn(store), group, kind, member),
};
