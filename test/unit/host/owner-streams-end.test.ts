/** Streams of strategies and plugins end with their owner, and what they emit belongs to nobody in particular. */
import { concatWith, ignoreElements, lastValueFrom, NEVER, type Observable, of, repeat, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { definePlugin, type PluginContext, type StrategyContext } from "../../../src/index.ts";
import { calm, closed, far, run, stored, strategy, swap } from "../../support/harness/backtest.ts";

const dir = stored(calm(5));
const barMs = 60_000;

type Streams = Readonly<Record<string, Observable<unknown>>>;

const stateOf = (context: PluginContext<unknown> | StrategyContext<unknown>): Streams => ({
  instruments$: context.instruments$,
  pending$: context.account.pending$,
  history$: context.account.history$,
  balances$: context.account.balances$,
  positions$: context.account.positions$,
  equity$: context.account.equity$,
  quota$: context.quota$,
  quotes: context.market.quotes(swap),
  trades: context.market.trades(swap),
  books: context.market.books(swap),
  candles: context.market.candles(swap, barMs),
});

const ofStrategy = (context: StrategyContext<unknown>): Streams => ({
  ...stateOf(context),
  position$: context.own.positions$,
  mine$: context.own.orders$,
  updates$: context.own.updates$,
  placed: context.orders.place(far()),
});

const ofPlugin = (context: PluginContext<unknown>): Streams => ({
  ...stateOf(context),
  events$: context.events$,
  updates$: context.updates$,
});

/** Names of the streams that have completed. */
const completions = () => {
  const names: string[] = [];
  const watch = (streams: Streams): void => {
    for (const [name, stream$] of Object.entries(streams))
      stream$.subscribe({
        complete: () => {
          names.push(name);
        },
      });
  };
  return { names, watch };
};

const pluginWith = (setup: (context: PluginContext<unknown>) => void) =>
  definePlugin({ name: "watcher", options: closed, setup })({});

describe("The streams of an owner complete when it ends", () => {
  it("completes every stream of a strategy at the stop of the engine", async () => {
    const { names, watch } = completions();
    let expected: readonly string[] = [];
    const one = strategy("one", {
      run: (context) => {
        const streams = ofStrategy(context);
        expected = Object.keys(streams);
        watch(streams);
        return NEVER;
      },
    });
    await run(dir, [one]);
    expect(names.toSorted()).toEqual(expected.toSorted());
  });

  it("completes every stream of a plugin at the stop of the engine", async () => {
    const { names, watch } = completions();
    let expected: readonly string[] = [];
    const watcher = pluginWith((context) => {
      const streams = ofPlugin(context);
      expected = Object.keys(streams);
      watch(streams);
    });
    await run(dir, [strategy("idle", { run: () => NEVER })], { plugins: [watcher] });
    expect(names.toSorted()).toEqual(expected.toSorted());
  });

  it("resolves the last value that a strategy or a plugin waits for", async () => {
    const last: Promise<unknown>[] = [];
    const one = strategy("one", {
      run: ({ account }) => {
        last.push(lastValueFrom(account.balances$));
        return NEVER;
      },
    });
    const watcher = pluginWith(({ account }) => {
      last.push(lastValueFrom(account.balances$));
    });
    await run(dir, [one], { plugins: [watcher] });
    expect(await Promise.all(last)).toMatchObject([{ stale: false }, { stale: false }]);
  });

  it("completes the streams of a strategy that fails while the engine goes on", async () => {
    const { names, watch } = completions();
    const bad = strategy("bad", {
      run: (context) => {
        watch({ quotes: context.market.quotes(swap), balances$: context.account.balances$ });
        timer(2_000).subscribe(() => {
          throw new Error("no luck");
        });
        return NEVER;
      },
    });
    let namesBefore: readonly string[] = [];
    const watcher = pluginWith(({ on }) => {
      on("strategy.failed", () => {
        namesBefore = [...names];
      });
    });
    await run(dir, [bad], { plugins: [watcher] });
    expect(namesBefore.toSorted()).toEqual(["balances$", "quotes"]);
  });

  it("ends what subscribes again at every completion, and places nothing for an owner that has ended", async () => {
    let subscriptions = 0;
    const again = strategy("again", {
      wanted: ({ market, orders }) => {
        market.quotes(swap).pipe(repeat()).subscribe();
        market.quotes(swap).subscribe({
          complete: () => {
            subscriptions++;
            orders.place(far()).subscribe();
          },
        });
        return market.quotes(swap).pipe(ignoreElements(), concatWith(of([{ ...far(), slot: "late" }])));
      },
    });
    const report = await run(dir, [again]);
    expect(subscriptions).toBe(1);
    expect(report.perStrategy["again"]).toMatchObject({ placed: 0, state: "running" });
  });

  it("reports no failure for a first value that did not come", async () => {
    const failures: string[] = [];
    const waiting = strategy("waiting", {
      run: ({ own }) => {
        void lastValueFrom(own.updates$);
        return NEVER;
      },
    });
    const watcher = pluginWith(({ on, events$ }) => {
      on("strategy.failed", ({ message }) => failures.push(message));
      void lastValueFrom(events$);
    });
    const report = await run(dir, [waiting], { plugins: [watcher] });
    expect(failures).toEqual([]);
    expect(report.perStrategy["waiting"]).toMatchObject({ state: "running" });
  });
});
