/**
 * Definitions of strategies, plugins and configs: plain values with a schema.
 *
 * Invariants: options are checked and completed with defaults before any code of the author runs; one schema is the
 * type, the validation and the defaults; what is returned is data, distinguished by `kind`, never by class.
 */

import { pathToFileURL } from "node:url";
import type { JSONSchema } from "json-schema-to-ts";
import type { Observable } from "rxjs";
import type { Infer } from "../contract/schemas.ts";
import { parseHuman } from "../contract/validate.ts";
import { SluiceError } from "../errors.ts";
import type { EventTexts } from "../journal/events.ts";
import type { Wanted } from "../orders/wanted-order.ts";
import { type Config, type ConfigInput, checkConfig } from "./config.ts";
import type { PluginContext, StrategyContext } from "./context.ts";
import type { EngineExtension, EngineFacts, ExtensionContext } from "./engine-extension.ts";
import { checkRequirementsOf, type PluginRequirements } from "./plugin-requirements.ts";
import { observableOf, type StreamInput } from "./rxjs-version.ts";
import type { Isolation, Plugin, PluginUndo, Strategy } from "./strategy.ts";

/** Name of one of several instances; it appears in reports, events and quota shares. */
export interface Naming {
  /** Name in the config; the definition's name when left out. */
  readonly as?: string;
}

/** Name of the user of the service for whom a strategy trades; the first when left out. */
export interface StrategyNaming extends Naming {
  /** Label or uid of the user it trades for. */
  readonly user?: string;
  /**
   * Runs the strategy in its own thread while the engine trades in real time (live or paper): an endless loop, a memory
   * leak or a crash in it does not stop the other strategies. It must be the default export of its file. `estimate` and
   * `market.lastPx` throw there, its environment is empty, and it has no plugins and no native code. In backtests,
   * simulations and recorded sessions it runs in the engine's thread, so that runs can be repeated. `answerMs` (2 000):
   * milliseconds it may take to process a message; `heapMb` (128): MiB of heap.
   */
  readonly isolate?: boolean | Partial<Isolation>;
}

/**
 * Fields of `O` that a schema's properties `P` describe. Mapped over `P`, so that an editor finds the docstring and the
 * definition of an option at its property in the schema.
 */
type Described<P, O, K extends keyof P> = { [F in K]: Required<O>[F & keyof O] };
type OptionallyDescribed<P, O, K extends keyof P> = { [F in K]?: Required<O>[F & keyof O] };

/** Names of the fields that may be absent. */
type AbsentKeys<O> = { [K in keyof O]-?: Record<never, never> extends Pick<O, K> ? K : never }[keyof O];
type DefaultedKeys<P> = { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

/** Fields that no property describes, such as those of a pattern; a closed schema has none. */
type OtherFields<S, P, O> = S extends { readonly additionalProperties: false }
  ? unknown
  : { [K in keyof O as K extends keyof P ? never : K]: O[K] };

type Fields<S, P, O, Optional extends keyof P> = Described<P, O, Exclude<keyof P, Optional>> &
  OptionallyDescribed<P, O, Optional> &
  OtherFields<S, P, O>;

/** Options as their author writes them in a config: fields with a default may be left out. */
export type GivenOptions<S, O> = S extends { readonly properties: infer P }
  ? Fields<S, P, O, (DefaultedKeys<P> | AbsentKeys<O>) & keyof P>
  : O;

/** Options as a strategy or plugin reads them: fields with a default are there. */
type ReadOptions<S, O> = S extends { readonly properties: infer P } ? Fields<S, P, O, AbsentKeys<O> & keyof P> : O;

/** Definition of a strategy: a name, the schema of the options, and `wanted`, `run` or both. */
export interface StrategyDefinition<S, O> {
  readonly name: string;
  /** JSON Schema of the options; an object, closed. */
  readonly options: S;
  /**
   * The set of orders wanted, as it changes: each emission replaces the last, completion withdraws all. An observable
   * of any library, an asynchronous iterable, or a promise. The single set of a promise is withdrawn at once, because a
   * promise completes with its value.
   */
  wanted?(context: StrategyContext<ReadOptions<S, NoInfer<O>>>): StreamInput<readonly Wanted[]>;
  /** Anything else the strategy does, for example with `orders.place`; its values are ignored. */
  run?(context: StrategyContext<ReadOptions<S, NoInfer<O>>>): StreamInput<unknown>;
}

/** Definition of a plugin: a name, the schema of the options, and `setup`, `extend` or both. */
export interface PluginDefinition<S, O> extends PluginRequirements {
  readonly name: string;
  /** JSON Schema of an object. */
  readonly options: S;
  /**
   * Strategies start after the promise of `setup` has resolved. The start of the engine fails if it rejects or takes
   * longer than 30 s. If left out, the engine continues meanwhile, and a plugin that fails is stopped alone.
   */
  readonly ready?: "before trading";
  /**
   * Observes and steers. Called once when strategies start. What it returns, or what its promise resolves with, ends
   * the plugin at the stop; plugins end in reverse order of their start.
   */
  setup?(context: PluginContext<ReadOptions<S, NoInfer<O>>>): PluginUndo | Promise<PluginUndo>;
  /**
   * Contributes parts and steps. Called when the engine is made, before anything is opened. Returns undefined if it
   * adds nothing.
   */
  extend?(engine: ExtensionContext<ReadOptions<S, NoInfer<O>>>): EngineExtension | undefined;
  /** Throws CONFIG_INVALID if the options do not fit their config. */
  check?(config: EngineFacts, options: NoInfer<O>): void;
  /**
   * Its own events, which it declares in `PluginEvents`: the text of each for screens, logs and alerts, with its
   * severity.
   */
  readonly events?: EventTexts;
}

/** Checked when the file is loaded, before the definition is used. */
const checkDefinition = (
  what: "strategy" | "plugin",
  { name, options }: { readonly name: string; readonly options: unknown },
): void => {
  const call = what === "strategy" ? "defineStrategy" : "definePlugin";
  if (typeof name !== "string" || !/^\S(.{0,38}\S)?$/.test(name)) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `${call}: the name ${JSON.stringify(name)} is not 1 to 40 characters. Write name: "my-${what}".`,
    );
  }
  const schema = options as { readonly type?: unknown; readonly properties?: unknown } | undefined;
  if (typeof schema === "object" && schema?.type === "object") return;
  throw new SluiceError(
    "CONFIG_INVALID",
    `${call} "${name}": options are not the JSON Schema of an object. Write options: { type: "object", additionalProperties: false, properties: { … } }.`,
  );
};

