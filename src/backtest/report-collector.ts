/**
 * Collects what a run did into its report.
 *
 * Invariants: reads only; prices at the end are the embedded service's own for open positions, so that the results of
 * the strategies add up to that of the account.
 * Not here: counting (report/trade-statistics.ts), the report's shape and arithmetic (report/report.ts).
 */

import type { Assumption } from "../contract/assumption.ts";
import { createContract } from "../contract/contract.ts";
import type { Engine } from "../engine/engine.ts";
import type { CheckedConfig } from "../host/config.ts";
import { coverageOf } from "../report/coverage.ts";
import { type DetailsRecorder, recordDetails } from "../report/details.ts";
import { RestingOrders } from "../report/open-orders.ts";
import type { PlotRecorder } from "../report/plot-recorder.ts";
import { priceExtremes } from "../report/price-extremes.ts";
import { overTime, type QuotaMinute, QuotaMinutes, waitedIn } from "../report/quota-minutes.ts";
import { hashOf, type RunReport, type StrategyReport } from "../report/report.ts";
import type { RequestedData } from "../report/requested-data.ts";
import { isAnnualised, returnSeries } from "../report/return-series.ts";
import { describedLimitsText, tradesAssumption, yearsAssumption } from "../report/run-assumptions.ts";
import { type RateOf, TradeStatistics } from "../report/trade-statistics.ts";
import { tradedIn } from "../report/traded.ts";
import { VolumeCuts } from "../report/volume-cuts.ts";
import { warningsOf } from "../report/warnings.ts";
import type { MeterReport } from "../venue/venue.ts";
import type { BacktestSpec, OpenBacktest } from "./backtest-service.ts";
import { conversionRates } from "./conversion.ts";
import { type EndMarks, endMarks } from "./end-marks.ts";
import { EquitySamples } from "./equity-samples.ts";
import { watchSends } from "./sent-requests.ts";
import type { Detailed } from "./with-details.ts";

export interface ReportCollector {
  /** Called at the end of the warm-up, if there is one. Events are counted from here on. */
  readonly begin: () => void;
  /** Records the equity at an instant. Returns the gain since the first one. */
  readonly sample: (at: number) => string;
  readonly report: (seed: string, wallMs: number) => RunReport;
}

/** Everything that was collected. */
interface Heard {
  readonly tally: TradeStatistics;
  readonly minutes: QuotaMinutes;
  readonly asked: RequestedData;
  readonly resting: RestingOrders;
  readonly cuts: VolumeCuts;
  readonly rateOf: RateOf;
  readonly latency: () => RunReport["latency"];
  /** Begins the time that counts. */
  readonly begin: () => void;
  /** Counts of the service before. */
  readonly before: () => MeterReport | undefined;
}

export const createReportCollector = (
  engine: Engine,
  service: OpenBacktest & Detailed,
  config: CheckedConfig,
  asked: RequestedData,
  plots: PlotRecorder,
): ReportCollector => {
  const heard = listen(engine, service, config, asked);
  const samples = new EquitySamples(service, heard.tally);
  const recorder =
    service.onDetails && recordDetails(service, engine, (clOrdId) => heard.tally.ownerOf(clOrdId), plots);
  return {
    begin: heard.begin,
    sample: (at) => {
      samples.take(at);
      return samples.change;
    },
    report: (seed, wallMs) => {
      const { startAt, endAt } = service.tape;
      const marks = endMarks(service);
      const { currency, tradesAt } = service;
      const resting = heard.resting.of(heard.rateOf, () => true);
      const traded = tradedIn({
        tally: heard.tally,
        samples,
        currency,
        prices: marks,
        ms: endAt - tradesAt,
        open: resting,
      });
      const cuts = heard.cuts.list();
      const gapFills = service.simulated.venue.waited();
      const told: Omit<RunReport, "resultHash" | "wallMs" | "warnings"> = {
        fixture: fixtureOf(service),
        seed,
        events: heard.tally.events,
        virtualMs: Math.round(endAt - startAt),
        ...traded,
        quota: quotaOf(service, heard, heard.minutes.used(service.tradesAt, endAt)),
        latency: heard.latency(),
        perStrategy: strategiesOf(engine, heard, marks),
        turnedDown: heard.tally.reasons.list(),
        turnedDownMore: heard.tally.reasons.more(),
        ...(cuts.length > 0 && { volumeCuts: cuts }),
        ...(Object.keys(gapFills).length > 0 && { gapFills }),
        coverage: coverageOf(service.tape, heard.asked.list(), service.tradesAt),
        assumptions: [...assumptionsOf(service), ...isolationOf(config)],
      };
      const report = { ...told, warnings: warningsOf(told) };
      tellDetails(service, recorder, samples, heard, marks);
      return { resultHash: hashOf(report), wallMs, ...report };
    },
  };
};

