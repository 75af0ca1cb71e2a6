/**
 * Execution context: which strategy or plugin is running; gives its RxJS operators and timers the engine's clock.
 *
 * Plain RxJS (`timer(100)`, `debounceTime(50)`, `timestamp()` … without a scheduler argument) takes the time from two
 * objects and reports uncaught errors to a third. These three are replaced: called from an owner's code they act for
 * that owner, otherwise as usual.
 *
 * Invariants: outside an owner's code nothing changes; several engines in one process each have their own time; work
 * that an owner started keeps that owner's context, also across `await`; after an owner has ended none of its timers
 * runs. A variable holds the owner of synchronous code, and the async context carries it to continuations. The context
 * is switched before an owner's code runs, and before engine code that may start asynchronous work. Where promises are
 * followed, each promise stores its owner instead: with a thousand values for many owners in turn, switching would cost
 * more than the values.
 * Not here: the machine's own clocks and timers (virtual-globals.ts), the streams through which values reach an owner
 * (owned-streams.ts), when promises settle (clock/microtasks.ts).
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { type SchedulerAction, Subscription } from "rxjs";
import type { Clock, Timer } from "../clock/clock.ts";
import { hookPromises } from "../clock/promise-hooks.ts";
import type { Random } from "../random.ts";
import { aTimer, handling } from "./failure.ts";
import { replaceRxjsTime } from "./rxjs-version.ts";

/** A strategy or a plugin while it runs. */
export interface Owner {
  readonly clock: Clock;
  /** Called with what the owner's code threw uncaught. */
  readonly fail: (error: unknown) => void;
  /** Its subscriptions and timers; closed when it has ended. */
  readonly life: Subscription;
  /**
   * Set while work of its undo is awaited. Its timers then use the machine's time, because the engine's time may not
   * advance.
   */
  readonly ending?: boolean;
  /** Its promises are followed (`followPromises`); files and sockets do not carry the context. */
  readonly followed?: boolean;
  /** Random numbers for code whose runs must be repeatable. Network access is closed to such code. */
  readonly sealed?: Random;
}

const present = new AsyncLocalStorage<Owner | undefined>();
let installed = false;
/** Number of switches that have not been undone. At zero, the async context alone identifies the running code. */
let depth = 0;
let here: Owner | undefined;
/** Value of the async context while owners are switched. */
let bound: Owner | undefined;
/** The depth at which a stretch delivers its values; below any real depth when there is no stretch. */
let stretchDepth = -1;

/** Owner of the running code; undefined for the engine's own. */
export const ownerNow = (): Owner | undefined => (depth === 0 ? present.getStore() : here);

const bind = (context: Owner | undefined): void => {
  bound = context;
  present.enterWith(context);
};

/** The owner's code runs from here on. Call `leave` with the result in every case. */
export const enter = (owner: Owner | undefined): Owner | undefined => {
  if (!installed) install();
  if (depth === 0) {
    here = present.getStore();
    bound = here;
  }
  const before = here;
  depth++;
  here = owner;
  const context = owner?.followed === true ? undefined : owner;
  if (bound !== context) bind(context);
  return before;
};

export const leave = (before: Owner | undefined): void => {
  depth--;
  here = before;
  const context = before?.followed === true ? undefined : before;
  if (bound !== context && depth !== stretchDepth) bind(context);
};

/** Owner that made a promise, for owners that are followed. */
const makers = new WeakMap<Promise<unknown>, Owner>();
/** Entry for callbacks of promises: the owner to return to, or undefined where none was entered. */
const turns: ({ readonly before: Owner | undefined } | undefined)[] = [];
let followers = 0;
let unfollow: () => void = () => undefined;

const makerOf = (promise: Promise<unknown>): Owner | undefined => makers.get(promise);

/** Starts to continue awaited code of a followed owner as that owner; the returned function ends it. */
export const followPromises = (): (() => void) => {
  if (followers++ === 0) {
    turns.length = 0;
    unfollow = hookPromises({
      init: (promise) => {
        if (depth > 0 && here?.followed === true) makers.set(promise, here);
      },
      before: (promise) => {
        const maker = makers.get(promise);
        turns.push(maker && { before: enter(maker) });
      },
      after: () => {
        const turn = turns.pop();
        if (turn !== undefined) leave(turn.before);
      },
    });
  }
  return () => {
    if (--followers === 0) unfollow();
  };
};

