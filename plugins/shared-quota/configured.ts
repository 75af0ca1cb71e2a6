/**
 * Shared quota of a config, for the commands that read one. The plugin's entry does not import this file, so that it
 * stays light.
 */
import { pluginsIn } from "sluice/extension";
import type { SharedQuotaSettings } from "./options.ts";
import sharedQuota from "./plugin.ts";

/** Options of the shared quota among the plugins of a config, completed with defaults; undefined where it has none. */
export const sharedQuotaIn = (config: unknown): SharedQuotaSettings | undefined => {
  const plugin = pluginsIn(config).find(({ definition }) => definition === "shared-quota");
  if (plugin === undefined) return undefined;
  return sharedQuota(plugin.options as SharedQuotaSettings).options as SharedQuotaSettings;
};
