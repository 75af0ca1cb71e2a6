/**
 * Asks now and then whether anybody is there, and notices when nobody is.
 *
 * Invariants: one timer; silence is noticed at the moment it has lasted too long, not at the next question.
 */
import type { Clock, Timer } from "../../clock/clock.ts";

interface Heartbeat {
  /** Something was heard. */
  heard(): void;
  stop(): void;
}

interface HeartbeatOptions {
  readonly pingMs: number;
  readonly silenceMsMax: number;
  readonly ask: () => void;
  readonly silent: () => void;
}

export const createHeartbeat = (clock: Clock, { pingMs, silenceMsMax, ask, silent }: HeartbeatOptions): Heartbeat => {
  let heardAt = clock.now();
  let askAt = heardAt + pingMs;
  let timer: Timer;
  let stopped = false;
  const wait = (): void => {
    timer = clock.setTimer(Math.min(askAt, heardAt + silenceMsMax), look);
  };
  const look = (): void => {
    const now = clock.now();
    if (now >= heardAt + silenceMsMax) {
      stopped = true;
      silent();
      return;
    }
    if (now >= askAt) {
      askAt = now + pingMs;
      ask();
    }
    if (!stopped) wait();
  };
  wait();
  return {
    heard: () => {
      heardAt = clock.now();
    },
    stop: () => {
      stopped = true;
      timer.cancel();
    },
  };
};