const tellDetails = (
  service: OpenBacktest & Detailed,
  recorder: DetailsRecorder | undefined,
  samples: EquitySamples,
  { tally, minutes }: Heard,
  marks: EndMarks,
): void => {
  const { onDetails, tradesAt, tape } = service;
  if (onDetails === undefined || recorder === undefined) return;
  const { benchmark } = samples;
  onDetails(
    recorder.details({
      equity: samples.equity,
      minutes: minutes.minutes(tradesAt, tape.endAt),
      trades: tally.tradeLists(marks, priceExtremes(tape)),
      strategies: samples.strategies,
      exposure: samples.exposure,
      ...(benchmark && { benchmark }),
      returns: returnSeries(samples.equity, tape.endAt - tradesAt),
    }),
  );
};

const listen = (
  engine: Engine,
  service: OpenBacktest & Detailed,
  config: CheckedConfig,
  asked: RequestedData,
): Heard => {
  const { simulated, tape } = service;
  const contract = createContract(config.profile);
  const names = config.strategies.map(({ name }) => name);
  const { currency, tradesAt } = service;
  const rateOf = conversionRates(tape, simulated.venue, currency);
  const listsTrades = service.onDetails !== undefined;
  const tally = new TradeStatistics(names, {
    currency,
    fromAt: tradesAt,
    untilAt: tape.endAt,
    keepsLots: listsTrades,
    keepsTrades: listsTrades,
    rateOf,
  });
  const minutes = new QuotaMinutes((config.service as Partial<BacktestSpec>).options?.skewMs ?? 0);
  asked.watch(simulated.feed);
  const resting = new RestingOrders(contract.profile);
  const { filledBy, venue } = simulated;
  const cuts = new VolumeCuts(
    contract.profile,
    (instId) => filledBy.isCut(instId),
    (instId) => venue.markPx(instId),
  );
  // In a warm-up only the requested data counts, because it is requested at the start.
  const counted: { minutes: QuotaMinutes | undefined } = { minutes: undefined };
  let before: MeterReport | undefined;
  const count = (): void => {
    counted.minutes = minutes;
    engine.log.attach(tally.onEvent.bind(tally));
    engine.log.on(["action.held", "action.sent"], minutes.onEvent.bind(minutes));
  };
  if (service.tradesAt === tape.startAt) count();
  const begin = (): void => {
    if (counted.minutes !== undefined) return;
    before = simulated.venue.meterReport();
    count();
  };
  const { clock } = service;
  simulated.venue.onFill((fill) => tally.onFill(fill, clock.now()));
  simulated.venue.onFunding((funding) => tally.onFunding(funding));
  simulated.venue.onLiquidation((liquidation) => tally.onLiquidation(liquidation));
  simulated.venue.onOrder((_, record) => {
    resting.onOrder(record);
    cuts.onOrder(record);
  });
  const latency = watchSends(service, contract, tally, counted);
  return { tally, minutes, asked, resting, cuts, rateOf, latency, begin, before: () => before };
};

const strategiesOf = (
  engine: Pick<Engine, "strategies">,
  { tally, resting, rateOf }: Heard,
  marks: EndMarks,
): Readonly<Record<string, StrategyReport>> =>
  Object.fromEntries(
    engine.strategies().map(({ name, state, error }) => [
      name,
      {
        ...tally.of(name, marks),
        open: resting.of(rateOf, (clOrdId) => tally.ownerOf(clOrdId) === name),
        // In a run that ended before its strategies began they count as running.
        state: state === "starting" ? "running" : state,
        ...(error !== undefined && { error }),
      },
    ]),
  );

const fixtureOf = ({ fixture, tape }: OpenBacktest): RunReport["fixture"] => ({
  ...fixture,
  startAt: new Date(tape.startAt).toISOString(),
  endAt: new Date(tape.endAt).toISOString(),
  rows: tape.length,
});

/** Peaks are those of the whole run, because reads in a warm-up weigh next to nothing. */
const quotaOf = (
  { simulated, limits }: OpenBacktest,
  { tally, before }: Heard,
  minutes: readonly QuotaMinute[],
): RunReport["quota"] => {
  const { requests, weight, refused, blockedMinutes, peak } = simulated.venue.meterReport();
  const earlier = before();
  return {
    limits,
    requests: requests - (earlier?.requests ?? 0),
    weight: weight - (earlier?.weight ?? 0),
    rejected429: refused.ip + refused.key + refused.uid,
    blockedMinutes,
    perLayerPeak: peak,
    heldMs: tally.waits.report,
    reserveUsed: tally.reserveUsed,
    waitedMs: waitedIn(minutes),
    overTime: overTime(minutes),
  };
};

/** Threads answer at varying times, so runs could not be repeated. */
const isolationOf = ({ strategies }: CheckedConfig): readonly Assumption[] => {
  const names = strategies.filter(({ isolation }) => isolation !== undefined).map(({ name }) => name);
  if (names.length === 0) return [];
  const consequence = "run in the same thread here, so that the run can be repeated";
  return [{ what: "Isolated strategies", value: names.join(", "), consequence }];
};

const assumptionsOf = ({ assumptions, limits, tape, tradesAt }: OpenBacktest): readonly Assumption[] => [
  ...assumptions,
  limits
    ? { what: "Limits", value: describedLimitsText, consequence: "calls wait for their turn as they would live" }
    : { what: "Limits", value: "none", consequence: "the service enforces none and the engine keeps none" },
  tradesAssumption,
  ...(isAnnualised(tape.endAt - tradesAt) ? [yearsAssumption] : []),
];
