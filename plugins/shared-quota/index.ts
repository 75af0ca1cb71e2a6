/**
 * One quota for several engines, on one or more machines: each takes its part of every window from a store in Redis or
 * Valkey.
 *
 * Not here: how the quota is divided (shared-quota.ts), what an engine of a group does (quota-group.ts).
 *
 * @module sluice/plugins/shared-quota
 */
import type { Plugin } from "sluice";
import type { doctorGroup as DoctorGroup, GroupReport } from "./doctor-group.ts";
import type { GroupStores } from "./group-stores.ts";
import type { SharedQuotaSettings } from "./options.ts";
import { sharedQuotaWith } from "./plugin.ts";

export type { ClaimReply, ClaimStore, Enrolled, ScopeHolding } from "./claim.ts";
export type { GroupReport } from "./doctor-group.ts";
export type { GroupFinding } from "./group-findings.ts";
export type { GroupStores } from "./group-stores.ts";
export type { SharedQuotaSettings } from "./options.ts";
export { default } from "./plugin.ts";
export type { AnswerReply, AnswerStore } from "./shared-reads.ts";

/** True if a plugin of a config is a shared quota. */
export const isSharedQuota = ({ definition }: Pick<Plugin, "definition">): boolean => definition === "shared-quota";

/** Replaces the shared quota among plugins by one that meets its group in `stores`. */
export const inStores = (plugins: readonly Plugin[], stores: GroupStores): readonly Plugin[] =>
  plugins.map((plugin) =>
    isSharedQuota(plugin)
      ? sharedQuotaWith({ stores })(plugin.options as SharedQuotaSettings, { as: plugin.name })
      : plugin,
  );

/** Stores of a group in Redis; CONFIG_INVALID where the settings name no address. */
export const redisStores: GroupStores = {
  claims: async (settings) => (await import("./group-stores.ts")).redisStores.claims(settings),
  answers: async (settings, kind, member) =>
    (await import("./group-stores.ts")).redisStores.answers(settings, kind, member),
};

/**
 * Examines the shared quota of a config file: its store, and the engines that have joined. The service is not asked.
 */
export const doctorGroup = async (...given: Parameters<typeof DoctorGroup>): Promise<GroupReport> =>
  (await import("./doctor-group.ts")).doctorGroup(...given);
