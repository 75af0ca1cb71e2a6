/**
 * Options of a test, and what they come to: a config for the engine, an exchange, the instruments.
 */
import { readInstId } from "../../contract/inst-id.ts";
import type { Config } from "../../host/config.ts";
import type { Strategy } from "../../host/strategy.ts";
import { defaultStartAt, instrumentFor } from "../../market/tape/generate.ts";
import type { TapeInstrument } from "../../market/tape/tape.ts";
import { type EmbeddedOptions, embeddedService } from "../backtest-service.ts";
import { constant } from "../latency.ts";
import type { SimulatedOptions } from "../simulated-service.ts";

/** 2024-01-01T00:00:00Z: when every test begins. */
export const testStartAt = defaultStartAt;

/**
 * The exchange and the engine of a test. What is left out is as in a backtest, except that the way to the exchange and
 * back takes 10 ms each every time, and market data comes without delay.
 */
export interface TestOptions
  extends Omit<EmbeddedOptions, "fixture" | "fills">,
    Partial<
      Pick<Config, "orders" | "quota" | "profile" | "leverage" | "supervision" | "freshness" | "instance" | "seed">
    > {
  /**
   * Instruments: names, or names with their steps. Default: the instruments that the options of the strategies
   * name, else `BTC-USDT-SWAP`. Steps of a name alone: `0.1` and `0.001` for BTC, `0.01` and `0.01` for ETH and others.
   */
  readonly instruments?: readonly (
    | string
    | { readonly instId: string; readonly tickSize: string; readonly lotSize: string }
  )[];
  /** Effect on the next `advance` when the strategy or plugin under test has failed. Default `throw`. */
  readonly failures?: "throw" | "record";
}

interface TestSetup {
  readonly config: Omit<Config, "service" | "strategies" | "plugins">;
  readonly simulated: SimulatedOptions;
  readonly traded: readonly TapeInstrument[];
  /** True if a failure is part of the test. */
  readonly tolerant: boolean;
}

export const setupOf = (
  { instruments, failures, ...rest }: TestOptions,
  strategies: readonly Strategy[],
): TestSetup => {
  const { orders, quota, profile, leverage, supervision, freshness, instance, seed, ...embedded } = rest;
  const given = { orders, quota, profile, leverage, supervision, freshness, instance, seed };
  return {
    config: Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    simulated: embeddedService({ latency: constant(10, { feedMs: 0 }), ...embedded }, "test options"),
    tolerant: failures === "record",
    traded: instrumentsOf(instruments ?? namedBy(strategies)),
  };
};

const namedBy = (strategies: readonly Strategy[]): readonly string[] => {
  const named = strategies.flatMap(({ options }) => Object.values((options ?? {}) as object).filter(isProduct));
  return named.length === 0 ? ["BTC-USDT-SWAP"] : [...new Set(named)];
};

const isProduct = (value: unknown): value is string => typeof value === "string" && readInstId(value) !== undefined;

const instrumentsOf = (given: NonNullable<TestOptions["instruments"]>): readonly TapeInstrument[] =>
  given.map((one) => {
    const { instId, tickSize, lotSize } = typeof one === "string" ? instrumentFor(one) : one;
    return { instId, tickSize, lotSize };
  });
