/**
 * The shared quota as a plugin: checks that an engine joins one group only, and adds its membership to the engine.
 */
import { definePlugin, SluiceError } from "sluice";
import { type SharedQuotaParts, sharedQuotaExtension } from "./extension.ts";
import { type SharedQuotaSettings, sharedQuotaSchema } from "./options.ts";

/** `parts` replaces parts of it, for tests and for sessions that are recorded. */
export const sharedQuotaWith = (parts: SharedQuotaParts = {}) =>
  definePlugin({
    name: "shared-quota",
    options: sharedQuotaSchema,
    check: ({ plugins }) => {
      if (plugins.filter(({ definition }) => definition === "shared-quota").length < 2) return;
      throw new SluiceError(
        "CONFIG_INVALID",
        "config.plugins: an engine shares its quota with one group, and sharedQuota is given twice. Leave one of them out.",
      );
    },
    extend: (engine) => sharedQuotaExtension({ ...engine, options: engine.options as SharedQuotaSettings }, parts),
  });

export default sharedQuotaWith();
