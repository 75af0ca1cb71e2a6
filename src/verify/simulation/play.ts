/**
 * Turns the clock of a story: timers, rows of the market, deliveries to whoever is there to see them.
 *
 * Invariants: what is due first happens first, and within one instant rows, bars and deliveries come before timers, as in a backtest
 * (backtest/player.ts); promises settle before the next step; a process that stands still or is gone misses what the market does
 * meanwhile.
 */

import type { LatencyModel } from "../../backtest/latency.ts";
import { rowTakers } from "../../backtest/row-dispatch.ts";
import { letPromisesSettle, type PromiseWatch } from "../../clock/microtasks.ts";
import type { Environment } from "./environment.ts";
import type { ProcessSupervisor } from "./process-supervisor.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

export interface Play {
  /** Goes on until `untilAt`, or until an invariant is broken or `done` says so. */
  to(untilAt: number, done?: () => boolean): Promise<void>;
  /** Events of any kind so far. */
  readonly steps: number;
}

type RowTaker = (row: number, now: number) => void;

export const createPlay = (
  environment: Environment,
  supervisor: ProcessSupervisor,
  promises: PromiseWatch,
  latency: LatencyModel,
): Play => {
  const { time, tape, venue, service, violations } = environment;
  const { series: seriesIn, row: rowIn } = tape.order;
  const times = tape.series.map(({ at }) => at);
  const takers = rowTakers(tape, venue, time, 0);
  const ways = latency.make(environment.random.fork("feed"));
  const due = new Float64Array(tape.length);
  let applied = 0;
  let delivered = 0;
  let lastDue = Number.NEGATIVE_INFINITY;
  let steps = 0;

  const timeOf = (index: number): number => (times[seriesIn[index] as number] as Float64Array)[rowIn[index] as number] as number;
  const awake = (): SimulatedProcess | undefined => {
    const life = supervisor.current;
    return life === undefined || life.clock.paused || !life.clock.alive || life.state === "over" ? undefined : life;
  };
  const apply = (at: number): void => {
    (takers[seriesIn[applied] as number] as RowTaker)(rowIn[applied] as number, service.now());
    lastDue = Math.max(lastDue, at + ways.feedMs());
    due[applied++] = lastDue;
  };
  const step = (untilAt: number): boolean => {
    const rowAt = applied < tape.length ? timeOf(applied) : Number.POSITIVE_INFINITY;
    const feedAt = delivered < applied ? (due[delivered] as number) : Number.POSITIVE_INFINITY;
    const life = awake();
    const barAt = life === undefined ? Number.POSITIVE_INFINITY : life.feed.nextBarAt + life.clock.behindMs;
    const at = Math.min(rowAt, feedAt, barAt);
    const timerAt = time.nextAt();
    if (Math.min(timerAt, at) > untilAt) {
      time.advanceTo(untilAt);
      return false;
    }
    steps++;
    if (timerAt < at) {
      time.step(untilAt);
      return true;
    }
    time.reach(Math.max(at, time.now()));
    if (at === rowAt) apply(at);
    else if (at === barAt) life?.feed.tick(at - life.clock.behindMs);
    else {
      const index = delivered++;
      life?.feed.deliver(tape, index, at - life.clock.behindMs);
    }
    return true;
  };
  return {
    to: async (untilAt, done = () => false) => {
      for (;;) {
        if (promises.asked()) {
          await letPromisesSettle();
          promises.asked();
        }
        if (supervisor.busy) {
          await supervisor.tend();
          continue;
        }
        if (violations.length > 0 || done() || !step(untilAt)) return;
      }
    },
    get steps() {
      return steps;
    },
  };
};
