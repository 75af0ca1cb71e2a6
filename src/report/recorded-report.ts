/**
 * Report of a run from what was recorded of it, as a backtest makes it: the same counting over its fills.
 *
 * Invariants: trades, profit and fees come from the fills alone, by the code that counts for backtests; what is not
 * recorded (the market, peaks of the service's own count, latency) is left empty and listed.
 * Not here: where records are kept (plugins/sqlite).
 */
import type { Assumption } from "../contract/assumption.ts";
import { div, isPositive, sub, sum } from "../decimal.ts";
import type { Event } from "../journal/events.ts";
import type { Fill } from "../venue/venue.ts";
import { noDetails, type RunDetails } from "./details.ts";
import { drawdownOf, type EquityPoint, thin } from "./equity.ts";
import { exposureReport } from "./portfolio.ts";
import { overTime, peaksIn, QuotaMinutes, waitedIn } from "./quota-minutes.ts";
import { type RecordedMark, Samples } from "./recorded-samples.ts";
import { hashOf, latenciesOf, type RunReport, type StrategyReport } from "./report.ts";
import { returnSeries } from "./return-series.ts";
import { returnsOf } from "./returns.ts";
import { TradeStatistics } from "./trade-statistics.ts";
import { orderCounts } from "./traded.ts";
import { warningsOf } from "./warnings.ts";

/**
 * A fill of a strategy. `liquidity` is empty where it is not known; `cost` is the fee as a cost, and `fee` as the
 * service signs it.
 */
export interface RecordedFill extends Omit<Fill, "uid" | "liquidity"> {
  readonly strategy: string;
  /** Settle or quote currency. */
  readonly currency: string;
  readonly liquidity: "maker" | "taker" | "";
}

/** Records of a run between two instants (milliseconds since the epoch, both included), each list in order of time. */
interface RunRecords {
  /** Source of the events, for the report: a file. */
  readonly name: string;
  readonly from: number;
  readonly to: number;
  readonly events: readonly Event[];
  readonly fills: readonly RecordedFill[];
  /** Fills before `from`, of which positions are held. */
  readonly before: readonly RecordedFill[];
  /** Prices, also those in force at `from`. */
  readonly marks: readonly RecordedMark[];
  /** Orders that rest at `to`. */
  readonly open: readonly { readonly strategy: string }[];
}

/** Options of `reportOf`. */
export interface RecordedReportOptions {
  /** Currency of all money. Default: that of most fills. */
  readonly currency?: string;
  /** Equity at the beginning, for returns and percentages. Default "10000". */
  readonly capital?: string;
}

/**
 * Makes the report of a run from its records. What was held at the beginning counts as traded there at its average
 * price.
 *
 * @param records - orders and fills of the run
 * @param options - currency and capital
 * @returns the report and its details
 */
export const reportOf = (
  records: RunRecords,
  { currency: asked, capital = "10000" }: RecordedReportOptions = {},
): { readonly report: RunReport; readonly details: RunDetails } => {
  const { from, to, events, fills, before } = records;
  const currency = asked ?? commonest(fills.map((fill) => fill.currency)) ?? "USDT";
  const names = strategiesOf(records);
  const counted = { currency, fromAt: from, untilAt: to, keepsLots: true };
  const tally = new TradeStatistics(names, counted);
  const samples = new Samples(tally, capital);
  const heard = listen(events, tally);
  const held = carried(tally, names, before, counted);
  replay(records, tally, samples);
  const marks = samples.prices;
  const report = reported({ records, names, currency, capital, tally, samples, heard, marks, held });
  const details = {
    ...noDetails(samples.equity),
    trades: tally.tradeLists(marks, () => undefined),
    strategies: names.map((strategy) => ({ strategy, points: samples.ofStrategy(strategy) })),
    exposure: samples.exposure,
    minutes: heard.minutes.minutes(from, to),
    returns: returnSeries(samples.equity, to - from),
  };
  return { report, details };
};

const commonest = (values: readonly string[]): string | undefined => {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1])[0]?.[0];
};

