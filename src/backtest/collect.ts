/**
 * Collects what a run did into its report.
 *
 * Invariants: only listens; sums are exact decimals; counts come from the journal and money from the service's own fills, so the
 * report cannot repeat an opinion the engine has of itself.
 */
import { layers } from "../contract/limits.ts";
import { add, mul, neg, sub } from "../decimal.ts";
import type { Engine } from "../engine.ts";
import type { CheckedConfig } from "../host/define.ts";
import type { ActionClass, Event } from "../journal/events.ts";
import type { Fill } from "../venue/venue.ts";
import { lastPrices } from "./last-prices.ts";
import { drawdownOf, type EquityPoint, hashOf, latenciesOf, type RunReport, type StrategyReport, thin, waitsOf } from "./report.ts";
import type { OpenBacktest } from "./service.ts";

export interface Collector {
  /** Notes the equity at an instant. */
  sample(at: number): void;
  report(seed: string, wallMs: number): RunReport;
}

interface Sums {
  placed: number;
  canceled: number;
  filled: number;
  rejected: number;
  refused: number;
  fills: number;
  weight: number;
  heldMs: number;
  fees: string;
  cash: string;
  readonly held: Map<string, string>;
}

const emptySums = (): Sums => ({
  placed: 0,
  canceled: 0,
  filled: 0,
  rejected: 0,
  refused: 0,
  fills: 0,
  weight: 0,
  heldMs: 0,
  fees: "0",
  cash: "0",
  held: new Map(),
});

const exits: readonly ActionClass[] = ["emergency", "cancel", "close"];

export const createCollector = (engine: Engine, service: OpenBacktest, config: CheckedConfig): Collector => {
  const { simulated, tape, fixture, clock } = service;
  const strategies = new Map(config.strategies.map(({ name }) => [name, emptySums()]));
  const owners = new Map<string, Sums>();
  const waits: number[] = [];
  const cancelMs: number[] = [];
  const placeMs: number[] = [];
  const equity: EquityPoint[] = [];
  let heldUntil = 0;
  let reserveUsed = 0;
  let events = 0;
  let volume = "0";
  let waitedMs = 0;

  const onEvent = (event: Event): void => {
    events++;
    switch (event.type) {
      case "action.sent": {
        const sums = strategies.get(event.owner);
        waitedMs = event.waitedMs;
        waits.push(event.waitedMs);
        // An exit that leaves while ordinary actions have to wait lives on the reserve.
        if (exits.includes(event.class) && event.at < heldUntil) reserveUsed++;
        if (sums === undefined) return;
        sums.weight += event.weight;
        sums.heldMs += event.waitedMs;
        return;
      }
      case "action.held":
        if (event.layer === "uid") heldUntil = Math.max(heldUntil, event.until);
        return;
      case "order.changed":
        onOrder(event);
        return;
      case "order.refused": {
        const sums = strategies.get(event.strategy);
        if (sums !== undefined) sums.refused++;
      }
    }
  };
  const onOrder = (event: Extract<Event, { type: "order.changed" }>): void => {
    const sums = strategies.get(event.strategy);
    if (sums === undefined) return;
    if (event.phase === "sent") {
      sums.placed++;
      owners.set(event.clOrdId, sums);
    } else if (event.phase === "filled" || event.phase === "canceled" || event.phase === "rejected") sums[event.phase]++;
  };
  const onFill = (fill: Fill): void => {
    const value = mul(fill.px, fill.qty);
    volume = add(volume, value);
    const sums = owners.get(fill.clOrdId);
    if (sums === undefined) return;
    const bought = fill.side === "buy";
    sums.fills++;
    sums.fees = add(sums.fees, fill.cost);
    sums.cash = add(sums.cash, bought ? neg(value) : value);
    sums.held.set(fill.instId, add(sums.held.get(fill.instId) ?? "0", bought ? fill.qty : neg(fill.qty)));
  };

  engine.events$.subscribe(onEvent);
  simulated.fills$.subscribe(onFill);
  simulated.watchSends(({ endpoint }) => {
    const sentAt = clock.now();
    const before = waitedMs;
    return (arrivedAt, status) => {
      if (status !== 200) return;
      if (endpoint === "cancelBatch") cancelMs.push(before + arrivedAt - sentAt);
      if (endpoint === "placeOrder") placeMs.push(before + arrivedAt - sentAt);
    };
  });
  const sample = (at: number): void => {
    equity.push({ at, equity: simulated.venue.equity(service.user.uid) });
  };

  const strategyReport = (name: string, sums: Sums, marks: ReadonlyMap<string, string>): StrategyReport => {
    const { cash, held, ...counts } = sums;
    const value = [...held].reduce((total, [instId, qty]) => add(total, mul(qty, marks.get(instId) ?? "0")), "0");
    const state = engine.strategies.get(name) ?? { state: "running" as const };
    return { ...counts, heldMs: Math.round(counts.heldMs), pnl: sub(add(cash, value), sums.fees), ...state };
  };

  return {
    sample,
    report: (seed, wallMs) => {
      const marks = lastPrices(tape);
      const all = [...strategies.values()];
      const total = (field: "placed" | "canceled" | "filled" | "rejected" | "refused" | "fills"): number =>
        all.reduce((sum, sums) => sum + sums[field], 0);
      const meter = simulated.venue.meterReport();
      const first = equity[0] as EquityPoint;
      const last = equity[equity.length - 1] as EquityPoint;
      const report: Omit<RunReport, "resultHash" | "wallMs"> = {
        fixture: {
          ...fixture,
          startAt: new Date(tape.startAt).toISOString(),
          endAt: new Date(tape.endAt).toISOString(),
          rows: tape.length,
        },
        seed,
        events,
        virtualMs: Math.round(tape.endAt - tape.startAt),
        orders: {
          placed: total("placed"),
          canceled: total("canceled"),
          filled: total("filled"),
          rejected: total("rejected"),
          refused: total("refused"),
        },
        fills: total("fills"),
        volume,
        pnl: sub(last.equity, first.equity),
        fees: all.reduce((sum, { fees }) => add(sum, fees), "0"),
        currency: tape.instruments[0]?.instId.split("-")[1] ?? "",
        quota: {
          limits: service.limits,
          requests: meter.requests,
          weight: meter.weight,
          rejected429: meter.refused.ip + meter.refused.key + meter.refused.uid,
          blockedMinutes: meter.blockedMinutes,
          perLayerPeak: meter.peak,
          heldMs: waitsOf(waits.map(Math.round)),
          reserveUsed,
        },
        latency: { cancel: latenciesOf(cancelMs.map(Math.round)), place: latenciesOf(placeMs.map(Math.round)) },
        perStrategy: Object.fromEntries([...strategies].map(([name, sums]) => [name, strategyReport(name, sums, marks)])),
        equity: thin(equity.map(({ at, equity: value }) => ({ at: Math.round(at), equity: value }))),
        drawdown: drawdownOf(equity),
        assumptions: [
          ...service.assumptions,
          `limits: ip ${layers.ip.capacity} and user weight ${layers.uid.capacity} a minute, ${layers.key.capacity} requests a second and key`,
        ],
      };
      return { resultHash: hashOf({ ...report, resultHash: "", wallMs }), wallMs, ...report };
    },
  };
};
