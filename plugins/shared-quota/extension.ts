/**
 * Shared quota extension: the engine's membership in a group that shares one quota.
 *
 * Invariants: its code is loaded only where real orders are traded over a network, as an embedded service shares its
 * quota with no other engine; the engine has joined before its first request.
 * Not here: joining, halting together and leaving (quota-group.ts).
 */
import type { EngineExtension, ExtensionContext } from "sluice/extension";
import type { GroupStores } from "./group-stores.ts";
import type { SharedQuotaSettings } from "./options.ts";
import type { QuotaGroup } from "./quota-group.ts";
import { resumeCommand } from "./resume-command.ts";

export interface SharedQuotaParts {
  /** Opens the stores of the group. Default: stores in Redis. */
  readonly stores?: GroupStores | undefined;
}

export const sharedQuotaExtension = (
  context: ExtensionContext<SharedQuotaSettings>,
  parts: SharedQuotaParts,
): EngineExtension | undefined => {
  if (context.service.watchful !== true) return undefined;
  let code: (typeof import("./quota-group.ts") & typeof import("./group-stores.ts")) | undefined;
  let group: QuotaGroup | undefined;
  return {
    load: async () => {
      const [groups, stored] = await Promise.all([import("./quota-group.ts"), import("./group-stores.ts")]);
      code = { ...groups, ...stored };
    },
    join: async () => {
      group = await code?.QuotaGroup.join(context, parts.stores ?? code.redisStores);
    },
    readsOf: (uid) => group?.readsOf(uid),
    group: () => group,
    health: () => ({ halted: group?.halted, resumeWith: resumeCommand(context.options) }),
    closed: () => {
      group?.leave();
      return undefined;
    },
  };
};
