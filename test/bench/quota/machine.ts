/**
 * The client's computer: a clock that is wrong and drifts, timers that are late, sleep, restarts.
 *
 * Invariants: timers run at or up to 1.2 ms after their instant, in the order of their instants; nothing of the client runs
 * while it sleeps or after the restart of the process that asked for it.
 * Not here: the globals the peers see (ambient.ts), the network (wire.ts).
 */
import type { Clock, Timer } from "../../../src/clock/clock.ts";
import type { VirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Random } from "../../../src/random.ts";

export interface MachineOptions {
  /** The service's time, on which everything happens. */
  readonly truth: VirtualClock;
  readonly random: Random;
  readonly skewMs: number;
  readonly driftPpm: number;
  /** What the steady clock does during sleep: some platforms stop it, some let it run on. */
  readonly stopsAsleep: boolean;
}

export interface Machine {
  readonly clock: Clock;
  sleep(ms: number): void;
  stepWall(ms: number): void;
  /** From now on the steady clock is fast by so many parts per million. */
  drift(ppm: number): void;
  /** Forgets every timer and answer of the process so far. */
  restart(): void;
  asleep(): boolean;
  /** Milliseconds slept until now. */
  slept(): number;
  /** Wraps work that belongs to the present process: it waits while the machine sleeps and is dropped after a restart. */
  within(run: () => void): () => void;
  /** Whether client code has run since the last call of this, so that its microtasks must be let run. */
  takeTouched(): boolean;
}

export const createMachine = ({ truth, random, skewMs, driftPpm, stopsAsleep }: MachineOptions): Machine => {
  const startAt = truth.now();
  let rate = 1 + driftPpm / 1e6;
  let ratedAt = startAt;
  let ratedMs = 0;
  const lateness = Array.from({ length: 1024 }, () => 0.01 + 0.18 * random.next());
  let stoppedMs = 0;
  let sleptMs = 0;
  let wallStepMs = 0;
  let awakeAt = startAt;
  let life = 0;
  let touched = false;

  const now = (): number => startAt + skewMs + ratedMs + (truth.now() - ratedAt) * rate - stoppedMs;
  const truthOf = (at: number): number => ratedAt + (at - startAt - skewMs - ratedMs + stoppedMs) / rate;
  // Timers due in one millisecond share a wake-up, as in an event loop, and keep the order of their instants within it.
  const wakeFor = (at: number): number => {
    const due = Math.max(at, now());
    const tick = Math.floor(due);
    return tick + 1 + (lateness[tick % lateness.length] ?? 0) + 0.01 * (due - tick);
  };
  const within = (run: () => void): (() => void) => {
    const owner = life;
    const attempt = (): void => {
      if (owner !== life) return;
      if (truth.now() < awakeAt) {
        truth.setTimer(awakeAt, attempt);
        return;
      }
      touched = true;
      run();
    };
    return attempt;
  };
  const setTimer = (at: number, run: () => void): Timer => {
    let live = true;
    let handle: Timer;
    const arm = (): void => {
      handle = truth.setTimer(truthOf(wakeFor(at)), fire);
    };
    const fire = within(() => {
      if (!live) return;
      if (now() < at) return arm();
      live = false;
      run();
    });
    arm();
    return {
      cancel: () => {
        live = false;
        handle.cancel();
      },
    };
  };
  return {
    clock: { now, wallNow: () => Math.floor(now() + (stopsAsleep ? sleptMs : 0) + wallStepMs), setTimer },
    sleep: (ms) => {
      awakeAt = truth.now() + ms;
      sleptMs += ms;
      // Set at once rather than at waking: no client code can look at the clock in between.
      if (stopsAsleep) stoppedMs += ms;
    },
    drift: (ppm) => {
      ratedMs += (truth.now() - ratedAt) * rate;
      ratedAt = truth.now();
      rate = 1 + ppm / 1e6;
    },
    stepWall: (ms) => {
      wallStepMs += ms;
    },
    restart: () => {
      life += 1;
      touched = true;
    },
    asleep: () => truth.now() < awakeAt,
    slept: () => sleptMs - Math.max(0, awakeAt - truth.now()),
    within,
    takeTouched: () => {
      const was = touched;
      touched = false;
      return was;
    },
  };
};
