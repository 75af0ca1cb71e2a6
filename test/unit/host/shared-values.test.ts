/** What one subscriber can change is seen by no other subscriber and not by the engine. */
import { NEVER, type Observable, switchMap, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { definePlugin, type PluginContext, type StrategyContext } from "../../../src/index.ts";
import { calm, closed, far, run, stored, strategy, swap } from "../../support/harness/backtest.ts";

const dir = stored(calm(40));

const isPlain = (value: object): boolean =>
  Array.isArray(value) || Object.getPrototypeOf(value) === Object.prototype || value instanceof Map;

const isFixed = (value: object): boolean => {
  if (!(value instanceof Map)) return Object.isFrozen(value);
  const before = [...value];
  for (const change of [() => value.clear(), () => value.set("x", 1), () => value.delete(before[0]?.[0])]) {
    try {
      change();
    } catch {
      // Meant.
    }
  }
  return before.length === value.size;
};

const partsOf = (value: object): readonly (readonly [string, unknown])[] =>
  value instanceof Map ? [...value].map(([key, part]) => [String(key), part]) : Object.entries(value);

/** Paths of what both values have in common and either of two subscribers can change. */
const changeable = (one: unknown, other: unknown, path: string): readonly string[] => {
  if (typeof one !== "object" || one === null || typeof other !== "object" || other === null) return [];
  const parts = new Map(partsOf(other));
  const inside = partsOf(one).flatMap(([key, part]) => changeable(part, parts.get(key), `${path}.${key}`));
  return one === other && isPlain(one) && !isFixed(one) ? [path, ...inside] : inside;
};

const streamsOf = (
  context: StrategyContext<unknown> | PluginContext<unknown>,
): Readonly<Record<string, Observable<unknown>>> => ({
  instruments$: context.instruments$,
  pending$: context.account.pending$,
  history$: context.account.history$,
  balances$: context.account.balances$,
  positions$: context.account.positions$,
  equity$: context.account.equity$,
  quota$: context.quota$,
  quotes: context.market.quotes(swap),
  ...("orders" in context
    ? { position$: context.own.positions$, mine$: context.own.orders$, updates$: context.own.updates$ }
    : { events$: context.events$, updates$: context.updates$ }),
});

/** Two subscribers of each stream: what the last values that were the same turn of the stream have in common. */
const compare = (context: StrategyContext<unknown> | PluginContext<unknown>, found: Map<string, Set<string>>): void => {
  for (const [name, stream$] of Object.entries(streamsOf(context))) {
    const paths = new Set<string>();
    found.set(name, paths);
    let first: unknown;
    let emitted = 0;
    stream$.subscribe((value) => {
      first = value;
      emitted++;
    });
    stream$.subscribe((value) => {
      if (emitted > 0) for (const path of changeable(first, value, name)) paths.add(path.replace(/\.\d+/g, ".#"));
    });
    stream$.subscribe((value) => {
      if (emitted > 0) for (const path of changeable(first, value, name)) paths.add(path.replace(/\.\d+/g, ".#"));
    });
  }
};

const listOf = (found: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] =>
  [...found.values()].flatMap((paths) => [...paths]);

describe("What a stream emits cannot be changed for others", () => {
  it("keeps what strategies and plugins receive out of each other's hands", async () => {
    const ofStrategy = new Map<string, Set<string>>();
    const ofPlugin = new Map<string, Set<string>>();
    const trader = strategy("trader", {
      run: (context) => {
        compare(context, ofStrategy);
        context.orders.place({ ...far(), tag: "t" }).subscribe();
        const crossing = { instId: swap, side: "buy", px: "70000", qty: "0.01", protect: { stopLoss: "100" } } as const;
        return timer(2_000).pipe(switchMap(() => context.orders.place(crossing)));
      },
    });
    const watcher = definePlugin({
      name: "watcher",
      options: closed,
      setup: (context) => {
        compare(context, ofPlugin);
      },
    });
    const report = await run(dir, [trader], { plugins: [watcher({})] });
    expect(report.perStrategy["trader"]).toMatchObject({ placed: 2, fills: 1 });
    expect({ strategy: listOf(ofStrategy), plugin: listOf(ofPlugin) }).toEqual({ strategy: [], plugin: [] });
  });

  it("lets no subscriber empty the list of instruments", async () => {
    const vandal = strategy("vandal", {
      run: ({ instruments$ }) => {
        instruments$.subscribe(({ value }) => {
          const map = value as Map<string, unknown>;
          for (const change of [() => map.clear(), () => map.delete(swap), () => map.set(swap, {})])
            expect(change).toThrow("The map is read-only");
        });
        return NEVER;
      },
    });
    const honest = strategy("honest", { run: ({ orders }) => orders.place(far()) });
    const report = await run(dir, [vandal, honest]);
    expect(report.perStrategy["vandal"]).toMatchObject({ state: "running" });
    expect(report.perStrategy["honest"]).toMatchObject({ placed: 1 });
  });
});
