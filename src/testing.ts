/**
 * Tests of strategies and plugins: the engine and the embedded exchange on virtual time, with a market that the test
 * feeds by hand.
 *
 * A market in text has a row a line:
 *
 * ```
 * 00:00:01      quote BTC-USDT-SWAP 60000 x 5 / 60000.1 x 5
 * 00:00:01.250  trade BTC-USDT-SWAP sell 0.1 at 60000
 * +500ms        quote BTC-USDT-SWAP 59990 / 59990.1            # a quantity that is left out is 1000
 * 00:01:00      candle BTC-USDT-SWAP 1m 60000 60010 59990 59995 volume 12
 * ```
 *
 * A time is counted from the start of the test, or `+` and a duration (`ms`, `s`, `m`, `h`) from the line before; a
 * line without one has the time of the line before. A candle has its length, then open, high, low and close; its time
 * is its close.
 * Needs no test runner: what it hands out are plain values for any assertion.
 *
 * @module sluice/testing
 */
import { Subject } from "rxjs";
import { type Cast, EngineTest } from "./backtest/testkit/engine-test.ts";
import type { TestOptions } from "./backtest/testkit/test-options.ts";
import { defineStrategy } from "./host/define.ts";
import type { Plugin, Strategy } from "./host/strategy.ts";
import type { WantedOrder } from "./orders/wanted-order.ts";

export type { CandleInput, QuoteInput, TradeInput } from "./backtest/testkit/hand-market.ts";
export type { PlottedValue } from "./backtest/testkit/observed-run.ts";
export { checkPlugin, type PluginCheckOptions, type PluginFinding } from "./backtest/testkit/plugin-rules.ts";
export type { TestFill, TestOrder } from "./backtest/testkit/sent-orders.ts";
export { type TestOptions, testStartAt } from "./backtest/testkit/test-options.ts";

export type { PluginTest };

/** A strategy under test. */
export type StrategyTest = EngineTest;

/** A plugin under test, with a strategy named `by hand` that emits the wanted orders which the test sets. */
class PluginTest extends EngineTest {
  readonly #wanted$: Subject<readonly WantedOrder[]>;

  /** @internal */
  constructor(cast: Cast, options: TestOptions, wanted$: Subject<readonly WantedOrder[]>) {
    super(cast, options);
    this.#wanted$ = wanted$;
  }

  /** Replaces the wanted orders of the strategy `by hand`. */
  want(orders: readonly WantedOrder[]): void {
    this.#wanted$.next(orders);
  }

  /** The strategy `by hand` fails as if it had thrown. */
  failStrategy(message: string): void {
    this.#wanted$.error(new Error(message));
  }
}

/**
 * Starts a strategy in an engine of its own, at 2024-01-01T00:00:00Z of a virtual clock.
 *
 * @param strategy - as a config has it
 * @param options - market, exchange and, in the same engine, `plugins`
 * @returns the test, when the strategy runs
 * @throws CONFIG_INVALID where the options are not valid, and the strategy's own error where it fails at once
 * @example
 * const test = await testStrategy(bestBid({}));
 * test.quote("BTC-USDT-SWAP", { bidPx: "60000", askPx: "60001" });
 * await test.advance(1_000);
 * expect(test.open.map(({ px }) => px)).toEqual(["60000"]);
 */
export const testStrategy = async (
  strategy: Strategy,
  { plugins = [], ...options }: TestOptions & { readonly plugins?: readonly Plugin[] } = {},
): Promise<StrategyTest> =>
  new EngineTest(
    { strategies: [strategy], plugins, failing: [nameOf(strategy), ...plugins.map(nameOf)] },
    options,
  ).begin();

/**
 * Starts a plugin next to the strategy `by hand`, whose wanted orders the test sets.
 *
 * @param plugin - as a config has it
 * @param options - market, exchange and other `strategies`
 * @returns the test, when the plugin runs
 * @throws CONFIG_INVALID where the options are not valid
 */
export const testPlugin = async (
  plugin: Plugin,
  { strategies = [], ...options }: TestOptions & { readonly strategies?: readonly Strategy[] } = {},
): Promise<PluginTest> => {
  const wanted$ = new Subject<readonly WantedOrder[]>();
  const byHand = defineStrategy({
    name: "by hand",
    options: { type: "object", additionalProperties: false, properties: {} },
    wanted: () => wanted$,
  })({});
  const cast = { strategies: [byHand, ...strategies], plugins: [plugin], failing: [nameOf(plugin)] };
  return new PluginTest(cast, options, wanted$).begin();
};

/** A definition that was not called with its options has no name yet; the engine reports that. */
const nameOf = ({ name }: Strategy | Plugin): string => name;
