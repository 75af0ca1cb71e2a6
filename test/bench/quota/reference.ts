/**
 * Two limiters that bound the comparison: one that knows everything and one that cares for nothing.
 *
 * Invariants: the oracle charges every call to the window it will arrive in, which nobody else can know; the greedy one sends
 * at once and repeats a refused call after a second.
 */
import type { Bench, CreateLimiter, Limiter, Task } from "./limiter.ts";

interface Waiting {
  readonly task: Task;
  readonly settled: () => void;
}

const minuteMs = 60_000;
const secondMs = 1_000;

/** Spends every window to the last unit at the first instant it can; the ceiling of utilisation, not of politeness. */
const createOracle = ({ clock, truth }: Bench): Limiter => {
  const urgent: Waiting[] = [];
  const usual: Waiting[] = [];
  // Calls overtake each other, so two neighbouring windows are open at once: windows are kept by number.
  const weightIn = new Map<number, number>();
  const callsIn = new Map<number, number>();
  const fits = (at: number, weight: number): boolean =>
    (callsIn.get(Math.floor(at / secondMs)) ?? 0) < 10 &&
    (weightIn.get(Math.floor(at / minuteMs)) ?? 0) + weight <= 1200;
  const charge = (at: number, weight: number): void => {
    const second = Math.floor(at / secondMs);
    const minute = Math.floor(at / minuteMs);
    callsIn.set(second, (callsIn.get(second) ?? 0) + 1);
    weightIn.set(minute, (weightIn.get(minute) ?? 0) + weight);
    callsIn.delete(second - 10);
    weightIn.delete(minute - 3);
  };
  const sendFrom = (queue: Waiting[]): boolean => {
    const arriveAt = truth.now() + truth.nextLegMs();
    const index = queue.findIndex(({ task }) => fits(arriveAt, task.weight));
    if (index < 0) return false;
    for (const { task, settled } of queue.splice(index, 1)) {
      charge(arriveAt, task.weight);
      void task.send().then(settled);
    }
    return true;
  };
  const pump = (): void => {
    while (sendFrom(urgent) || sendFrom(usual)) {
      // until nothing that waits fits where it would arrive
    }
  };
  const tick = (): void => {
    pump();
    clock.setTimer(clock.now() + 5, tick);
  };
  tick();
  return {
    submit: (task) =>
      new Promise((settled) => {
        (task.urgent ? urgent : usual).push({ task, settled });
        pump();
      }),
  };
};

const createGreedy = ({ clock }: Bench): Limiter => ({
  submit: async (task) => {
    while ((await task.send()).status === 429) {
      await new Promise<void>((resolve) => {
        clock.setTimer(clock.now() + 1_000, resolve);
      });
    }
  },
});

export const configurations: Readonly<Record<string, CreateLimiter>> = { oracle: createOracle, greedy: createGreedy };