const isolationSchema = {
  type: "object",
  additionalProperties: false,
  properties: {
    answerMs: { type: "number", minimum: 100, maximum: 600_000 },
    heapMb: { type: "number", minimum: 32, maximum: 65_536 },
  },
} as const;

/** Two seconds: if a strategy is further behind the market, it no longer decides about the present market. */
export const isolationDefaults: Isolation = { answerMs: 2_000, heapMb: 128 };

const checkIsolation = (name: string, isolate: true | Partial<Isolation>): Isolation => ({
  ...isolationDefaults,
  ...parseHuman<Partial<Isolation>>(isolationSchema, isolate === true ? {} : isolate, `isolate of strategy "${name}"`),
});

const defined = ({ name, options }: { readonly name: string; readonly options: unknown }) => ({
  definition: { name, options: options as object },
});

const checked = <O>(what: string, schema: object, given: unknown): O => parseHuman<O>(schema, given ?? {}, what);

/**
 * Makes a strategy that is put into a config by calling it with its options.
 *
 * @param definition - name, schema of the options, and `wanted` or `run`
 * @returns a function that takes options and `{ as }`, the name of one of several instances
 * @throws CONFIG_INVALID where the definition does nothing or its schema is wrong; the returned function throws it for
 * options that do not fit the schema
 * @example
 * export default defineStrategy({
 *   name: "best-bid",
 *   options: { type: "object", additionalProperties: false, properties: {} },
 *   wanted: ({ market }) =>
 *     market
 *       .quotes("BTC-USDT-SWAP")
 *       .pipe(map(({ bidPx }) => [buy({ slot: "bid", instId: "BTC-USDT-SWAP", ordType: "post_only", px: bidPx, qty: "0.01" })])),
 * });
 */
export const defineStrategy = <const S extends JSONSchema, O = Infer<S>>(
  definition: StrategyDefinition<S, O>,
): ((options: GivenOptions<S, O>, naming?: StrategyNaming) => Strategy) & {
  /** Name and schema, before there are options. */
  readonly definition: { readonly name: string; readonly options: object };
} => {
  checkDefinition("strategy", definition);
  if ("desired" in definition) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `defineStrategy "${definition.name}": \`desired\` is called \`wanted\` now. Write wanted: ({ market, options }) => ….`,
    );
  }
  if (definition.wanted === undefined && definition.run === undefined) {
    throw new SluiceError(
      "CONFIG_INVALID",
      `defineStrategy "${definition.name}": neither \`wanted\` nor \`run\` is given; without one it does nothing. Write wanted: ({ market, options }) => ….`,
    );
  }
  // The stack is formatted only when it is read.
  const trace = new Error();
  const make = (given: unknown, { as = definition.name, user, isolate = false }: StrategyNaming): Strategy => {
    const limits = isolate === false ? undefined : checkIsolation(as, isolate);
    const parsed = checked<O>(`options of strategy "${as}"`, definition.options as object, given);
    return {
      kind: "strategy",
      name: as,
      ...(user === undefined ? {} : { user }),
      ...(limits === undefined ? {} : { isolation: { ...limits, file: () => fileOf(trace) } }),
      options: parsed,
      schema: definition.options as object,
      with: (changes) => make({ ...parsed, ...changes }, { as, isolate, ...(user === undefined ? {} : { user }) }),
      start: (context) => {
        const own = { options: parsed, ...(context as object) } as StrategyContext<ReadOptions<S, NoInfer<O>>>;
        return {
          ...(definition.wanted === undefined ? {} : { wanted: streamOf(definition.wanted(own)) }),
          ...(definition.run === undefined ? {} : { run: streamOf(definition.run(own)) }),
        };
      },
    };
  };
  const call = (options: GivenOptions<S, O>, naming: StrategyNaming = {}): Strategy => make(options, naming);
  return Object.assign(call, defined(definition));
};

