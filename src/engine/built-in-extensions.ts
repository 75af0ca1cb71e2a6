/**
 * Extensions that keys of the config bring: standby, shared quota.
 *
 * Invariants: the code of each is loaded only where its key is given and real orders are traded over a network.
 */
import type { CheckedConfig } from "../host/config.ts";
import type { EngineExtension, ExtensionContext } from "../host/engine-extension.ts";
import type { Plugin } from "../host/strategy.ts";
import type { Disk } from "../journal/disk.ts";
import type { GroupStores } from "./group-stores.ts";
import { standbyExtension } from "./standby-client.ts";

export interface BuiltInParts {
  /** Where journals are kept; folders of the machine when left out. */
  readonly openDisk?: ((dir: string) => Promise<Disk>) | undefined;
  /** Where the engines of a group meet (`quota.shared`); in Redis when left out. */
  readonly groupStores?: GroupStores | undefined;
}

type Extending = Pick<Plugin, "name" | "options" | "extend">;

const named = <O>(
  name: string,
  options: O | undefined,
  extend: (context: ExtensionContext<O>) => EngineExtension | undefined,
): readonly Extending[] => (options === undefined ? [] : [{ name, options, extend: extend as Plugin["extend"] & {} }]);

export const builtInExtensions = ({ quota, standby }: CheckedConfig, parts: BuiltInParts): readonly Extending[] => [
  ...named("standby", standby, (context) => standbyExtension(context, parts.openDisk)),
  ...named("shared-quota", quota.shared, (context) => sharedQuota(context, parts.groupStores, standby !== undefined)),
];

/** Its code is loaded only where engines share a quota. */
const sharedQuota = (
  context: ExtensionContext<NonNullable<CheckedConfig["quota"]["shared"]>>,
  stores: GroupStores | undefined,
  hasStandby: boolean,
): EngineExtension | undefined => {
  if (context.service.watchful !== true) return undefined;
  let extension: EngineExtension | undefined;
  return {
    load: async () => {
      const [{ sharedQuotaExtension }, { redisStores }] = await Promise.all([
        import("./quota-group.ts"),
        import("./group-stores.ts"),
      ]);
      extension = sharedQuotaExtension(context, stores ?? redisStores, hasStandby);
    },
    join: () => extension?.join?.(),
    readsOf: (uid) => extension?.readsOf?.(uid),
    group: () => extension?.group?.(),
    closed: () => extension?.closed?.(),
  };
};
