/**
 * Where an engine ends: its timers and the requests it still listens to, taken away in one place when it has stopped.
 *
 * Invariants: after the end no timer of the engine runs, nothing of it is sent, and no answer reaches it; what was sent goes on
 * its way, and what became of it is for the next life to find out; nothing is told to anybody because of the end.
 */
import { Observable, Subscription } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import type { Interceptor } from "../contract/transport.ts";

interface Lifetime {
  readonly clock: Clock;
  readonly interceptor: Interceptor;
  end(): void;
}

export const createLifetime = (clock: Clock): Lifetime => {
  const timers = new Set<Timer>();
  const flights = new Subscription();
  const idle: Timer = { cancel: () => undefined };

  return {
    clock: {
      now: () => clock.now(),
      wallNow: () => clock.wallNow(),
      setTimer: (at, run) => {
        if (flights.closed) return idle;
        const inner = clock.setTimer(at, () => {
          timers.delete(timer);
          run();
        });
        const timer: Timer = {
          cancel: () => {
            timers.delete(timer);
            inner.cancel();
          },
        };
        timers.add(timer);
        return timer;
      },
    },
    interceptor: (next) => (request) =>
      new Observable((subscriber) => {
        if (flights.closed) return undefined;
        const flight = next(request).subscribe(subscriber);
        flights.add(flight);
        return flight;
      }),
    end: () => {
      flights.unsubscribe();
      for (const timer of timers) timer.cancel();
    },
  };
};
