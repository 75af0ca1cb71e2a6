/**
 * Strategy and plugin values as the host runs them, distinguished by `kind`.
 *
 * Not here: making them from a definition (define.ts).
 */
import type { Observable, Unsubscribable } from "rxjs";
import type { EventTexts } from "../journal/events.ts";
import type { Wanted } from "../orders/wanted-order.ts";
import type { PluginContext, StrategyContext } from "./context.ts";
import type { EngineExtension, EngineFacts, ExtensionContext } from "./engine-extension.ts";
import type { PluginRequirements } from "./plugin-requirements.ts";

/** Limits of a strategy that runs in its own thread. */
export interface Isolation {
  /** Longest time without work on its messages; a longer one counts as a failure. Default 2 000 ms. */
  readonly answerMs: number;
  /** Its JavaScript heap, in MiB. Default 128. */
  readonly heapMb: number;
}

/** A strategy with its options, ready for a config's `strategies`: what calling a definition returns. */
export interface Strategy {
  readonly kind: "strategy";
  readonly name: string;
  /** The user it trades for, as the service lists them; the first when left out. */
  readonly user?: string;
  readonly options: unknown;
  /** JSON Schema of the options. */
  readonly schema?: object;
  /** Limits of its thread and the file that defines it, for an isolated strategy. */
  readonly isolation?: Isolation & { readonly file: () => string | undefined };
  /** The same strategy with some of its options replaced, checked like the first. */
  readonly with?: (changes: object) => Strategy;
  start(context: StrategyContext<never>): {
    readonly wanted?: Observable<readonly Wanted[]>;
    readonly run?: Observable<unknown>;
  };
}

/** Value that ends a plugin: a function, whose promise is awaited for two seconds, or a subscription. */
// biome-ignore lint/suspicious/noConfusingVoidType: a set-up that returns nothing has this type
export type PluginUndo = void | undefined | (() => unknown) | Unsubscribable;

/** A plugin with its options, ready for a config's `plugins`: what calling a definition returns. */
export interface Plugin {
  readonly kind: "plugin";
  /** Name in the config: the definition's, unless `as` gave another. */
  readonly name: string;
  /** Name of its definition. */
  readonly definition?: string;
  readonly options: unknown;
  /** Version of Sluice, other plugins and modes that it needs. */
  readonly requires?: PluginRequirements;
  /** Strategies wait until its set-up has ended. */
  readonly ready?: "before trading";
  /** Parts and steps that it adds to an engine. */
  readonly extend?: (engine: ExtensionContext<never>) => EngineExtension | undefined;
  /** Text of each of its own events. */
  readonly events?: EventTexts;
  /** Throws CONFIG_INVALID where its options do not fit the config. */
  readonly check?: (config: EngineFacts) => void;
  start(context: PluginContext<never>): PluginUndo | Promise<PluginUndo>;
}
