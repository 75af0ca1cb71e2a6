/**
 * Leverage and margin mode by instrument, as a config names them.
 *
 * Invariants: the instruments are swaps, as leverage exists for contracts only; whether a leverage is allowed, the service decides
 * at the start (engine/leverage.ts).
 */
import type { MarginMode } from "../contract/profile.ts";

/**
 * By instrument: a leverage from 1 up, decimal text such as "5", alone or with the margin mode. It is set for every user before
 * anything is traded (one call of weight 5 each); a rejection ends the start.
 */
export type LeverageConfig = Readonly<Record<string, string | { readonly lever: string; readonly mgnMode?: MarginMode }>>;

const lever = { type: "string", pattern: "^[1-9]\\d*(\\.\\d+)?$", maxLength: 10 } as const;

export const leverageSchema = {
  type: "object",
  default: {},
  propertyNames: { pattern: "-SWAP$" },
  additionalProperties: {
    type: ["string", "object"],
    pattern: lever.pattern,
    additionalProperties: false,
    required: ["lever"],
    properties: { lever, mgnMode: { type: "string", enum: ["cross", "isolated"] } },
  },
} as const;
