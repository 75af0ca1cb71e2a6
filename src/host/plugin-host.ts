/**
 * Runs plugins and undoes what they added.
 *
 * Invariants: plugins start in the order of the config and stop in the reverse one; a plugin that throws is named and undone,
 * the engine and the others run on.
 */

import type { Clock } from "../clock/clock.ts";
import { every } from "../clock/clock.ts";
import type { Journal } from "../journal/journal.ts";
import type { PluginContext } from "./context.ts";
import type { Plugin } from "./define.ts";
import { inEngineTime } from "./engine-time.ts";
import { createScope, type Scope } from "./scope.ts";

export type PluginParts = Omit<PluginContext<never>, "options" | "name" | "on" | "every"> & Pick<PluginContext<never>, "on">;

export interface PluginHost {
  start(plugin: Plugin, parts: PluginParts): void;
  stop(): void;
}

export const createPluginHost = (clock: Clock, journal: Journal): PluginHost => {
  const scopes: { readonly name: string; readonly scope: Scope }[] = [];
  const fail = (name: string, error: unknown): void => {
    journal.append({ type: "plugin.failed", plugin: name, message: error instanceof Error ? error.message : String(error) });
  };
  return {
    start: (plugin, parts) => {
      const { name } = plugin;
      const scope = createScope();
      scopes.push({ name, scope });
      const guarded =
        <A extends readonly unknown[]>(work: (...args: A) => void) =>
        (...args: A): void => {
          try {
            inEngineTime(clock, () => {
              work(...args);
            });
          } catch (error) {
            fail(name, error);
          }
        };
      const context = {
        ...parts,
        name,
        on: (event: string, listener: Parameters<PluginParts["on"]>[1]) => {
          const off = parts.on(event, guarded(listener));
          scope.add(off);
          return off;
        },
        every: (ms: number, run: () => void) => {
          const ticks = every(clock, ms).subscribe(guarded(run));
          scope.add(() => {
            ticks.unsubscribe();
          });
        },
      };
      try {
        const undo = inEngineTime(clock, () => plugin.start(context as unknown as PluginContext<never>));
        if (typeof undo === "function") scope.add(undo as () => void);
      } catch (error) {
        fail(name, error);
        for (const late of scope.close()) fail(name, late);
      }
    },
    stop: () => {
      for (const { name, scope } of scopes.reverse()) for (const error of scope.close()) fail(name, error);
      scopes.length = 0;
    },
  };
};