/** A value that is no stream is returned unchanged: the host reports the error. */
const streamOf = <T>(source: StreamInput<T>): Observable<T> => observableOf<T>(source) ?? (source as Observable<T>);

const requirementsOf = ({
  sluice,
  needs,
  modes,
  ready,
}: PluginRequirements & Pick<Plugin, "ready">): Pick<Plugin, "requires" | "ready"> => ({
  ...((sluice ?? needs ?? modes) && {
    requires: { ...(sluice !== undefined && { sluice }), ...(needs && { needs }), ...(modes && { modes }) },
  }),
  ...(ready && { ready }),
});

/**
 * Makes a plugin that is put into a config by calling it with its options.
 *
 * @param definition - name, schema of the options, `setup` to observe and steer an engine, `extend` to contribute to
 * it
 * @returns a function that takes options and `{ as }`, the name of one of several instances
 * @throws CONFIG_INVALID where the definition does nothing or its schema is wrong; the returned function throws it for
 * options that do not fit the schema
 * @example
 * export default definePlugin({
 *   name: "fills",
 *   options: { type: "object", additionalProperties: false, properties: {} },
 *   setup: ({ on, print }) => on("fill", ({ side, qty, instId, px }) => print(`${side} ${qty} ${instId} at ${px}`)),
 * });
 */
export const definePlugin = <const S extends JSONSchema, O = Infer<S>>(
  definition: PluginDefinition<S, O>,
): ((options: GivenOptions<S, O>, naming?: Naming) => Plugin) & {
  /** Name and schema, before there are options. */
  readonly definition: { readonly name: string; readonly options: object };
} => {
  checkDefinition("plugin", definition);
  if (typeof definition.setup !== "function" && typeof definition.extend !== "function") {
    throw new SluiceError(
      "CONFIG_INVALID",
      `definePlugin "${definition.name}": neither setup nor extend is given; without one it does nothing. Write setup: ({ on, options }) => { … }.`,
    );
  }
  checkRequirementsOf(`definePlugin "${definition.name}"`, definition);
  const call = (options: GivenOptions<S, O>, { as = definition.name }: Naming = {}): Plugin => {
    const parsed = checked<O>(`options of plugin "${as}"`, definition.options as object, options);
    return {
      kind: "plugin",
      name: as,
      definition: definition.name,
      options: parsed,
      ...requirementsOf(definition),
      ...(definition.extend && { extend: (engine) => definition.extend?.(engine as ExtensionContext<never>) }),
      ...(definition.events && { events: definition.events }),
      ...(definition.check && { check: (config) => definition.check?.(config, parsed as NoInfer<O>) }),
      start: (context) => definition.setup?.({ ...(context as object), options: parsed } as PluginContext<never>),
    };
  };
  return Object.assign(call, defined(definition));
};

/** Makes a key that no config has a compile error. */
type WithKnownKeys<C> = C extends (...args: never) => unknown
  ? unknown
  : { readonly [K in Exclude<keyof C, keyof Config>]: never };

/**
 * Types a config, and checks it where it is written, so that an error names its file.
 *
 * @param config - a config, or a function of the command line's words that returns one
 * @returns the config itself
 * @throws CONFIG_INVALID with every mistake in the config
 */
export const defineConfig = <C extends ConfigInput>(config: C & WithKnownKeys<C>): C => {
  if (typeof config !== "function") checkConfig(config);
  return config;
};

const here = new URL(".", import.meta.url).href;
const place = /(?:\(|at (?:async )?)((?:file:\/\/)?[^()\s][^()]*?):\d+:\d+\)?$/;

/**
 * File of the caller, as an address to import. Skips files of this folder, of the platform and of installed packages.
 */
const fileOf = ({ stack = "" }: Error): string | undefined => {
  for (const line of stack.split("\n")) {
    const found = place.exec(line.trim())?.[1];
    if (found === undefined || found.startsWith("node:")) continue;
    const address = (found.startsWith("file:") ? found : pathToFileURL(found).href).replace(/\?.*$/, "");
    if (!address.startsWith(here) && !address.includes("/node_modules/")) return address;
  }
  return undefined;
};
