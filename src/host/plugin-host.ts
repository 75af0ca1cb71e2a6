/**
 * Runs plugins and undoes what they added.
 *
 * Invariants: plugins start in the order of the config and stop in the reverse one; a plugin that throws, at the start or later,
 * is named, undone and not called again, the engine and the others run on; each is undone once, last addition first; what goes on
 * after an undoing is waited for two seconds at most.
 */
import { Subscription } from "rxjs";
import { type Clock, every } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { messageOf } from "../errors.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Event } from "../journal/events.ts";
import type { PluginContext } from "./context.ts";
import { createDisposables, type Disposables } from "./disposables.ts";
import { guarded, inside, type Owner, outside } from "./execution-context.ts";
import { owned, ownedMarket, ownedState } from "./owned-streams.ts";
import type { Plugin } from "./strategy.ts";

export type PluginParts = Omit<PluginContext<never>, "options" | "name" | "every">;

interface PluginHost {
  start(plugin: Plugin, parts: PluginParts): void;
  stop(): void;
  /** Resolves when what undoings began has ended, or its time is over. */
  ended(): Promise<void>;
}

interface Running {
  readonly name: string;
  readonly owner: Owner;
  readonly scope: Disposables;
  /** What its undoing began; each resolves, whatever becomes of it. */
  readonly ending: Promise<void>[];
}

const endMsMax = 2_000;

/** What goes on after an undoing takes the machine's time, whatever clock the engine has. */
export const createPluginHost = (clock: Clock, journal: EventLog, machine: Clock = createSystemClock()): PluginHost => {
  const running: Running[] = [];
  const undone: Running[] = [];

  const note = (plugin: string, error: unknown): void => {
    outside(() => {
      journal.append({ type: "plugin.failed", plugin, message: messageOf(error) });
    });
  };
  const undo = ({ name, owner, scope }: Running): void => {
    const thrown = inside(owner, () => [...scope.close(), ...closed(owner.life)]);
    for (const error of thrown) note(name, error);
  };
  const begin = (name: string): Running => {
    const life = new Subscription();
    const scope = createDisposables();
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
    const self: Running = { name, owner, scope, ending: [] };
    return self;
  };

  const ended = ({ name, ending }: Running): Promise<void> =>
    new Promise((resolve) => {
      const timer = machine.setTimer(machine.now() + endMsMax, () => {
        note(name, `its undoing did not end within ${endMsMax / 1_000} s and is not waited for`);
        resolve();
      });
      void Promise.all(ending).then(() => {
        timer.cancel();
        resolve();
      });
    });

  return {
    start: (plugin, parts) => {
      const self = begin(plugin.name);
      running.push(self);
      const { owner, scope } = self;
      try {
        inside(owner, () => {
          const added = plugin.start(contextOf(self, parts) as unknown as PluginContext<never>);
          if (typeof added !== "function") return;
          scope.add(() => {
            const going: unknown = (added as () => unknown)();
            if (!isThenable(going)) return;
            const settled = Promise.resolve(going).then(
              () => undefined,
              (error: unknown) => {
                note(plugin.name, error);
              },
            );
            self.ending.push(settled);
          });
        });
      } catch (error) {
        owner.fail(error);
      }
    },
    stop: () => {
      for (const one of running.splice(0).reverse()) {
        if (!one.owner.life.closed) undo(one);
        if (one.ending.length > 0) undone.push(one);
      }
    },
    ended: async () => {
      await Promise.all(undone.splice(0).map(ended));
    },
  };
};

/** What ending its subscriptions threw. */
const closed = (life: Subscription): readonly unknown[] => {
  try {
    life.unsubscribe();
    return [];
  } catch (error) {
    return [error];
  }
};

const isThenable = (value: unknown): boolean => typeof (value as { readonly then?: unknown } | undefined | null)?.then === "function";

const contextOf = ({ name, owner, scope }: Running, parts: PluginParts): Omit<PluginContext<never>, "options"> => ({
  ...parts,
  ...ownedState(owner, parts),
  name,
  ofUser: (uid) => ownedState(owner, parts.ofUser(uid)),
  market: ownedMarket(owner, parts.market),
  events$: owned(owner, parts.events$),
  updates$: owned(owner, parts.updates$),
  halt: (reason, whom) =>
    owned(
      owner,
      outside(() => parts.halt(reason, whom)),
    ),
  closePositions: (reason) =>
    owned(
      owner,
      outside(() => parts.closePositions(reason)),
    ),
  resume: (reason, whom) => {
    outside(() => {
      parts.resume(reason, whom);
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
