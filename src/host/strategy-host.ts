/**
 * Runs strategies: subscribes to what they want and hands it to the desk.
 *
 * Invariants: a strategy that throws, at once or later, is named, journalled and stopped, its orders are withdrawn, and the
 * others run on; strangers' code runs in engine time; a set that is not a list of orders is a failure of its strategy.
 */
import { Observable, Subscription } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { SluiceError } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Desk } from "../orders/desk.ts";
import type { WantedOrder } from "../orders/wanted.ts";
import type { StrategyContext } from "./context.ts";
import type { Strategy } from "./define.ts";
import { inEngineTime } from "./engine-time.ts";
import { createScope, type Scope } from "./scope.ts";

export type StrategyState = { readonly state: "running" | "completed" | "failed"; readonly error?: string };

export interface StrategyHost {
  start(strategy: Strategy, context: Omit<StrategyContext<never>, "options">): void;
  /** Ends every strategy; their orders stay as they are. */
  stop(): void;
  readonly states: ReadonlyMap<string, StrategyState>;
  /** Blames an error that surfaced elsewhere on the strategy whose code was running, if one was. */
  blame(error: unknown): boolean;
}

const messageOf = (error: unknown): string =>
  error instanceof Error ? `${error.name === "Error" ? "" : `${error.name}: `}${error.message}` : String(error);

export const createStrategyHost = (clock: Clock, desk: Desk, journal: Journal): StrategyHost => {
  const states = new Map<string, StrategyState>();
  const scopes = new Map<string, Scope>();
  let running: string | undefined;

  const within = <T>(name: string, work: () => T): T => {
    const outer = running;
    running = name;
    try {
      return inEngineTime(clock, work);
    } finally {
      running = outer;
    }
  };
  const fail = (name: string, error: unknown): void => {
    if (states.get(name)?.state === "failed") return;
    const message = messageOf(error);
    states.set(name, { state: "failed", error: message });
    journal.append({ type: "strategy.failed", strategy: name, message });
    scopes.get(name)?.close();
    desk.want(name, []);
  };
  const guarded = (name: string, work: () => void): void => {
    try {
      within(name, work);
    } catch (error) {
      fail(name, error);
    }
  };
  const check = (name: string, wanted: unknown): readonly WantedOrder[] => {
    if (Array.isArray(wanted) && wanted.every((order) => typeof order?.slot === "string" && typeof order?.instId === "string"))
      return wanted;
    throw new SluiceError(
      "STRATEGY_FAILED",
      `${name}: \`desired\` emitted ${JSON.stringify(wanted)?.slice(0, 120)}. Emit a list of orders, each with slot, instId, side, px and a size.`,
    );
  };

  const watch = (
    name: string,
    source: Observable<unknown>,
    next: (value: unknown) => void,
    open: Set<Subscription>,
    ended: () => void,
  ): void => {
    if (!(source instanceof Observable) && typeof (source as { subscribe?: unknown } | undefined)?.subscribe !== "function") {
      throw new SluiceError("STRATEGY_FAILED", `${name}: \`desired\` and \`run\` return an Observable.`);
    }
    const subscription: Subscription = new Subscription();
    open.add(subscription);
    const inner = source.subscribe({
      next: (value) => {
        guarded(name, () => {
          next(value);
        });
      },
      error: (error: unknown) => {
        fail(name, error);
      },
      complete: () => {
        open.delete(subscription);
        ended();
        if (open.size === 0 && states.get(name)?.state === "running") states.set(name, { state: "completed" });
      },
    });
    subscription.add(inner);
    scopes.get(name)?.add(() => {
      subscription.unsubscribe();
    });
  };

  return {
    states,
    blame: (error) => {
      if (running === undefined) return false;
      fail(running, error);
      return true;
    },
    start: (strategy, context) => {
      const { name } = strategy;
      states.set(name, { state: "running" });
      scopes.set(name, createScope());
      guarded(name, () => {
        const open = new Set<Subscription>();
        const { desired, run } = strategy.start(context as StrategyContext<never>);
        if (desired !== undefined) {
          watch(
            name,
            desired,
            (wanted) => {
              desk.want(name, check(name, wanted));
            },
            open,
            () => {
              // Nobody speaks for these orders any more.
              desk.want(name, []);
            },
          );
        }
        if (run !== undefined)
          watch(
            name,
            run,
            () => undefined,
            open,
            () => undefined,
          );
        if (open.size === 0 && states.get(name)?.state === "running") states.set(name, { state: "completed" });
      });
    },
    stop: () => {
      for (const scope of scopes.values()) scope.close();
    },
  };
};