const strategiesOf = ({ events, fills, before }: RunRecords): readonly string[] => [
  ...new Set([
    ...events.flatMap((event) => ("strategy" in event && event.strategy !== "" ? [event.strategy] : [])),
    ...[...before, ...fills].map(({ strategy }) => strategy),
  ]),
];

/** Counts orders and calls from events. */
const listen = (events: readonly Event[], tally: TradeStatistics) => {
  const minutes = new QuotaMinutes(0);
  const calls = { requests: 0, weight: 0, refused: 0 };
  for (const event of events) {
    tally.onEvent(event);
    minutes.onEvent(event);
    if (event.type === "action.sent") {
      calls.requests++;
      calls.weight += event.weight;
      minutes.arrived({ at: event.at, key: event.key, uid: "", weight: event.weight, status: 200 });
    }
    if (event.type === "action.answered" && event.status === 429) calls.refused++;
  }
  return { minutes, calls };
};

/** Each names its strategy: the fills of one close of the account's position may belong to several. */
const take = (tally: TradeStatistics, { strategy, liquidity, currency: _currency, ...fill }: RecordedFill): void => {
  // Records of limit orders do not contain it.
  tally.onFill({ ...fill, uid: "", liquidity: liquidity === "taker" ? "taker" : "maker" }, fill.at, strategy);
};

/**
 * Holdings at the beginning count as bought there at its average price, without a fee; how many positions that
 * were.
 */
const carried = (
  tally: TradeStatistics,
  names: readonly string[],
  before: readonly RecordedFill[],
  counted: ConstructorParameters<typeof TradeStatistics>[1],
): number => {
  const earlier = new TradeStatistics(names, counted);
  for (const fill of before) take(earlier, fill);
  const held = earlier.positions(new Map());
  for (const { strategy, instId, qty, averagePx } of held) {
    const clOrdId = `held ${strategy} ${instId}`;
    const [side, size] = isPositive(qty) ? (["buy", qty] as const) : (["sell", sub("0", qty)] as const);
    const fill: Fill = {
      uid: "",
      instId,
      ordId: clOrdId,
      clOrdId,
      side,
      px: averagePx,
      qty: size,
      fee: "0",
      cost: "0",
      liquidity: "maker",
      at: counted.fromAt,
    };
    tally.onFill(fill, fill.at, strategy);
  }
  return held.length;
};

/** Fills and marks in the order of time, with a sample at each instant of marks. */
const replay = ({ fills, marks, from, to }: RunRecords, tally: TradeStatistics, samples: Samples): void => {
  let next = 0;
  for (const mark of marks.filter(({ at }) => at <= from)) samples.mark(mark);
  samples.take(from);
  const later = marks.filter(({ at }) => at > from);
  for (const fill of fills) {
    for (let mark = later[next]; mark !== undefined && mark.at < fill.at; mark = later[++next]) samples.markAt(mark);
    take(tally, fill);
    samples.priced(fill.instId, fill.px);
  }
  for (const mark of later.slice(next)) samples.markAt(mark);
  samples.take(to);
};

interface Counted {
  readonly records: RunRecords;
  readonly names: readonly string[];
  readonly currency: string;
  readonly capital: string;
  readonly tally: TradeStatistics;
  readonly samples: Samples;
  readonly heard: ReturnType<typeof listen>;
  readonly marks: ReadonlyMap<string, string>;
  readonly held: number;
}

/** Their sizes are in the service's units, which records do not explain. */
const restingOf = (orders: RunRecords["open"]): StrategyReport["open"] => ({ count: orders.length, notional: "0" });

