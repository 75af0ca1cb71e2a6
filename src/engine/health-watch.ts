/**
 * Health metrics of an engine in real time: timer lateness and response times.
 *
 * Invariants: bounded memory: one lateness for each second of a minute and a fixed number of counts per endpoint; no
 * decision depends on it.
 * Not here: what a late timer leads to (stall-detector.ts), the rest of an engine's health (steering.ts).
 */
import type { Clock } from "../clock/clock.ts";
import type { EndpointLatency, EngineHealth } from "../host/operator-view.ts";
import type { EventLog } from "../journal/event-log.ts";

const tickMs = 250;
const secondMs = 1_000;
const secondsKept = 60;
/** Each bucket ends a fifth above the one before. Together they range from 1 ms to more than a minute. */
const step = 1.2;
const buckets = 64;

/** Answers of one endpoint, counted by how long they took. */
class Durations {
  readonly #counts = new Uint32Array(buckets);
  #count = 0;
  #most = 0;

  add(ms: number): void {
    const bucket = ms <= 1 ? 0 : Math.min(buckets - 1, Math.ceil(Math.log(ms) / Math.log(step)));
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1;
    this.#count++;
    this.#most = Math.max(this.#most, ms);
  }

  /** The end of the bucket in which the given part of all answers is reached. */
  #percentile(part: number): number {
    let left = Math.ceil(part * this.#count);
    for (let bucket = 0; bucket < buckets - 1; bucket++) {
      left -= this.#counts[bucket] ?? 0;
      if (left <= 0) return Math.min(this.#most, step ** bucket);
    }
    return this.#most;
  }

  of(endpoint: string): EndpointLatency {
    return {
      endpoint,
      count: this.#count,
      p50Ms: this.#percentile(0.5),
      p99Ms: this.#percentile(0.99),
      maxMs: this.#most,
    };
  }
}

export class HealthWatch {
  readonly #clock: Clock;
  readonly #durations = new Map<string, Durations>();
  /** The greatest lateness of each second, by the second's number. */
  readonly #late = new Float64Array(secondsKept);
  #second = 0;
  #lateMsMax = 0;

  constructor(clock: Clock, journal: Pick<EventLog, "on">) {
    this.#clock = clock;
    journal.on(["action.answered"], ({ endpoint, status, elapsedMs }) => {
      // A call without an answer has no response time.
      if (status === 0) return;
      let durations = this.#durations.get(endpoint);
      if (durations === undefined) {
        durations = new Durations();
        this.#durations.set(endpoint, durations);
      }
      durations.add(elapsedMs);
    });
  }

  /** Measures until the clock's timers end. */
  start(): void {
    this.#second = Math.floor(this.#clock.now() / secondMs);
    this.#arm();
  }

  state(): Pick<EngineHealth, "eventLoop" | "latency"> {
    const latency = [...this.#durations].map(([endpoint, durations]) => durations.of(endpoint));
    return { eventLoop: { lateMs: Math.max(...this.#late), lateMsMax: this.#lateMsMax }, latency };
  }

  #arm(): void {
    const dueAt = this.#clock.now() + tickMs;
    this.#clock.setTimer(dueAt, () => {
      this.#note(Math.max(0, Math.round(this.#clock.now() - dueAt)));
      this.#arm();
    });
  }

  #note(lateMs: number): void {
    const now = this.#clock.now();
    const second = Math.floor(now / secondMs);
    for (let passed = Math.max(this.#second + 1, second - secondsKept + 1); passed <= second; passed++)
      this.#late[passed % secondsKept] = 0;
    this.#second = second;
    this.#late[second % secondsKept] = Math.max(this.#late[second % secondsKept] ?? 0, lateMs);
    this.#lateMsMax = Math.max(this.#lateMsMax, lateMs);
  }
}
