/**
 * Leverage and margin mode by product, as a config names them.
 *
 * Invariants: products are swaps, as leverage exists for contracts only; whether the service allows a leverage is the service's to
 * say, at the start (engine/leverage.ts).
 */
import type { MarginMode } from "../contract/profile.ts";

/**
 * By product: a leverage from 1 up, decimal text such as "5", alone or with the margin mode. It is set for every user before
 * anything is traded (one call of weight 5 each); a refusal stops the start.
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
