/**
 * Virtual globals for user code: clocks and timers on the engine's time, seeded random numbers, and no network.
 *
 * `Date`, `setTimeout`, `Math.random`, `crypto.randomUUID` and the like are replaced by functions that look at the
 * execution context, as RxJS's time is (execution-context.ts): called from an owner's code they act for that owner,
 * otherwise as usual. Node's own modules are patched as well, so that an imported function behaves like a global one.
 *
 * Invariants: outside an owner's code nothing changes; a timer of an owner runs in that owner's context and never after
 * its end, except for timers that a plugin sets while it is disposed of, which run on the machine's time; a sealed
 * owner's random numbers come from its seed, and its network access throws an error that names the owner before a byte
 * is sent; plugins are not sealed: they have the engine's time, and the machine's random numbers and network.
 * Not here: files and processes, which a strategy should leave to plugins but may use.
 */
import crypto from "node:crypto";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import timers from "node:timers";
import timersPromises from "node:timers/promises";
import type { Timer } from "../clock/clock.ts";
import { SluiceError } from "../errors.ts";
import type { Random } from "../random.ts";
import { guarded, type Owner, outside, ownerNow } from "./execution-context.ts";

type Callback = (...args: unknown[]) => void;
// biome-ignore lint/suspicious/noExplicitAny: functions of every shape are replaced by functions of the same shape.
type Anything = any;

let installed = false;

/** Installs the replacements. Only the first call has an effect. */
export const installVirtualGlobals = (): void => {
  if (installed) return;
  installed = true;
  switchDate();
  switchTimers();
  switchMicrotasks();
  switchChance();
  switchNetwork();
  syncBuiltinESMExports();
};

type Answer = (owner: Owner, args: Anything[], original: Anything) => unknown;

/** `target[name]` answers for the owner whose code calls it, and as before for all other code. */
const onSwitch = (target: object, name: string, answer: Answer): void => {
  const place = target as Record<string, Anything>;
  const original = place[name];
  if (typeof original !== "function") return;
  const switched = function (this: unknown, ...args: unknown[]): unknown {
    const owner = ownerNow();
    return owner === undefined ? Reflect.apply(original, this, args) : answer(owner, args, original);
  };
  const { prototype: _, ...own } = Object.getOwnPropertyDescriptors(original as object) as Record<
    string,
    PropertyDescriptor
  >;
  Object.defineProperties(switched, own);
  Object.defineProperty(place, name, { value: switched, writable: true, configurable: true });
};

/** The same for sealed owners only. All others get the machine's. */
const onSealed = (
  target: object,
  name: string,
  answer: (random: Random, args: Anything[], owner: Owner) => unknown,
): void => {
  onSwitch(target, name, (owner, args, original) =>
    owner.sealed === undefined ? Reflect.apply(original as Callback, target, args) : answer(owner.sealed, args, owner),
  );
};

const switchDate = (): void => {
  const original = globalThis.Date;
  const now = (owner: Owner): number => Math.floor(owner.clock.wallNow());
  const switched: DateConstructor = new Proxy(original, {
    apply: (target, self, args) => {
      const owner = ownerNow();
      return owner === undefined ? Reflect.apply(target, self, args) : new target(now(owner)).toString();
    },
    construct: (target, args, made) => {
      const owner = args.length === 0 ? ownerNow() : undefined;
      // With a proxy as what is made, the platform would give each date a hidden class of its own.
      return Reflect.construct(
        target,
        owner === undefined ? args : [now(owner)],
        made === switched ? target : made,
      ) as Date;
    },
  });
  globalThis.Date = switched;
  onSwitch(original, "now", now);
  onSwitch(performance, "now", (owner) => owner.clock.now());
};

/** The machine's own timer, for timers that outlive the owner whose code happened to create them. */
const laterOnMachine = globalThis.setTimeout;

/**
 * Timer that `setTimeout` returns on an owner's clock: enough of Node's object that programs can use it as they do. A
 * library such as the HTTP client may create a timer for all its callers and set it again after the owner that called
 * it first has ended. Such a timer is the machine's from then on.
 */
