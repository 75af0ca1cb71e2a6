/**
 * Use of the quota in a run at a service that keeps its own count: what this client sent, waited for, and how it was
 * answered.
 *
 * Invariants: bounded: 4,000 minutes, older ones joined, and `keptMax` durations of answers; what others used is not in
 * it.
 * Not here: the embedded service's own count, which backtests have (backtest/report-collector.ts).
 */
import type { Event } from "../journal/events.ts";
import { Durations, type Waits } from "./durations.ts";
import { overTime, peaksIn, type QuotaMinute, QuotaMinutes, waitedIn } from "./quota-minutes.ts";
import type { Latencies, RunReport } from "./report.ts";
import type { TradeStatistics } from "./trade-statistics.ts";

const minutesMax = 4_000;

export class RunQuota {
  readonly #minutes = new QuotaMinutes(0, minutesMax);
  readonly #place: Durations;
  readonly #cancel: Durations;
  #requests = 0;
  #weight = 0;
  #limited = 0;

  readonly #uidOf: (key: string) => string | undefined;

  constructor(keptMax: number, uidOf: (key: string) => string | undefined) {
    this.#uidOf = uidOf;
    this.#place = new Durations(keptMax);
    this.#cancel = new Durations(keptMax);
  }

  onEvent(event: Event): void {
    this.#minutes.onEvent(event);
    if (event.type === "action.sent") {
      const { at, key, weight } = event;
      this.#requests++;
      this.#weight += weight;
      this.#minutes.arrived({ at, key, uid: key === undefined ? undefined : this.#uidOf(key), weight, status: 200 });
    } else if (event.type === "action.answered" && event.status === 200) {
      if (event.endpoint === "placeOrder") this.#place.add(Math.round(event.elapsedMs));
      if (event.endpoint === "cancelBatch") this.#cancel.add(Math.round(event.elapsedMs));
    } else if (event.type === "quota.rejected") this.#limited++;
  }

  /** From sending to the answer. */
  get latency(): RunReport["latency"] {
    const cancel = latenciesIn(this.#cancel.report);
    return { p50: cancel.p50, p99: cancel.p99, cancel, place: latenciesIn(this.#place.report) };
  }

  minutes(startAt: number, endAt: number): readonly QuotaMinute[] {
    return this.#minutes.used(startAt, endAt);
  }

  report(
    startAt: number,
    endAt: number,
    { waits, reserveUsed }: Pick<TradeStatistics, "waits" | "reserveUsed">,
  ): RunReport["quota"] {
    const minutes = this.#minutes.used(startAt, endAt);
    return {
      limits: true,
      requests: this.#requests,
      weight: this.#weight,
      rejected429: this.#limited,
      blockedMinutes: 0,
      perLayerPeak: peaksIn(minutes),
      heldMs: waits.report,
      reserveUsed,
      waitedMs: waitedIn(minutes),
      overTime: overTime(minutes),
    };
  }
}

const latenciesIn = ({ count, p50, p99 }: Waits): Latencies => ({ count, p50, p99 });
