/**
 * The clock of one simulated process: it can stand still, sleep, see its calendar step, and die.
 *
 * Invariants: the steady scale never falls; while the process stands still nothing of it runs, and what became due runs in order
 * when it goes on; while the machine sleeps the steady scale stands still too and the calendar goes on; nothing of a dead
 * process ever runs; how many timers are set is known, so that none can be left behind unseen.
 */
import type { Clock, Timer } from "../../clock/clock.ts";
import type { VirtualClock } from "../../clock/virtual-clock.ts";

export interface ProcessClock extends Clock {
  /** What reaches the process from outside; waits while it stands still. */
  deliver(run: () => void): void;
  /** `sleeping` stops the steady scale as well. */
  pause(sleeping: boolean): void;
  resume(): void;
  kill(): void;
  readonly alive: boolean;
  readonly paused: boolean;
  /** How far the steady scale is behind the world's. */
  readonly behindMs: number;
  readonly timers: number;
}

/** `calendarOffset` is the machine's, which lives on when the process dies. */
export const createProcessClock = (time: VirtualClock, calendarOffset: () => number): ProcessClock => {
  let alive = true;
  let behindMs = 0;
  let pausedAt: number | undefined;
  let sleeping = false;
  let backlog: (() => void)[] = [];
  let timers = 0;

  const now = (): number => (pausedAt !== undefined && sleeping ? pausedAt : time.now()) - behindMs;
  const deliver = (run: () => void): void => {
    if (!alive) return;
    if (pausedAt === undefined) run();
    else backlog.push(run);
  };
  const setTimer = (at: number, run: () => void): Timer => {
    let timer: Timer;
    let open = true;
    timers++;
    const close = (): void => {
      if (open) timers--;
      open = false;
    };
    const fire = (): void => {
      if (!open) return;
      // It slept through a part of the wait.
      if (now() < at) arm();
      else {
        close();
        run();
      }
    };
    const arm = (): void => {
      timer = time.setTimer(at + behindMs, () => {
        deliver(fire);
      });
    };
    arm();
    return {
      cancel: () => {
        close();
        timer.cancel();
      },
    };
  };
  return {
    now,
    wallNow: () => time.now() + calendarOffset(),
    setTimer,
    deliver,
    pause: (asleep) => {
      if (pausedAt !== undefined) return;
      pausedAt = time.now();
      sleeping = asleep;
    },
    resume: () => {
      if (pausedAt === undefined) return;
      if (sleeping) behindMs += time.now() - pausedAt;
      pausedAt = undefined;
      const waiting = backlog;
      backlog = [];
      for (const run of waiting) deliver(run);
    },
    kill: () => {
      alive = false;
      backlog = [];
    },
    get alive() {
      return alive;
    },
    get paused() {
      return pausedAt !== undefined;
    },
    get behindMs() {
      return behindMs;
    },
    get timers() {
      return timers;
    },
  };
};
