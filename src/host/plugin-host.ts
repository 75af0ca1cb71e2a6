/**
 * Runs plugins and undoes what they added.
 *
 * Invariants: plugins start in the order of the config and stop in the reverse one; a plugin that throws, at the start or later,
 * is named, undone and not called again, the engine and the others run on; each is undone once, last addition first.
 */
import { Subscription } from "rxjs";
import { type Clock, every } from "../clock/clock.ts";
import type { Event } from "../journal/events.ts";
import type { Journal } from "../journal/journal.ts";
import type { PluginContext } from "./context.ts";
import type { Plugin } from "./define.ts";
import { guarded, inside, type Owner, outside } from "./engine-time.ts";
import { owned, ownedMarket, ownedState } from "./owned.ts";
import { createScope, type Scope } from "./scope.ts";
import { messageOf } from "./strategy-host.ts";

export type PluginParts = Omit<PluginContext<never>, "options" | "name" | "every">;

export interface PluginHost {
  start(plugin: Plugin, parts: PluginParts): void;
  stop(): void;
}

interface Running {
  readonly name: string;
  readonly owner: Owner;
  readonly scope: Scope;
}

export const createPluginHost = (clock: Clock, journal: Journal): PluginHost => {
  const running: Running[] = [];

  const note = (plugin: string, error: unknown): void => {
    outside(() => {
      journal.append({ type: "plugin.failed", plugin, message: messageOf(error) });
    });
  };
  const undo = ({ name, owner, scope }: Running): void => {
    const thrown = inside(owner, () => scope.close());
    owner.life.unsubscribe();
    for (const error of thrown) note(name, error);
  };
  const begin = (name: string): Running => {
    const life = new Subscription();
    const scope = createScope();
    let failed = false;
    const owner: Owner = {
      clock,
      life,
      fail: (error) => {
        // What it says while it is undone is noted there; what it says afterwards is nobody's business.
        if (failed || life.closed) return;
        failed = true;
        undo(self);
        note(name, error);
      },
    };
    const self: Running = { name, owner, scope };
    return self;
  };

  return {
    start: (plugin, parts) => {
      const self = begin(plugin.name);
      running.push(self);
      const { owner, scope } = self;
      try {
        inside(owner, () => {
          const added = plugin.start(contextOf(self, parts) as unknown as PluginContext<never>);
          if (typeof added === "function") scope.add(added as () => void);
        });
      } catch (error) {
        owner.fail(error);
      }
    },
    stop: () => {
      for (const one of running.splice(0).reverse()) if (!one.owner.life.closed) undo(one);
    },
  };
};

const contextOf = ({ name, owner, scope }: Running, parts: PluginParts): Omit<PluginContext<never>, "options"> => ({
  ...parts,
  ...ownedState(owner, parts),
  name,
  ofUser: (uid) => ownedState(owner, parts.ofUser(uid)),
  market: ownedMarket(owner, parts.market),
  events$: owned(owner, parts.events$),
  updates$: owned(owner, parts.updates$),
  halt: (reason) =>
    owned(
      owner,
      outside(() => parts.halt(reason)),
    ),
  resume: (reason) => {
    outside(() => {
      parts.resume(reason);
    });
  },
  on: (event, listener) => {
    const off = parts.on(event, (happened: Event) => {
      guarded(owner, listener, happened);
    });
    scope.add(off);
    return off;
  },
  every: (ms, run) => {
    const ticks = outside(() => every(owner.clock, ms).subscribe(() => guarded(owner, run, undefined)));
    scope.add(() => {
      ticks.unsubscribe();
    });
  },
});
