/**
 * Cost of the rate limits: one run under them compared with the same run without.
 *
 * Invariants: pure over two reports of the same config, recording and seed; differences are without less with, money
 * exact.
 * Not here: the runs (the command runs both).
 */
import { sub } from "../decimal.ts";
import { amount, duration, grouped, signed } from "./number-format.ts";
import type { RunReport } from "./report.ts";
import { type Page, pageOf, printed, table, title } from "./text-layout.ts";

/** The figures of one side. */
interface LimitSide {
  readonly resultHash: string;
  readonly placed: number;
  readonly canceled: number;
  readonly rejected: number;
  readonly fills: number;
  readonly volume: string;
  readonly fees: string;
  readonly pnl: string;
  readonly drawdown: string;
  readonly requests: number;
  readonly weight: number;
  readonly peakWeight: number;
  readonly waitedMs: number;
  readonly placeP99Ms: number;
  readonly cancelP99Ms: number;
}

interface LimitCost {
  readonly with: LimitSide;
  readonly without: LimitSide;
  /** Figures without limits less those with them. */
  readonly difference: Omit<LimitSide, "resultHash">;
}

export const limitCostOf = (kept: RunReport, lifted: RunReport): LimitCost => {
  const [own, free] = [sideOf(kept), sideOf(lifted)];
  const difference = Object.fromEntries(
    Object.entries(own)
      .filter(([name]) => name !== "resultHash")
      .map(([name, value]) => {
        const other = free[name as keyof LimitSide];
        return [name, typeof value === "number" ? Number(other) - value : sub(String(other), value)];
      }),
  ) as unknown as LimitCost["difference"];
  return { with: own, without: free, difference };
};

const sideOf = ({ resultHash, orders, fills, volume, fees, pnl, drawdown, quota, latency }: RunReport): LimitSide => ({
  resultHash,
  placed: orders.placed,
  canceled: orders.canceled,
  rejected: orders.rejected,
  fills,
  volume,
  fees,
  pnl,
  drawdown: drawdown.max,
  requests: quota.requests,
  weight: quota.weight,
  peakWeight: quota.perLayerPeak.uid,
  waitedMs: quota.heldMs.total,
  placeP99Ms: latency.place.p99,
  cancelP99Ms: latency.cancel.p99,
});

type Row = readonly [name: string, key: keyof LimitCost["difference"], kind: "count" | "money" | "gain" | "ms"];

const rows: readonly Row[] = [
  ["result", "pnl", "gain"],
  ["fees", "fees", "money"],
  ["volume", "volume", "money"],
  ["drawdown", "drawdown", "money"],
  ["orders placed", "placed", "count"],
  ["orders canceled", "canceled", "count"],
  ["orders rejected", "rejected", "count"],
  ["fills", "fills", "count"],
  ["requests", "requests", "count"],
  ["weight", "weight", "count"],
  ["peak minute", "peakWeight", "count"],
  ["delayed in all", "waitedMs", "ms"],
  ["submit to placed, p99", "placeP99Ms", "ms"],
  ["submit to canceled, p99", "cancelP99Ms", "ms"],
];

export const limitCostText = (
  kept: RunReport,
  lifted: RunReport,
  look: { readonly columns: number; readonly colour: boolean },
): string => {
  const page = pageOf(kept, look);
  const cost = limitCostOf(kept, lifted);
  const cells = rows.map(([name, key, kind]) => [
    name,
    spelled(cost.with[key], kind, page),
    spelled(cost.without[key], kind, page),
    changed(cost.difference[key], kind, page),
  ]);
  return printed([
    title(page, "What the limits cost"),
    ...table(["", "with limits", "without", "difference"], cells, 1, page),
  ]);
};

const spelled = (value: number | string, kind: Row[2], { places }: Page): string => {
  if (typeof value === "string") return kind === "gain" ? signed(value, places) : amount(value, places);
  return kind === "ms" ? duration(value) : grouped(value);
};

const changed = (value: number | string, kind: Row[2], { places }: Page): string => {
  if (typeof value === "string") return signed(value, places);
  const text = kind === "ms" ? duration(Math.abs(value)) : grouped(Math.abs(value));
  return value === 0 ? text : `${value > 0 ? "+" : "-"}${text}`;
};
