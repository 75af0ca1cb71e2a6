/**
 * Runs strategies: subscribes to what they want and hands it to the desk.
 *
 * Invariants: a strategy that throws, at once or later, is named, journalled and stopped, its orders are withdrawn, and the
 * others run on; what is not wanted any more by a strategy that ended is withdrawn too; a set that is not a list of orders is a
 * failure of its strategy.
 * Not here: on whose time its code runs (engine-time.ts), what reaches it (owned.ts).
 */
import { isObservable, type Observable, Subscription } from "rxjs";
import type { Clock } from "../clock/clock.ts";
import { SluiceError } from "../errors.ts";
import type { Journal } from "../journal/journal.ts";
import type { Desk } from "../orders/desk.ts";
import { installAmbient } from "./ambient.ts";
import type { StrategyContext } from "./context.ts";
import type { Strategy } from "./define.ts";
import { inside, type Owner, outside } from "./engine-time.ts";
import { ownedMarket, ownedOrders, ownedState } from "./owned.ts";
import { checkWanted } from "./wanted-set.ts";

export type StrategyState = { readonly state: "running" | "completed" | "failed"; readonly error?: string };

type Parts = Omit<StrategyContext<never>, "options">;

export interface StrategyHost {
  /** Starts a strategy whose wishes go to `desk`. */
  start(strategy: Strategy, parts: Parts, desk: Desk): void;
  /** Ends every strategy; their orders stay as they are. */
  stop(): void;
  readonly states: ReadonlyMap<string, StrategyState>;
}

export const messageOf = (error: unknown): string =>
  error instanceof Error ? `${["Error", "SluiceError"].includes(error.name) ? "" : `${error.name}: `}${error.message}` : String(error);

interface Run {
  readonly name: string;
  readonly owner: Owner;
  readonly desk: Desk;
  /** Streams that have not ended. */
  open: number;
}

export const createStrategyHost = (clock: Clock, journal: Journal): StrategyHost => {
  installAmbient();
  const states = new Map<string, StrategyState>();
  const runs: Run[] = [];

  const fail = (name: string, desk: Desk, life: Subscription, error: unknown): void => {
    if (states.get(name)?.state === "failed") return;
    const message = messageOf(error);
    states.set(name, { state: "failed", error: message });
    outside(() => {
      life.unsubscribe();
      journal.append({ type: "strategy.failed", strategy: name, message });
      desk.want(name, []);
    });
  };
  const watch = (run: Run, what: "desired" | "run", source: unknown): void => {
    const { name, owner, desk } = run;
    if (!isObservable(source)) throw notAStream(name, what, source);
    run.open++;
    const subscription = (source as Observable<unknown>).subscribe({
      next: (value) => {
        if (what === "run") return;
        const wanted = checkWanted(name, value);
        outside(() => {
          desk.want(name, wanted);
        });
      },
      error: owner.fail,
      complete: () => {
        // Nobody speaks for these orders any more.
        if (what === "desired") outside(() => desk.want(name, []));
        run.open--;
        if (run.open === 0 && states.get(name)?.state === "running") states.set(name, { state: "completed" });
      },
    });
    owner.life.add(subscription);
  };

  return {
    states,
    start: (strategy, parts, desk) => {
      const { name } = strategy;
      const life = new Subscription();
      const owner: Owner = {
        clock,
        life,
        sealed: parts.random.fork("ambient"),
        fail: (error) => {
          fail(name, desk, life, error);
        },
      };
      // Counted as one more stream until both are subscribed, so that the first to end does not end the strategy.
      const run: Run = { name, owner, desk, open: 1 };
      runs.push(run);
      states.set(name, { state: "running" });
      try {
        inside(owner, () => {
          const streams = strategy.start(contextOf(owner, parts) as StrategyContext<never>);
          for (const what of ["desired", "run"] as const) if (what in streams) watch(run, what, streams[what]);
        });
      } catch (error) {
        owner.fail(error);
      }
      run.open--;
      if (run.open === 0 && states.get(name)?.state === "running") states.set(name, { state: "completed" });
    },
    stop: () => {
      for (const { owner } of runs) owner.life.unsubscribe();
    },
  };
};

const contextOf = (owner: Owner, parts: Parts): Parts => ({
  ...parts,
  ...ownedState(owner, parts),
  market: ownedMarket(owner, parts.market),
  orders: ownedOrders(owner, parts.orders),
});

const notAStream = (name: string, what: string, found: unknown): SluiceError => {
  const remedy = typeof (found as { then?: unknown } | undefined)?.then === "function" ? " Wrap a promise in `from(…)` or `defer(…)`." : "";
  return new SluiceError("STRATEGY_FAILED", `${name}: \`${what}\` returned ${typeof found}, not an Observable.${remedy}`);
};
