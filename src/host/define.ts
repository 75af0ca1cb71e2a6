/**
 * How strangers write strategies, plugins and configs: plain values with a schema.
 *
 * Invariants: options are checked and completed with defaults before any code of the author runs; one schema is the type, the
 * validation and the defaults; what is returned is data, told apart by `kind`, never by class.
 */
import type { JSONSchema } from "json-schema-to-ts";
import type { Observable } from "rxjs";
import type { ProfileOverrides } from "../contract/profile.ts";
import type { Infer } from "../contract/schemas.ts";
import { parseHuman } from "../contract/validate.ts";
import { SluiceError } from "../errors.ts";
import type { RuleSet } from "../orders/rules.ts";
import type { WantedOrder } from "../orders/wanted.ts";
import type { ReservePolicy } from "../quota/reserve.ts";
import type { Freshness } from "../resources/resources.ts";
import type { PluginContext, StrategyContext } from "./context.ts";
import type { ServiceSpec } from "./service.ts";

export interface Strategy {
  readonly kind: "strategy";
  readonly name: string;
  readonly options: unknown;
  start(context: StrategyContext<never>): { readonly desired?: Observable<readonly WantedOrder[]>; readonly run?: Observable<unknown> };
}

export interface Plugin {
  readonly kind: "plugin";
  readonly name: string;
  readonly options: unknown;
  start(context: PluginContext<never>): unknown;
}

/** Options as their author writes them in a config: fields with a default may be left out. */
type Given<S, O> = S extends { readonly properties: infer P }
  ? { [K in keyof O as K extends keyof P ? (P[K] extends { readonly default: unknown } ? never : K) : K]: O[K] } & {
      [K in keyof O as K extends keyof P ? (P[K] extends { readonly default: unknown } ? K : never) : never]?: O[K];
    }
  : O;

export interface StrategyDefinition<S, O> {
  readonly name: string;
  /** JSON Schema of the options; an object, closed. */
  readonly options: S;
  /** The set of orders wanted, as it changes: each emission replaces the last, completion withdraws all. */
  desired?(context: StrategyContext<NoInfer<O>>): Observable<readonly WantedOrder[]>;
  /** Anything else the strategy does, for example with `orders.place`; its values are ignored. */
  run?(context: StrategyContext<NoInfer<O>>): Observable<unknown>;
}

export interface PluginDefinition<S, O> {
  readonly name: string;
  readonly options: S;
  /** Called once at the start; a function it returns is called at the stop, last started first. */
  setup(context: PluginContext<NoInfer<O>>): unknown;
}

const checked = <O>(what: string, schema: object, given: unknown): O => parseHuman<O>(schema, given ?? {}, what);

/** Makes a strategy that can be put into a config by calling it with its options. `as` names one of several instances. */
export const defineStrategy =
  <const S extends JSONSchema, O = Infer<S>>(definition: StrategyDefinition<S, O>) =>
  (options: Given<S, O>, { as = definition.name }: { readonly as?: string } = {}): Strategy => {
    const parsed = checked<O>(`options of strategy "${as}"`, definition.options as object, options);
    if (definition.desired === undefined && definition.run === undefined) {
      throw new SluiceError("CONFIG_INVALID", `Strategy "${as}" defines neither \`desired\` nor \`run\`; without one it does nothing.`);
    }
    return {
      kind: "strategy",
      name: as,
      options: parsed,
      start: (context) => {
        const own = { ...(context as object), options: parsed } as StrategyContext<NoInfer<O>>;
        return {
          ...(definition.desired === undefined ? {} : { desired: definition.desired(own) }),
          ...(definition.run === undefined ? {} : { run: definition.run(own) }),
        };
      },
    };
  };

/** Makes a plugin that can be put into a config by calling it with its options. */
export const definePlugin =
  <const S extends JSONSchema, O = Infer<S>>(definition: PluginDefinition<S, O>) =>
  (options: Given<S, O>, { as = definition.name }: { readonly as?: string } = {}): Plugin => {
    const parsed = checked<O>(`options of plugin "${as}"`, definition.options as object, options);
    return {
      kind: "plugin",
      name: as,
      options: parsed,
      start: (context) => definition.setup({ ...(context as object), options: parsed } as PluginContext<NoInfer<O>>),
    };
  };

export interface QuotaConfig extends Partial<ReservePolicy> {
  /** Parts by strategy name when several compete; 1 for whoever is not named. */
  readonly shares?: Readonly<Record<string, number>>;
}

/** Everything a run needs to be told. */
export interface Config {
  /** Where to trade: `paper(…)`, `backtest(…)` or another service. */
  readonly service: ServiceSpec;
  readonly strategies: readonly Strategy[];
  readonly plugins?: readonly Plugin[];
  /** What is known better than the default about a gap of the service description. */
  readonly profile?: ProfileOverrides;
  readonly orders?: Partial<RuleSet>;
  readonly quota?: QuotaConfig;
  readonly freshness?: Partial<Freshness>;
  /** Name of this engine in client order ids; two engines of one user need two. Default `main`. */
  readonly instance?: string;
  /** Seed of all chance; text or number. */
  readonly seed?: string | number;
}

export type ConfigInput = Config | ((env: { readonly command: string }) => Config | Promise<Config>);

/** Types a config; checking happens when it is used. */
export const defineConfig = <C extends ConfigInput>(config: C): C => config;

const positive = { type: "number", exclusiveMinimum: 0 } as const;
const whole = { type: "integer", minimum: 0 } as const;
const made = (kind: string) => ({ type: "object", required: ["kind", "name"], properties: { kind: { const: kind } } }) as const;

const configSchema = {
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
      properties: { allowUncancellable: { type: "boolean" }, openPerStrategy: whole, openInAll: whole },
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
      },
    },
    freshness: {
      type: "object",
      additionalProperties: false,
      default: {},
      properties: { pendingMs: positive, historyMs: positive, balancesMs: positive, positionsMs: positive },
    },
    instance: { type: "string", pattern: "^[A-Za-z0-9_.-]{1,40}$", default: "main" },
    seed: { type: ["string", "number"], default: 1 },
  },
} as const;

export type CheckedConfig = Required<Config>;

/** Checks a config as loaded; lists every problem at once. */
export const checkConfig = (config: unknown): CheckedConfig => {
  const parsed = parseHuman<CheckedConfig>(configSchema, config, "config");
  for (const list of [parsed.strategies, parsed.plugins]) {
    const names = list.map(({ name }) => name);
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice === undefined) continue;
    throw new SluiceError(
      "CONFIG_INVALID",
      `config: two ${list[0]?.kind === "plugin" ? "plugins" : "strategies"} are named "${twice}". Name one of them with a second argument: { as: "another name" }.`,
    );
  }
  return parsed;
};
