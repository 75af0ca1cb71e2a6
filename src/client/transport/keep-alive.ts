/**
 * WebSocket keep-alive: pings after two thirds of the permitted silence (20 s at most), and reports a connection without a reply dead.
 *
 * Invariants: one timer while it runs, none otherwise; `dead` is called once for each start, and only after the whole silence.
 */
import type { Clock, Timer } from "../../clock/clock.ts";

interface KeepAlive {
  start(): void;
  /** Something was heard, whatever it was. */
  heard(): void;
  stop(): void;
}

interface KeepAliveOptions {
  readonly clock: Clock;
  readonly silenceMsMax: number;
  readonly ask: () => void;
  readonly dead: (reason: string) => void;
}

const idleMsMax = 20_000;

export const createKeepAlive = ({ clock, silenceMsMax, ask, dead }: KeepAliveOptions): KeepAlive => {
  // An answer needs some of the silence to arrive in.
  const askMs = Math.min(idleMsMax, (silenceMsMax * 2) / 3);
  let heardAt = 0;
  let timer: Timer | undefined;
  const heard = (): void => {
    heardAt = clock.now();
  };
  const look = (): void => {
    timer = undefined;
    const idleMs = clock.now() - heardAt;
    if (idleMs >= silenceMsMax) {
      dead(`nothing was heard for ${silenceMsMax} ms`);
      return;
    }
    const quiet = idleMs >= askMs;
    timer = clock.setTimer(heardAt + (quiet ? silenceMsMax : askMs), look);
    // Last, as asking may show that there is nobody.
    if (quiet) ask();
  };
  const stop = (): void => {
    timer?.cancel();
    timer = undefined;
  };
  return {
    heard,
    stop,
    start: () => {
      stop();
      heard();
      look();
    },
  };
};
