/**
 * Collects what a run did into its report.
 *
 * Invariants: only listens; prices at the end are the embedded service's own where it holds a position, so that what the
 * strategies made adds up to what the account made.
 * Not here: counting (tally.ts), the report's shape and arithmetic (report.ts).
 */
import { layers } from "../contract/limits.ts";
import { sub, sum } from "../decimal.ts";
import type { Engine } from "../engine.ts";
import type { CheckedConfig } from "../host/define.ts";
import { lastPrices } from "./last-prices.ts";
import { drawdownOf, type EquityPoint, hashOf, latenciesOf, type RunReport, type StrategyReport, thin, waitsOf } from "./report.ts";
import type { OpenBacktest } from "./service.ts";
import { currencyOf } from "./simulated.ts";
import { createTally, type Tally } from "./tally.ts";
import { createReasons } from "./turned-down.ts";

export interface Collector {
  /** Notes the equity at an instant. */
  readonly sample: (at: number) => void;
  readonly report: (seed: string, wallMs: number) => RunReport;
}

export const createCollector = (engine: Engine, service: OpenBacktest, config: CheckedConfig): Collector => {
  const { simulated, tape } = service;
  const tally = createTally(
    config.strategies.map(({ name }) => name),
    currencyOf(tape),
  );
  const equity: EquityPoint[] = [];
  const reasons = createReasons();
  engine.events$.subscribe(tally.onEvent);
  engine.events$.subscribe(reasons.onEvent);
  simulated.fills$.subscribe(tally.onFill);
  const latency = watchLatency(service, tally);

  const perStrategy = (): Record<string, StrategyReport> => {
    const marks = marksOf(service);
    return Object.fromEntries(
      config.strategies.map(({ name }) => [
        name,
        { ...tally.of(name, marks), ...(engine.strategies.get(name) ?? { state: "running" as const }) },
      ]),
    );
  };
  return {
    sample: (at) => {
      equity.push({ at, equity: sum(service.users.map(({ uid }) => simulated.venue.equity(uid))) });
    },
    report: (seed, wallMs) => {
      const [first, last] = [equity[0], equity[equity.length - 1]] as [EquityPoint, EquityPoint];
      const { placed, canceled, filled, rejected, refused, fills } = Object.fromEntries(
        (["placed", "canceled", "filled", "rejected", "refused", "fills"] as const).map((what) => [what, tally.total(what)]),
      ) as Record<"placed" | "canceled" | "filled" | "rejected" | "refused" | "fills", number>;
      const report: Omit<RunReport, "resultHash" | "wallMs"> = {
        fixture: fixtureOf(service),
        seed,
        events: tally.events(),
        virtualMs: Math.round(tape.endAt - tape.startAt),
        orders: { placed, canceled, filled, rejected, refused },
        fills,
        volume: tally.volume(),
        pnl: sub(last.equity, first.equity),
        fees: tally.fees(),
        currency: currencyOf(tape),
        quota: quotaOf(service, tally),
        latency: latency(),
        perStrategy: perStrategy(),
        turnedDown: reasons.list(),
        equity: thin(equity.map(({ at, equity: value }) => ({ at: Math.round(at), equity: value }))),
        drawdown: drawdownOf(equity),
        assumptions: assumptionsOf(service),
      };
      return { resultHash: hashOf(report), wallMs, ...report };
    },
  };
};

/** From submission by the strategy to acceptance at the service: what an action waited, and its way there. */
const watchLatency = ({ simulated, clock }: OpenBacktest, tally: Tally): (() => RunReport["latency"]) => {
  const ms = { cancelBatch: [] as number[], placeOrder: [] as number[] };
  simulated.watchSends(({ endpoint }) => {
    const sentAt = clock.now();
    const waited = tally.lastWaitMs();
    return (arrivedAt, status) => {
      if (status === 200 && (endpoint === "cancelBatch" || endpoint === "placeOrder")) {
        ms[endpoint].push(Math.round(waited + arrivedAt - sentAt));
      }
    };
  });
  return () => {
    const cancel = latenciesOf(ms.cancelBatch);
    return { p50: cancel.p50, p99: cancel.p99, cancel, place: latenciesOf(ms.placeOrder) };
  };
};

const marksOf = ({ simulated, tape, users }: OpenBacktest): ReadonlyMap<string, string> => {
  const positions = users.flatMap(({ uid }) => simulated.venue.truth(uid).positions);
  const held = positions.filter(({ markPx = "" }) => markPx !== "");
  return new Map([...lastPrices(tape), ...held.map(({ instId, markPx = "0" }) => [instId, markPx] as const)]);
};

const fixtureOf = ({ fixture, tape }: OpenBacktest): RunReport["fixture"] => ({
  ...fixture,
  startAt: new Date(tape.startAt).toISOString(),
  endAt: new Date(tape.endAt).toISOString(),
  rows: tape.length,
});

const quotaOf = ({ simulated, limits }: OpenBacktest, tally: Tally): RunReport["quota"] => {
  const { requests, weight, refused, blockedMinutes, peak } = simulated.venue.meterReport();
  return {
    limits,
    requests,
    weight,
    rejected429: refused.ip + refused.key + refused.uid,
    blockedMinutes,
    perLayerPeak: peak,
    heldMs: waitsOf(tally.waits.map(Math.round)),
    reserveUsed: tally.reserveUsed(),
  };
};

const assumptionsOf = ({ assumptions, limits }: OpenBacktest): readonly string[] => {
  const { ip, uid, key } = layers;
  const kept = `limits: ip ${ip.capacity} and user weight ${uid.capacity} a minute, ${key.capacity} requests a second and key`;
  return [...assumptions, limits ? kept : "no limits: the service enforces none and the engine keeps none"];
};
