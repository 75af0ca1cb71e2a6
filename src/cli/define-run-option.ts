/**
 * Definition of an option that a plugin adds to `sluice run`.
 *
 * Invariants: the manifest of its package names it (plugin-manifest.ts); its code is loaded when the option is given.
 */
import type { Subscription } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import type { Engine } from "../engine/engine.ts";

/** The parts of a run that an option may use. */
export interface RunSurroundings {
  /** The config file, as it was typed. */
  readonly path: string;
  /** The config as it is run. */
  readonly config: object;
  readonly clock: Clock;
  /** Prints a line for people. */
  readonly note: (text: string) => void;
  /** Replaced parts, for tests. */
  readonly parts: object;
}

/** An option of `sluice run`: the default export of the module that a manifest names. Made by `defineRunOption`. */
export interface RunOption {
  readonly kind: "run-option";
  /**
   * Returns the config as it is run, such as with a plugin more. Throws USAGE where the option does not fit.
   *
   * @param value - value of the option: text, or true where none was given
   * @param given - values of all options of the command line, by name
   */
  readonly configure: (config: object, value: unknown, given: Readonly<Record<string, unknown>>) => object;
  /**
   * Starts work that runs in addition to each engine, such as a second process. Unsubscribed when the engine has
   * stopped.
   */
  readonly beside?: (engine: Pick<Engine, "events$">, run: RunSurroundings) => Subscription;
}

/**
 * Makes an option of `sluice run`.
 *
 * @param option - what it does to a run
 * @returns the default export of its module
 */
export const defineRunOption = (option: Omit<RunOption, "kind">): RunOption => ({ kind: "run-option", ...option });
