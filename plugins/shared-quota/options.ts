/**
 * Options of a shared quota, as its extension and its commands read them.
 */
import type { FromSchema } from "json-schema-to-ts";
import { storeAddressSchema } from "sluice/plugins/redis";

const memberName = { type: "string", pattern: "^[A-Za-z0-9_.-]{1,40}$" } as const;
const positive = { type: "number", exclusiveMinimum: 0 } as const;

export const sharedQuotaSchema = {
  type: "object",
  additionalProperties: false,
  required: ["store", "group", "of"],
  properties: {
    store: storeAddressSchema,
    group: {
      ...memberName,
      description: "Name of the group: the same for all engines that share a user or an address.",
    },
    name: {
      ...memberName,
      description: "Name of this engine in the group; `instance` when left out. Two engines need two.",
    },
    share: { description: "Part of this engine when several want more than there is.", ...positive, default: 1 },
    of: { ...positive, description: "Sum of the shares of all engines of the group." },
    address: {
      description: "Name of the address that the engine's requests come from, the same for all engines behind it.",
      ...memberName,
      default: "local",
    },
    reads: {
      description: "Whether engines of one user share their reads of orders, positions and balances.",
      type: "boolean",
      default: true,
    },
  },
} as const;

/** Options of a shared quota: the store in which the engines of a group meet, and this engine's part. */
export type SharedQuotaSettings = Readonly<FromSchema<typeof sharedQuotaSchema>>;
