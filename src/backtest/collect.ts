/**
 * Collects what a run did into its report.
 *
 * Invariants: only listens; prices at the end are the embedded service's own where it holds a position, so that what the
 * strategies made adds up to what the account made.
 * Not here: counting (tally.ts), the report's shape and arithmetic (report.ts).
 */
import { type Contract, createContract } from "../contract/contract.ts";
import { layers } from "../contract/limits.ts";
import { add, div, isPositive, sub, sum } from "../decimal.ts";
import type { Engine } from "../engine.ts";
import type { CheckedConfig } from "../host/config.ts";
import { type AskedWatch, watchAsked } from "./asked.ts";
import { coverageOf } from "./coverage.ts";
import { type Detailed, type DetailsRecorder, recordDetails } from "./details.ts";
import { lastPrices } from "./last-prices.ts";
import { createQuotaMinutes, overTime, type QuotaMinute, type QuotaMinutes, type WaitedFor, waitedFor } from "./quota-minutes.ts";
import { drawdownOf, type EquityPoint, hashOf, latenciesOf, type RunReport, type StrategyReport, thin, waitsOf } from "./report.ts";
import { createResting, type Resting } from "./resting.ts";
import type { BacktestSpec, OpenBacktest } from "./service.ts";
import { currencyOf } from "./simulated.ts";
import { createTally, type Tally } from "./tally.ts";
import { createReasons, type Reasons } from "./turned-down.ts";
import { yearlyOf } from "./yearly.ts";

export interface Collector {
  /** Notes the equity at an instant. */
  readonly sample: (at: number) => void;
  readonly report: (seed: string, wallMs: number) => RunReport;
}

/** Everything that listened. */
interface Heard {
  readonly tally: Tally;
  readonly reasons: Reasons;
  readonly minutes: QuotaMinutes;
  readonly asked: AskedWatch;
  readonly resting: Resting;
  readonly latency: () => RunReport["latency"];
}

export const createCollector = (engine: Engine, service: OpenBacktest & Detailed, config: CheckedConfig): Collector => {
  const heard = listen(engine, service, config);
  const equity: EquityPoint[] = [];
  const recorder = service.onDetails && recordDetails(service, engine.updates$, heard.tally.ownerOf);
  return {
    sample: (at) => {
      equity.push({ at: Math.round(at), equity: sum(service.users.map(({ uid }) => service.simulated.venue.equity(uid))) });
    },
    report: (seed, wallMs) => {
      const { startAt, endAt } = service.tape;
      const minutes = heard.minutes.minutes(startAt, endAt);
      const report: Omit<RunReport, "resultHash" | "wallMs"> = {
        fixture: fixtureOf(service),
        seed,
        events: heard.tally.events(),
        virtualMs: Math.round(endAt - startAt),
        ...tradedOf(heard, service, equity),
        quota: quotaOf(service, heard.tally, minutes),
        latency: heard.latency(),
        perStrategy: strategiesOf(engine, service, config, heard),
        turnedDown: heard.reasons.list(),
        turnedDownMore: heard.reasons.more(),
        coverage: coverageOf(service.tape, heard.asked.list()),
        assumptions: assumptionsOf(service),
      };
      tellDetails(service, recorder, equity, minutes);
      return { resultHash: hashOf(report), wallMs, ...report };
    },
  };
};

const tellDetails = (
  { onDetails }: Detailed,
  recorder: DetailsRecorder | undefined,
  equity: readonly EquityPoint[],
  minutes: readonly QuotaMinute[],
): void => {
  if (onDetails !== undefined && recorder !== undefined) onDetails(recorder.details({ equity, minutes }));
};

const listen = (engine: Engine, service: OpenBacktest, config: CheckedConfig): Heard => {
  const { simulated, tape } = service;
  const contract = createContract(config.profile);
  const tally = createTally(
    config.strategies.map(({ name }) => name),
    currencyOf(tape),
  );
  const reasons = createReasons();
  const minutes = createQuotaMinutes((config.service as Partial<BacktestSpec>).options?.skewMs ?? 0);
  const asked = watchAsked(simulated.feed);
  const resting = createResting(contract.profile);
  for (const { onEvent } of [tally, reasons, minutes, asked]) engine.events$.subscribe(onEvent);
  simulated.fills$.subscribe(tally.onFill);
  simulated.venue.onOrder((_, record) => {
    resting.onOrder(record);
  });
  return { tally, reasons, minutes, asked, resting, latency: watchSends(service, contract, tally, minutes) };
};

