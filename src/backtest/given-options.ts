/**
 * Adds options from another source, such as a command line, to the backtest of a config.
 *
 * Invariants: these options outrank the config's own; invalid ones are refused as in a config; another kind of service
 * is left for the run to refuse.
 * Not here: what the options mean (backtest-service.ts).
 */
import { type BacktestOptions, type BacktestSpec, backtest } from "./backtest-service.ts";

/** Options of a backtest that a command may give instead of the config. */
export type GivenOptions = Pick<BacktestOptions, "fills" | "warmUpMs">;

/**
 * The config with these options of its backtest; the same config where it has no backtest, or none is given.
 *
 * @param config - any
 * @param options - from the command line
 * @returns the config with them; the same config where it has no backtest, or none is given
 */
export const withOptions = (config: unknown, { fills, warmUpMs }: GivenOptions): unknown => {
  const { service } = (config ?? {}) as { readonly service?: Partial<BacktestSpec> };
  if (service?.kind !== "backtest" || service.options === undefined || (fills === undefined && warmUpMs === undefined))
    return config;
  const given = { ...(fills !== undefined && { fills }), ...(warmUpMs !== undefined && { warmUpMs }) };
  return { ...(config as object), service: backtest({ ...service.options, ...given }) };
};