class OwnedTimer {
  readonly #owner: Owner;
  readonly #run: () => void;
  readonly #everyMs: number | undefined;
  readonly #delayMs: number;
  #timer: Timer | undefined;
  #late: NodeJS.Timeout | undefined;
  readonly #end = (): void => {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#late !== undefined) clearTimeout(this.#late);
  };

  constructor(owner: Owner, run: () => void, delayMs: number, everyMs: number | undefined) {
    this.#owner = owner;
    this.#run = run;
    this.#delayMs = delayMs;
    this.#everyMs = everyMs;
    owner.life.add(this.#end);
    this.#arm(delayMs);
  }

  #arm(ms: number): void {
    const { clock, life } = this.#owner;
    if (life.closed) return;
    this.#timer = outside(() =>
      clock.setTimer(clock.now() + ms, () => {
        this.#timer = undefined;
        if (this.#everyMs === undefined) life.remove(this.#end);
        else this.#arm(this.#everyMs);
        guarded(this.#owner, this.#run, undefined);
      }),
    );
  }

  close(): this {
    this.#end();
    this.#owner.life.remove(this.#end);
    return this;
  }
  refresh(): this {
    const { life, sealed } = this.#owner;
    this.#end();
    if (!life.closed) this.#arm(this.#delayMs);
    else if (sealed === undefined && ownerNow() !== this.#owner)
      this.#late = outside(() => laterOnMachine(this.#run, this.#delayMs)).unref();
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
  hasRef(): boolean {
    return true;
  }
  [Symbol.dispose](): void {
    this.close();
  }
}

/** The platform accepts any value as a delay. An invalid one counts as none. */
const delayOf = (value: unknown): number => {
  const ms = Number(value);
  return ms >= 1 ? ms : 0;
};

const started = (owner: Owner, [callback, ms, ...args]: unknown[], repeat: boolean): OwnedTimer => {
  if (typeof callback !== "function") throw new TypeError("The callback of a timer is not a function.");
  const delayMs = delayOf(ms);
  // An interval of zero would never let time advance.
  return new OwnedTimer(
    owner,
    () => (callback as Callback)(...args),
    delayMs,
    repeat ? Math.max(1, delayMs) : undefined,
  );
};

/** Same as `onSwitch`, but once an owner's undo has begun the machine answers. */
const onRunning = (target: object, name: string, answer: (owner: Owner, args: Anything[]) => unknown): void => {
  onSwitch(target, name, (owner, args, original) =>
    owner.ending === true ? Reflect.apply(original as Callback, target, args) : answer(owner, args),
  );
};

const switchTimers = (): void => {
  for (const place of [globalThis, timers]) {
    onRunning(place, "setTimeout", (owner, args) => started(owner, args, false));
    onRunning(place, "setInterval", (owner, args) => started(owner, args, true));
    onRunning(place, "setImmediate", (owner, [callback, ...args]) => started(owner, [callback, 0, ...args], false));
    for (const name of ["clearTimeout", "clearInterval", "clearImmediate"] as const) {
      const original = place[name] as Callback;
      // Any owner may clear the timer, because it can be passed to another owner.
      const cleared = (timer: unknown): void => {
        if (timer instanceof OwnedTimer) timer.close();
        else original(timer);
      };
      Object.defineProperty(place, name, { value: cleared, writable: true, configurable: true });
    }
  }
  const wait = (owner: Owner, ms: unknown, value: unknown): Promise<unknown> =>
    new Promise((resolve) => {
      started(owner, [resolve, ms, value], false);
    });
  onRunning(timersPromises, "setTimeout", (owner, [ms, value]) => wait(owner, ms, value));
  onRunning(timersPromises, "setImmediate", (owner, [value]) => wait(owner, 0, value));
  onRunning(timersPromises, "setInterval", async function* (owner, [ms, value]) {
    for (;;) yield await wait(owner, Math.max(1, delayOf(ms)), value);
  });
};

/** A backtest waits for promises and for nothing else that settles by itself. */
const switchMicrotasks = (): void => {
  const soon = async ([callback, ...args]: Anything[], owner: Owner): Promise<void> => {
    await Promise.resolve();
    guarded(owner, () => (callback as Callback)(...args), undefined);
  };
  for (const [place, name] of [[globalThis, "queueMicrotask"] as const, [process, "nextTick"] as const]) {
    onSealed(place, name, (_, args, owner) => {
      void soon(args, owner);
    });
  }
};

const bytesOf = (random: Random, count: number): Uint8Array =>
  Uint8Array.from({ length: count }, () => random.whole(0, 255));

const uuidOf = (random: Random): string => {
  const bytes = bytesOf(random, 16);
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  return Buffer.from(bytes)
    .toString("hex")
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
};

const switchChance = (): void => {
  onSealed(Math, "random", (random) => random.next());
  for (const place of [globalThis.crypto, crypto]) onSealed(place, "randomUUID", uuidOf);
  // The one of node:crypto asks this one.
  onSealed(globalThis.crypto, "getRandomValues", (random, args) => {
    const into = args[0] as ArrayBufferView;
    new Uint8Array(into.buffer, into.byteOffset, into.byteLength).set(bytesOf(random, into.byteLength));
    return into;
  });
  onSealed(crypto, "randomBytes", (random, args) => {
    const [count, callback] = args as [number, ((error: null, bytes: Buffer) => void)?];
    const bytes = Buffer.from(bytesOf(random, count));
    if (callback === undefined) return bytes;
    queueMicrotask(() => {
      callback(null, bytes);
    });
    return undefined;
  });
  onSealed(crypto, "randomInt", (random, args) => {
    const [first, second] = args as [number, number | undefined];
    const [from, to] = typeof second === "number" ? [first, second] : [0, first];
    return random.whole(from, to - 1);
  });
};

const refuse = (what: string): never => {
  throw new SluiceError(
    "STRATEGY_FAILED",
    `${what} was called inside a strategy. A run that asks the network cannot be repeated: let a plugin ask, and hand the answer to the strategy as a stream.`,
  );
};

const switchNetwork = (): void => {
  onSealed(globalThis, "fetch", () => refuse("fetch"));
  const place = globalThis as unknown as Record<string, Anything>;
  for (const name of ["WebSocket", "EventSource"]) {
    const original = place[name];
    if (typeof original !== "function") continue;
    place[name] = new Proxy(original, {
      construct: (target, args, made) =>
        ownerNow()?.sealed === undefined ? Reflect.construct(target, args, made) : refuse(name),
    });
  }
  // Everything else that uses TCP goes through here: node:http, node:https, node:tls, drivers of databases.
  const sockets = net.Socket.prototype as unknown as Record<"connect", Callback>;
  sockets.connect = new Proxy(sockets.connect, {
    apply: (target, self, args) =>
      ownerNow()?.sealed === undefined ? Reflect.apply(target, self, args) : refuse("a network connection"),
  });
};
