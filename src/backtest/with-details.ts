/**
 * A service whose run tells its details at the end, to whoever asked.
 *
 * Invariants: a service that is not asked keeps none; another kind of service is left as it is.
 * Not here: what details are (report/details.ts).
 */
import type { RunDetails } from "../report/details.ts";
import type { BacktestSpec } from "./backtest-service.ts";

/** A service whose runs are told in detail. */
export interface Detailed {
  readonly onDetails?: (details: RunDetails) => void;
}

/** The config with a service that tells `onDetails` at the end of a run; another kind of service is left for the run to refuse. */
export const withDetails = (config: unknown, onDetails: (details: RunDetails) => void): unknown => {
  const { service } = (config ?? {}) as { readonly service?: Partial<BacktestSpec> };
  const { openWith } = service ?? {};
  if (service?.kind !== "backtest" || openWith === undefined) return config;
  const detailed: BacktestSpec["openWith"] = (env, overrides) => ({ ...openWith(env, overrides), onDetails });
  return { ...(config as object), service: { ...service, openWith: detailed } };
};
