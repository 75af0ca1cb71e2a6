/**
 * A service that hands over the details of its run at the end.
 *
 * Invariants: without a receiver no details are kept; another kind of service is left as it is.
 * Not here: what details are (report/details.ts).
 */
import type { RunDetails } from "../report/details.ts";
import type { BacktestSpec } from "./backtest-service.ts";

/** A service with a receiver for the details of a run. */
export interface Detailed {
  readonly onDetails?: (details: RunDetails) => void;
}

/**
 * Adds a receiver for the details of a run to a config: fills, trades, equity and plotted values.
 *
 * @param config - a config; one whose service is not `backtest(…)` is left for the run to refuse
 * @param onDetails - called once, at the end of the run
 * @returns the config to give to `runBacktest`
 */
export const withDetails = (config: unknown, onDetails: (details: RunDetails) => void): unknown => {
  const { service } = (config ?? {}) as { readonly service?: Partial<BacktestSpec> };
  const { openWith } = service ?? {};
  if (service?.kind !== "backtest" || openWith === undefined) return config;
  const detailed: BacktestSpec["openWith"] = (env, overrides) => ({ ...openWith(env, overrides), onDetails });
  return { ...(config as object), service: { ...service, openWith: detailed } };
};
