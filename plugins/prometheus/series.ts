/**
 * Metrics by name, on a registry of their own, with a bound on the number of series.
 *
 * Invariants: a label takes at most `labelsMax` values; those that come later count as `other`, so that no metric grows
 * without end; a value that is no finite number is left out.
 */
import type { RequirePackage } from "sluice/extension";
import type { Registry } from "./registries.ts";

export type Labels = Readonly<Record<string, string>>;

interface Sum {
  inc(labels: Labels, value?: number): void;
  reset(): void;
  remove(): void;
}
interface Histogram {
  observe(labels: Labels, value: number): void;
}
type Maker<T> = new (options: object) => T;
interface PromClient {
  readonly Registry: new () => Registry;
  readonly Counter: Maker<Sum>;
  readonly Gauge: Maker<Sum>;
  readonly Histogram: Maker<Histogram>;
}

/** Description of each metric; its name begins with `sluice_`. */
export const metrics = {
  quota_capacity: ["gauge", "Requests or weight that a window of a limit layer holds", ["layer", "scope"]],
  quota_used: ["gauge", "Used of the current window, by this engine and others", ["layer", "scope"]],
  quota_reserved: ["gauge", "Kept of the current window for exits", ["layer", "scope"]],
  quota_foreign: ["gauge", "Used of the current window by other clients", ["layer", "scope"]],
  quota_floor: ["gauge", "1 while a limit is spent evenly, without the service's counts", ["layer", "scope"]],
  quota_spent_total: ["counter", "Weight spent since the start, by owner", ["owner"]],
  quota_rejected_total: ["counter", "Answers that a rate limit is exceeded", ["layer"]],
  queue: ["gauge", "Actions that wait for quota or for their turn", []],
  in_flight: ["gauge", "Requests without an answer yet", []],
  actions_total: ["counter", "Requests that were answered or given up, by outcome", ["endpoint", "outcome"]],
  action_seconds: ["histogram", "Time from sending a request to its answer", ["endpoint"]],
  action_wait_seconds: ["histogram", "Time that an action waited before it was sent", ["class"]],
  order_changes_total: ["counter", "Orders that entered a phase", ["strategy", "phase"]],
  orders_refused_total: ["counter", "Wanted orders that were not sent", ["strategy"]],
  orders_open: ["gauge", "Orders that are not over, by phase", ["strategy", "phase"]],
  fills_total: ["counter", "Executions", ["strategy", "instId", "side"]],
  position: ["gauge", "Held by a strategy in base currency, negative short", ["strategy", "instId"]],
  profit: ["gauge", "Realised and unrealised profit less fees of a strategy", ["strategy", "currency"]],
  realised: ["gauge", "Realised profit of a strategy before fees", ["strategy", "currency"]],
  unrealised: ["gauge", "Unrealised profit of a strategy before fees", ["strategy", "currency"]],
  fees: ["gauge", "Fees of a strategy, a positive cost", ["strategy", "currency"]],
  equity: ["gauge", "Profit of all strategies of a user, by settle currency", ["user", "currency"]],
  strategy_up: ["gauge", "1 while a strategy runs", ["strategy"]],
  trading_mode: ["gauge", "2 active, 1 reducing, 0 halted", ["strategy"]],
  resource_age_seconds: ["gauge", "Age of what is known of a part of the account's state", ["user", "resource"]],
  resource_stale: ["gauge", "1 while a part of the account's state is stale", ["user", "resource"]],
  pushing: ["gauge", "1 while every change of a user's orders is pushed", ["user"]],
  clock_offset_seconds: ["gauge", "Calendar of the service against this machine's, positive where it is ahead", []],
  event_loop_late_seconds: ["gauge", "How late a timer ran at most within the last minute", []],
  journal_up: ["gauge", "1 while the journal is open, 0 when it failed; absent without one", []],
  watchdog_armed: ["gauge", "1 while a watchdog is armed; absent without one", []],
  anomalies_total: ["counter", "What should not happen, by kind", ["what"]],
  events_total: ["counter", "Events by type", ["type"]],
  memory_bytes: ["gauge", "Resident memory of the process", []],
} as const satisfies Readonly<
  Record<string, readonly [kind: "counter" | "gauge" | "histogram", help: string, labels: readonly string[]]>
>;

type Name = keyof typeof metrics;
type NameOf<K> = { [N in Name]: (typeof metrics)[N][0] extends K ? N : never }[Name];
type LabelsOf<N extends Name> = Readonly<Record<(typeof metrics)[N][2][number], string>>;

/** Buckets in seconds. A request takes milliseconds near the exchange, and seconds when something is wrong. */
const buckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const other = "other";

export class SeriesSet {
  readonly registry: Registry;
  readonly #made = new Map<Name, Sum | Histogram>();
  readonly #values = new Map<string, Set<string>>();
  readonly #labelsMax: number;

  /** `refresh` is called before each reading. */
  constructor(requirePackage: RequirePackage, labelsMax: number, fixed: Labels, refresh: () => void) {
    const { Registry, Counter, Gauge, Histogram } = requirePackage<PromClient>("prom-client", "15", import.meta.url);
    this.#labelsMax = labelsMax;
    const registry = new Registry();
    if (Object.keys(fixed).length > 0)
      (registry as Registry & { setDefaultLabels(labels: Labels): void }).setDefaultLabels(fixed);
    this.registry = {
      contentType: registry.contentType,
      // What throws in between fails the reading alone.
      metrics: async () => {
        refresh();
        return registry.metrics();
      },
    };
    for (const [name, [kind, help, labelNames]] of Object.entries(metrics)) {
      const options = { name: `sluice_${name}`, help, labelNames: [...labelNames], registers: [registry] };
      const made =
        kind === "counter"
          ? new Counter(options)
          : kind === "gauge"
            ? new Gauge(options)
            : new Histogram({ ...options, buckets });
      if (kind === "gauge") clear(made as Sum, labelNames);
      this.#made.set(name as Name, made);
    }
  }

  count<N extends NameOf<"counter">>(name: N, labels: LabelsOf<N>, by = 1): void {
    (this.#made.get(name) as Sum).inc(this.#bounded(name, labels), by);
  }

  observe<N extends NameOf<"histogram">>(name: N, labels: LabelsOf<N>, seconds: number): void {
    if (Number.isFinite(seconds)) (this.#made.get(name) as Histogram).observe(this.#bounded(name, labels), seconds);
  }

  /**
   * All series of a metric as they are now; those that are not given are gone. Numbers or decimal text; of one series
   * the sum.
   */
  replace<N extends NameOf<"gauge"> | "quota_spent_total">(
    name: N,
    rows: readonly (readonly [labels: LabelsOf<N>, value: number | string | undefined])[],
  ): void {
    const metric = this.#made.get(name) as Sum;
    clear(metric, metrics[name][2]);
    for (const [labels, value] of rows) {
      const number = Number(value);
      if (value !== undefined && Number.isFinite(number)) metric.inc(this.#bounded(name, labels), number);
    }
  }

  #bounded(name: Name, labels: Labels): Labels {
    const bounded: Record<string, string> = {};
    for (const [label, value] of Object.entries(labels)) {
      const key = `${name} ${label}`;
      const known = this.#values.get(key) ?? new Set<string>();
      this.#values.set(key, known);
      if (known.size < this.#labelsMax) known.add(value);
      bounded[label] = known.has(value) ? value : other;
    }
    return bounded;
  }
}

/** A metric without labels is 0 after a reset, which would be a claim. */
const clear = (metric: Sum, labelNames: readonly string[]): void => {
  metric.reset();
  if (labelNames.length === 0) metric.remove();
};
