/**
 * Event loop of a scenario: turns the clock, timers, rows of the market and their deliveries to the process that runs.
 *
 * Invariants: events happen in order of time, and within one instant rows, bars and deliveries come before timers, as
 * in a backtest (backtest/player.ts); promises settle before the next step; a process that is paused or gone misses the
 * market data of that time.
 */

import type { LatencyModel } from "sluice/backtest";
import { letPromisesSettle, type PromiseWatch, rowTakers, timeAt } from "sluice/extension";
import type { Environment } from "./environment.ts";
import type { ProcessSupervisor } from "./process-supervisor.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

type RowTaker = (row: number, now: number) => void;

export class Play {
  readonly #environment: Environment;
  readonly #supervisor: ProcessSupervisor;
  readonly #promises: PromiseWatch;
  readonly #ways: ReturnType<LatencyModel["make"]>;
  readonly #takers: readonly RowTaker[];
  readonly #order: Environment["tape"]["order"];
  /** Instants at which the rows reach the process. */
  readonly #due: Float64Array;
  #applied = 0;
  #delivered = 0;
  #lastDue = Number.NEGATIVE_INFINITY;
  #steps = 0;

  constructor(environment: Environment, supervisor: ProcessSupervisor, promises: PromiseWatch, latency: LatencyModel) {
    const { tape, venue, time, random } = environment;
    this.#environment = environment;
    this.#supervisor = supervisor;
    this.#promises = promises;
    this.#order = tape.order;
    this.#takers = rowTakers(tape, venue, time, 0);
    this.#ways = latency.make(random.fork("feed"));
    this.#due = new Float64Array(tape.length);
  }

  /** Events of any kind so far. */
  get steps(): number {
    return this.#steps;
  }

  /** Runs until `untilAt`, or until an invariant is violated or `done` returns true. */
  async to(untilAt: number, done: () => boolean = () => false): Promise<void> {
    for (;;) {
      if (this.#promises.asked) {
        await letPromisesSettle();
        this.#promises.asked = false;
      }
      if (this.#supervisor.busy) {
        await this.#supervisor.tend();
        continue;
      }
      if (this.#environment.violations.length > 0 || done() || !this.#step(untilAt)) return;
    }
  }

  #awake(): SimulatedProcess | undefined {
    const { current } = this.#supervisor;
    return current === undefined || current.clock.paused || !current.clock.alive || current.state === "over"
      ? undefined
      : current;
  }

  #apply(at: number): void {
    const { series, row } = this.#order;
    (this.#takers[series[this.#applied] as number] as RowTaker)(
      row[this.#applied] as number,
      this.#environment.service.now(),
    );
    this.#lastDue = Math.max(this.#lastDue, at + this.#ways.feedMs());
    this.#due[this.#applied++] = this.#lastDue;
  }

  #step(untilAt: number): boolean {
    const { tape, time } = this.#environment;
    const rowAt = this.#applied < tape.length ? timeAt(tape, this.#applied) : Number.POSITIVE_INFINITY;
    const feedAt = this.#delivered < this.#applied ? (this.#due[this.#delivered] as number) : Number.POSITIVE_INFINITY;
    const process = this.#awake();
    const barAt = process === undefined ? Number.POSITIVE_INFINITY : process.feed.nextBarAt + process.clock.behindMs;
    const at = Math.min(rowAt, feedAt, barAt);
    const timerAt = time.nextAt();
    if (Math.min(timerAt, at) > untilAt) {
      time.advanceTo(untilAt);
      return false;
    }
    this.#steps++;
    if (timerAt < at) {
      time.step(untilAt);
      return true;
    }
    time.reach(Math.max(at, time.now()));
    if (at === rowAt) this.#apply(at);
    else if (at === barAt) process?.feed.tick(at - process.clock.behindMs);
    else {
      const index = this.#delivered++;
      process?.feed.deliver(tape, index, at - process.clock.behindMs);
    }
    return true;
  }
}