/** Orders and money of the account. */
const tradedOf = ({ tally, resting }: Heard, service: OpenBacktest, equity: readonly EquityPoint[]) => {
  const [first, last] = [equity[0], equity[equity.length - 1]] as [EquityPoint, EquityPoint];
  const [currency, marks] = [currencyOf(service.tape), marksOf(service)];
  const positions = tally.positions(marks);
  const [pnl, fees, volume] = [sub(last.equity, first.equity), tally.fees(), tally.volume()];
  const unrealised = sum(positions.map((position) => position.unrealised));
  const realised = tally.realised();
  const yearly = yearlyOf(equity, service.tape.endAt - service.tape.startAt);
  return {
    orders: {
      placed: tally.total("placed"),
      canceled: tally.total("canceled"),
      filled: tally.total("filled"),
      rejected: tally.total("rejected"),
      refused: tally.total("refused"),
    },
    fills: tally.total("fills"),
    open: resting.of(currency, () => true),
    volume,
    turnover: isPositive(first.equity) ? div(volume, first.equity, 4) : "0",
    pnl,
    fees,
    realised,
    unrealised,
    elsewhere: sub(pnl, sub(add(realised, unrealised), fees)),
    liquidity: tally.liquidity(),
    roundTrips: tally.roundTrips(),
    positions,
    currency,
    equity: thin(equity),
    drawdown: drawdownOf(equity),
    ...(yearly && { yearly }),
  };
};

const strategiesOf = (
  engine: Engine,
  service: OpenBacktest,
  { strategies }: CheckedConfig,
  { tally, resting }: Heard,
): Readonly<Record<string, StrategyReport>> => {
  const [currency, marks] = [currencyOf(service.tape), marksOf(service)];
  return Object.fromEntries(
    strategies.map(({ name }) => [
      name,
      {
        ...tally.of(name, marks),
        open: resting.of(currency, (clOrdId) => tally.ownerOf(clOrdId) === name),
        ...(engine.strategies.get(name) ?? { state: "running" as const }),
      },
    ]),
  );
};

/** Latency is from submission by the strategy to acceptance at the service: what an action waited, and its way there. */
const watchSends = (
  { simulated, clock, users }: OpenBacktest,
  { endpoints }: Contract,
  tally: Tally,
  minutes: QuotaMinutes,
): (() => RunReport["latency"]) => {
  const uids = new Map(users.flatMap(({ uid, keys }) => keys.map(({ name }) => [name, uid] as const)));
  const ms = { cancelBatch: [] as number[], placeOrder: [] as number[] };
  simulated.watchSends(({ endpoint, key }) => {
    const sentAt = clock.now();
    const waited = tally.lastWaitMs();
    return (arrivedAt, status) => {
      const uid = key === undefined ? undefined : uids.get(key);
      minutes.arrived({ at: arrivedAt, key, uid, weight: endpoints[endpoint].weight, status });
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
  const positions = users.flatMap(({ uid }) => simulated.venue.holdings(uid).positions);
  const held = positions.filter(({ markPx = "" }) => markPx !== "");
  return new Map([...lastPrices(tape), ...held.map(({ instId, markPx = "0" }) => [instId, markPx] as const)]);
};

const fixtureOf = ({ fixture, tape }: OpenBacktest): RunReport["fixture"] => ({
  ...fixture,
  startAt: new Date(tape.startAt).toISOString(),
  endAt: new Date(tape.endAt).toISOString(),
  rows: tape.length,
});

const quotaOf = ({ simulated, limits }: OpenBacktest, tally: Tally, minutes: readonly QuotaMinute[]): RunReport["quota"] => {
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
    waitedMs: Object.fromEntries(waitedFor.map((layer) => [layer, waitedOf(minutes, layer)])) as Record<WaitedFor, number>,
    overTime: overTime(minutes),
  };
};

const waitedOf = (minutes: readonly QuotaMinute[], layer: WaitedFor): number =>
  Math.round(minutes.reduce((total, { waitedMs }) => total + waitedMs[layer], 0));

const assumptionsOf = ({ assumptions, limits }: OpenBacktest): readonly string[] => {
  const { ip, uid, key } = layers;
  const kept = `limits: ip ${ip.capacity} and user weight ${uid.capacity} a minute, ${key.capacity} requests a second and key`;
  return [...assumptions, limits ? kept : "no limits: the service enforces none and the engine keeps none"];
};