const reported = (counted: Counted): RunReport => {
  const { records: span, names, currency, tally, samples, heard, marks } = counted;
  const ms = span.to - span.from;
  const { equity } = samples;
  const [first, last] = [equity[0], equity.at(-1)] as [EquityPoint, EquityPoint];
  const positions = tally.positions(marks);
  const minutes = heard.minutes.used(span.from, span.to);
  const returns = returnsOf(equity, ms);
  const told: Omit<RunReport, "resultHash" | "wallMs" | "warnings"> = {
    fixture: {
      name: span.name,
      contentHash: "",
      startAt: new Date(span.from).toISOString(),
      endAt: new Date(span.to).toISOString(),
      rows: span.events.length,
    },
    seed: "",
    events: tally.events,
    virtualMs: ms,
    orders: orderCounts(tally),
    fills: tally.total("fills"),
    open: restingOf(span.open),
    volume: tally.volume,
    turnover: isPositive(first.equity) ? div(tally.volume, first.equity, 4) : "0",
    pnl: sub(last.equity, first.equity),
    fees: tally.fees,
    realised: tally.realised,
    unrealised: sum(positions.map((position) => position.unrealised)),
    elsewhere: "0",
    liquidity: tally.liquidity,
    trades: tally.trades(marks),
    positions,
    perInstrument: tally.instruments(marks),
    exposure: exposureReport(samples.exposure),
    currency,
    equity: thin(equity),
    drawdown: drawdownOf(equity),
    ...(returns && { returns }),
    quota: {
      limits: true,
      ...{
        requests: heard.calls.requests,
        weight: heard.calls.weight,
        rejected429: heard.calls.refused,
        blockedMinutes: 0,
      },
      perLayerPeak: peaksIn(minutes),
      heldMs: tally.waits.report,
      reserveUsed: tally.reserveUsed,
      waitedMs: waitedIn(minutes),
      overTime: overTime(minutes),
    },
    latency: { p50: 0, p99: 0, cancel: latenciesOf([]), place: latenciesOf([]) },
    perStrategy: Object.fromEntries(names.map((name) => [name, strategyOf(counted, name)])),
    turnedDown: tally.reasons.list(),
    turnedDownMore: tally.reasons.more(),
    coverage: { gapMs: 0, series: [], missing: [] },
    assumptions: assumptionsOf(counted),
  };
  const report = { ...told, warnings: warningsOf(told) };
  return { resultHash: hashOf(report), wallMs: 0, ...report };
};

const strategyOf = ({ tally, marks, records: span }: Counted, name: string): StrategyReport => {
  const failed = span.events.findLast((event) => event.type === "strategy.failed" && event.strategy === name);
  const restarted = span.events.findLast((event) => event.type === "strategy.restarted" && event.strategy === name);
  const isFailed = failed !== undefined && (restarted === undefined || restarted.at < failed.at);
  return {
    ...tally.of(name, marks),
    open: restingOf(span.open.filter(({ strategy }) => strategy === name)),
    state: isFailed ? "failed" : "running",
    ...(isFailed && failed.type === "strategy.failed" && { error: failed.message }),
  };
};

const assumptionsOf = ({ records: span, currency, capital, held }: Counted): readonly Assumption[] => {
  const others = span.fills.filter((fill) => fill.currency !== currency).length;
  const untold = span.fills.filter(({ liquidity }) => liquidity === "").length;
  return [
    {
      what: "Results",
      value: `from the fills that the engine stored, returns on a capital of ${capital} ${currency}`,
      consequence: "held positions are valued at the last price stored",
    },
    {
      what: "Funding and liquidations",
      value: "not stored",
      consequence: "they are in no figure",
    },
    { what: "Requests", value: "counted by this engine", consequence: "the service may have counted more" },
    {
      what: "Trades",
      value: "from flat to flat, after fees",
      consequence: "prices between fills are not stored: the furthest moves of a trade are those of its own fills",
    },
    ...(span.open.length === 0
      ? []
      : [{ what: "Resting orders", value: "counted", consequence: "they are not valued" }]),
    ...(held === 0
      ? []
      : [
          {
            what: "Holdings at the start",
            value: `${held} positions`,
            consequence: "they count as traded at the beginning, at their average price",
          },
        ]),
    ...(untold === 0
      ? []
      : [{ what: "Fills without a side of the book", value: String(untold), consequence: "they count as makers" }]),
    ...(others === 0
      ? []
      : [{ what: "Fills in another currency", value: String(others), consequence: "they are counted, not valued" }]),
  ];
};
