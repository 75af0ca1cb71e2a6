/**
 * The globals the peers tell time by, moved onto the machine's clock.
 *
 * Invariants: installed before a peer is loaded, because some keep a reference to `setTimeout` or `Date.now`; delays are cut
 * to whole milliseconds and at least 1, as the platform does.
 * Not here: microtasks, which stay the platform's own.
 */
import type { Clock, Timer } from "../../../src/clock/clock.ts";

/** A process has one set of globals but a worker runs several machines, one after the other: `use` points them at the next. */
export interface Ambient {
  use(clock: Clock): void;
}

interface Handle {
  timer: Timer;
  unref(): Handle;
  ref(): Handle;
  hasRef(): boolean;
}

type Work = (...args: unknown[]) => void;

const handleOf = (timer: Timer): Handle => {
  const handle: Handle = { timer, unref: () => handle, ref: () => handle, hasRef: () => true };
  return handle;
};

const delayOf = (ms: unknown): number => {
  const asked = Math.trunc(Number(ms));
  return asked >= 1 && asked <= 2 ** 31 - 1 ? asked : 1;
};

const datesFrom = (wallNow: () => number): DateConstructor =>
  new Proxy(Date, {
    construct: (target, args: [number?]) =>
      args.length === 0 ? new target(wallNow()) : Reflect.construct(target, args),
    get: (target, name) => (name === "now" ? wallNow : Reflect.get(target, name)),
  });

export const installAmbient = (): Ambient => {
  const platformNow = Date.now;
  let clock: Clock | undefined;
  let openedAt = 0;
  const current = (): Clock => {
    if (clock === undefined) throw new Error("A peer asked for the time before the machine was started.");
    return clock;
  };
  const setTimeout = (run: Work, ms?: unknown, ...args: unknown[]): Handle => {
    const on = current();
    return handleOf(on.setTimer(on.now() + delayOf(ms), () => run(...args)));
  };
  const setInterval = (run: Work, ms?: unknown, ...args: unknown[]): Handle => {
    const on = current();
    const arm = (): Timer =>
      on.setTimer(on.now() + delayOf(ms), () => {
        handle.timer = arm();
        run(...args);
      });
    const handle = handleOf(arm());
    return handle;
  };
  const clear = (handle: Handle | null | undefined): void => handle?.timer.cancel();
  Object.assign(globalThis, {
    setTimeout,
    setInterval,
    clearTimeout: clear,
    clearInterval: clear,
    // What loads our own sources asks for the time as well, before the first machine is started.
    Date: datesFrom(() => clock?.wallNow() ?? platformNow()),
  });
  Object.defineProperty(globalThis, "performance", {
    configurable: true,
    value: { timeOrigin: 0, now: () => current().now() - openedAt },
  });
  return {
    use: (next) => {
      clock = next;
      openedAt = next.now();
    },
  };
};