/** Runs `work` as the owner's code. What it throws is thrown here. */
export const inside = <T>(owner: Owner, work: () => T): T => {
  const before = enter(owner);
  try {
    return work();
  } finally {
    leave(before);
  }
};

/**
 * Runs the engine's own code when an owner's code calls it, so that work that the engine begins does not run as that
 * owner.
 *
 * @param work - the engine's own code
 * @returns what it returns
 */
export const outside = <T>(work: () => T): T => {
  if (depth === 0 ? present.getStore() === undefined : here === undefined && bound === undefined) return work();
  const before = enter(undefined);
  try {
    return work();
  } finally {
    leave(before);
  }
};

/**
 * Runs engine code that hands many values to owners and starts no asynchronous work itself: between two values
 * for the same owner the async context stays that owner's, because switching it costs more than handing over a value.
 */
export const stretch = (work: () => void): void => {
  const before = enter(undefined);
  const outer = stretchDepth;
  stretchDepth = depth;
  try {
    work();
  } finally {
    stretchDepth = outer;
    leave(before);
  }
};

/** Runs `work` as the owner's code and hands what it throws to the owner; nothing runs once the owner has ended. */
export const guarded = <A>(owner: Owner, work: (given: A) => void, given: A): void => {
  if (owner.life.closed) return;
  const before = enter(owner);
  const outer = handling.value;
  handling.value = given ?? aTimer;
  try {
    work(given);
  } catch (error) {
    owner.fail(error);
  } finally {
    handling.value = outer;
    leave(before);
  }
};

/** An RxJS action on an owner's clock. It runs again if it schedules itself while it runs. */
class OwnedAction<T> extends Subscription implements SchedulerAction<T> {
  readonly #owner: Owner;
  readonly #run: (state: T | undefined) => void;
  #timer: Timer | undefined;

  constructor(owner: Owner, work: (this: SchedulerAction<T>, state?: T) => void) {
    super();
    this.#owner = owner;
    this.#run = (state) => {
      work.call(this, state as T);
    };
    owner.life.add(this);
    this.add(() => {
      this.#timer?.cancel();
    });
  }

  schedule(state?: T, delay = 0): Subscription {
    if (this.closed) return this;
    const { clock } = this.#owner;
    this.#timer?.cancel();
    this.#timer = outside(() => clock.setTimer(clock.now() + Math.max(0, delay), () => this.#fire(state)));
    return this;
  }

  #fire(state: T | undefined): void {
    this.#timer = undefined;
    guarded(this.#owner, () => this.#run(state), undefined);
    // As in RxJS, an action that did not schedule itself while it ran is over.
    if (this.#timer === undefined) this.unsubscribe();
  }
}

const install = (): void => {
  installed = true;
  replaceRxjsTime({
    now: (original) => ownerNow()?.clock.now() ?? original(),
    schedule:
      (original) =>
      <T>(work: (this: SchedulerAction<T>, state?: T) => void, delay = 0, state?: T): Subscription => {
        const owner = ownerNow();
        return owner === undefined || owner.ending === true
          ? original(work, delay, state as T)
          : new OwnedAction(owner, work).schedule(state, delay);
      },
    uncaught: (handler) => {
      const owner = ownerNow();
      if (owner !== undefined) guarded(owner, handler, handling.value);
      return owner !== undefined;
    },
  });
};

let watched = false;

const onRejection = (reason: unknown, promise: Promise<unknown>): void => {
  const owner = makerOf(promise) ?? ownerNow();
  if (owner !== undefined) owner.fail(reason);
  // Without another listener the platform would have ended the process; rethrowing does the same.
  else if (process.listenerCount("unhandledRejection") === 1) throw reason;
};

/**
 * A rejected promise of an owner fails that owner, not the process. A rejection that belongs to no owner has its usual
 * effect. Installed once per process.
 */
export const watchUnhandledRejections = (): void => {
  if (watched) return;
  watched = true;
  process.on("unhandledRejection", onRejection);
};
