/**
 * Requests of a run as they leave and arrive: for the quota by minute, and for how long orders and cancels took.
 *
 * Invariants: reads only; a request that was not answered with 200 has no latency.
 */
import type { Contract } from "../contract/contract.ts";
import type { QuotaMinutes } from "../report/quota-minutes.ts";
import { latenciesOf, type RunReport } from "../report/report.ts";
import type { TradeStatistics } from "../report/trade-statistics.ts";
import type { OpenBacktest } from "./backtest-service.ts";

/**
 * Latency is from submission by the strategy to acceptance at the service: what an action waited, and its way there.
 */
export const watchSends = (
  { simulated, users }: OpenBacktest,
  { endpoints }: Contract,
  tally: TradeStatistics,
  counted: { readonly minutes: QuotaMinutes | undefined },
): (() => RunReport["latency"]) => {
  const uids = new Map(users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  const ms = { cancelBatch: [] as number[], placeOrder: [] as number[] };
  simulated.watchSends({
    waits: tally,
    arrived: ({ endpoint, key, waitedMs }, sentAt, at, status) => {
      const uid = key === undefined ? undefined : uids.get(key);
      counted.minutes?.arrived({ at, key, uid, weight: endpoints[endpoint].weight, status });
      if (status === 200 && (endpoint === "cancelBatch" || endpoint === "placeOrder"))
        ms[endpoint].push(Math.round(waitedMs + at - sentAt));
    },
  });
  return () => {
    const cancel = latenciesOf(ms.cancelBatch);
    return { p50: cancel.p50, p99: cancel.p99, cancel, place: latenciesOf(ms.placeOrder) };
  };
};
