/**
 * Options of the standby, as its extension reads them.
 */
import type { FromSchema } from "json-schema-to-ts";
import { storeAddressSchema } from "sluice/plugins/redis";

const memberName = { type: "string", pattern: "^[A-Za-z0-9_.-]{1,40}$" } as const;
/** Length of twenty heartbeats: a process or network that is blocked for less keeps the lease. */
const leaseMs = 10_000;

export const standbySchema = {
  type: "object",
  additionalProperties: false,
  required: ["store", "group"],
  properties: {
    store: storeAddressSchema,
    group: {
      ...memberName,
      description:
        "Name of the group: the same for all processes of one engine. It may equal the shared quota's; `instance` distinguishes engines in it.",
    },
    name: {
      ...memberName,
      description:
        "Name of this process; the machine's name when left out. Two processes on one machine need two, and two folders of the journal.",
    },
    leaseMs: {
      description: "Silence after which a process is taken to be gone, in milliseconds.",
      type: "integer",
      minimum: 1_000,
      maximum: 600_000,
      default: leaseMs,
    },
  },
} as const;

/** Options of a standby: the store in which the processes of one engine meet, and their names in it. */
export type StandbyOptions = Readonly<FromSchema<typeof standbySchema>>;
