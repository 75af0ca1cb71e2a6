/**
 * JSON Schema of a config.
 *
 * Not here: what its keys mean and the checks that span several of them (config.ts).
 */

import type { MarginMode } from "../contract/profile.ts";
import type { RuleSet } from "../orders/risk/pre-trade-checks.ts";

/**
 * By instrument: a leverage from 1 up, decimal text such as "5", alone or with the margin mode. It is set for every
 * user before anything is traded (one call of weight 5 each); a rejection ends the start.
 */
export type LeverageConfig = Readonly<
  Record<string, string | { readonly lever: string; readonly mgnMode?: MarginMode }>
>;

const lever = { type: "string", pattern: "^[1-9]\\d*(\\.\\d+)?$", maxLength: 10 } as const;

/**
 * The instruments are swaps, because leverage exists for contracts only. The service decides at the start whether a
 * leverage is allowed.
 */
const leverageSchema = {
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

const positive = { type: "number", exclusiveMinimum: 0 } as const;
const whole = { type: "integer", minimum: 0 } as const;
const made = (kind: string) =>
  ({ type: "object", required: ["kind", "name"], properties: { kind: { const: kind } } }) as const;

const money = { type: "string", pattern: "^\\d+(\\.\\d+)?$", maxLength: 40 } as const;
/** Limits as exact decimal text; `RiskRules` documents each. */
export const moneyLimits = [
  "orderNotionalMax",
  "priceBandPct",
  "openNotionalPerStrategy",
  "openNotionalInAll",
  "positionPerStrategy",
  "positionInAll",
  "lossPerStrategy",
  "lossInAll",
] as const satisfies readonly (keyof RuleSet)[];

const layerSchema = {
  type: "object",
  additionalProperties: false,
  required: ["name", "scope", "unit", "capacity", "windowMs", "anchor", "banMs"],
  properties: {
    name: { type: "string", minLength: 1 },
    scope: { type: "string", enum: ["ip", "uid", "key", "instrument"] },
    unit: { type: "string", enum: ["requests", "weight", "elements"] },
    capacity: positive,
    windowMs: positive,
    anchor: { type: "string", enum: ["wall_clock", "first_request", "sliding"] },
    endpoints: { type: "array", items: { type: "string" } },
    banMs: whole,
    header: {
      type: "object",
      additionalProperties: false,
      required: ["name", "kind"],
      // Allowed names of headers, in any case of letters.
      properties: {
        name: { type: "string", pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$" },
        kind: { type: "string", enum: ["used", "remaining"] },
      },
    },
  },
} as const;

export const configSchema = {
  type: "object",
  additionalProperties: false,
  required: ["service", "strategies"],
  properties: {
    service: { type: "object", required: ["kind"], properties: { kind: { type: "string" } } },
    strategies: { type: "array", minItems: 1, items: made("strategy") },
    plugins: { type: "array", items: made("plugin"), default: [] },
    profile: { type: "object", default: {} },
    orders: {
      type: "object",
      additionalProperties: false,
      default: {},
      properties: {
        allowUncancellable: { type: "boolean" },
        openPerStrategy: whole,
        openInAll: whole,
        changesPerSecond: positive,
        postOnlyPause: { type: "string", enum: ["scarce", "always", "never"] },
        ...Object.fromEntries(moneyLimits.map((name) => [name, money])),
      },
    },
    quota: {
      type: "object",
      additionalProperties: false,
      default: {},
      properties: {
        exitWeight: positive,
        ordersPerExit: positive,
        keySlots: whole,
        lendMs: whole,
        confidence: whole,
        probeUnits: whole,
        spending: { type: "string", enum: ["burst", "paced"] },
        shares: { type: "object", additionalProperties: positive },
        budgets: { type: "object", additionalProperties: positive },
        layers: { type: "array", minItems: 1, items: layerSchema },
      },
    },
    leverage: leverageSchema,
    freshness: {
      type: "object",
      additionalProperties: false,
      default: {},
      properties: {
        pendingMs: positive,
        pendingPushedMs: positive,
        historyMs: positive,
        balancesMs: positive,
        positionsMs: positive,
      },
    },
    journal: {
      type: "object",
      additionalProperties: false,
      required: ["dir"],
      properties: {
        dir: { type: "string", minLength: 1 },
        rebuild: { type: "boolean" },
        resume: { type: "boolean" },
        acceptLimits: { type: "string", pattern: "^[0-9a-f]{8}$" },
        resetRiskCounters: { type: ["boolean", "array"], minItems: 1, items: { type: "string", minLength: 1 } },
      },
    },
    supervision: {
      type: "object",
      additionalProperties: false,
      required: ["attempts", "withinMs"],
      properties: { attempts: { type: "integer", minimum: 1 }, withinMs: positive },
    },
    history: {},
    instance: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,40}$", default: "main" },
    seed: { type: ["string", "number"], default: 1 },
  },
} as const;
