/**
 * Runs a strategy in a thread of its own: an endless loop, a heap without end or a crash there ends nobody else.
 *
 * Invariants: to the rest of the engine an isolated strategy is like any other, one that emits wishes and may fail; a thread that
 * does not answer in time, grows beyond its heap or ends by itself is ended and has failed; what waits for it is bounded; its
 * environment is empty, so that no key is found there.
 * Not here: the far side (isolation-worker.ts), what follows from a failure (strategy-host.ts), where it may be used (engine/engine.ts).
 * The thread shares the process: memory outside the heap, native code and a killed process are not contained.
 */
import { Observable, type Observer, Subscription } from "rxjs";
import { every } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { messageOf, SluiceError } from "../errors.ts";
import type { WantedOrder } from "../orders/wanted-order.ts";
import type { StrategyContext } from "./context.ts";
import { outside } from "./execution-context.ts";
import type { FromThread, IsolatedFacts, StreamPath, ToThread } from "./isolation-messages.ts";
import { streamPaths } from "./isolation-messages.ts";
import type { Isolation, Strategy } from "./strategy.ts";
import { startThread } from "./worker-start.ts";

/** How long loading may take; as for a config. */
const loadMsMax = 30_000;
/** Values on their way to it; at full pace of the fastest market this is many times `answerMs`. */
const aheadMax = 200_000;
const pings = 4;

type Context = StrategyContext<never>;

/** The strategy as the host runs it: where it is to be isolated, its wishes come from a thread. */
export const inThread = (strategy: Strategy): Strategy => {
  const { isolation } = strategy;
  if (isolation === undefined) return strategy;
  return { ...strategy, start: (context) => ({ desired: wishesFrom(strategy, isolation, context) }) };
};

const wishesFrom = (
  { name, options, schema }: Strategy,
  { file, ...limits }: NonNullable<Strategy["isolation"]>,
  context: Context,
): Observable<readonly WantedOrder[]> =>
  new Observable((subscriber) => {
    const facts: IsolatedFacts = { file: file(), name, options, schema: JSON.stringify(schema) };
    subscriber.add(outside(() => run(facts, limits, context, subscriber)));
  });

/** Starts the thread; unsubscribing the result ends it. */
const run = (
  facts: IsolatedFacts,
  { answerMs, heapMb }: Isolation,
  context: Context,
  wishes: Observer<readonly WantedOrder[]>,
): Subscription => {
  const life = new Subscription();
  const worker = startThread(new URL("./isolation-worker", import.meta.url), facts, {
    env: {},
    resourceLimits: { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: Math.max(8, heapMb / 4), stackSizeMb: 4 },
  });
  const say = (message: ToThread): void => {
    worker.postMessage(message);
  };
  const fail = (why: string): void => {
    if (life.closed) return;
    life.unsubscribe();
    wishes.error(new SluiceError("STRATEGY_FAILED", why));
  };
  const streams = createStreams(context, say, () => {
    fail(`its thread is ${aheadMax} values behind the market`);
  });
  life.add(() => {
    streams.close();
    void worker.terminate();
  });
  worker.on("error", (error: Error & { code?: string }) => {
    const text =
      error.code === "ERR_WORKER_OUT_OF_MEMORY" ? `its thread used up its heap of ${heapMb} MiB` : `its thread failed: ${error.message}`;
    fail(text);
  });
  worker.on("exit", (code) => {
    fail(`its thread ended by itself with code ${code}`);
  });

  const machine = createSystemClock();
  let isLoaded = false;
  /** Pings in a row without an answer, each sent in a turn of its own: an engine that stood still has not waited. */
  let unanswered = 0;
  const tickMs = answerMs / pings;
  const unansweredMax = (): number => (isLoaded ? pings : Math.ceil(loadMsMax / tickMs));
  life.add(
    every(machine, tickMs).subscribe(() => {
      if (unanswered++ >= unansweredMax()) {
        fail(isLoaded ? `its thread did not answer for ${answerMs} ms` : `its thread did not load within ${loadMsMax / 1_000} s`);
      } else if (isLoaded && unanswered === 1) say({ kind: "ping" });
    }),
  );
  const hear = (message: FromThread): void => {
    switch (message.kind) {
      case "loaded":
        isLoaded = true;
        unanswered = 0;
        say({ kind: "begin", now: context.now(), seed: context.random.next(), listed: context.listed() });
        life.add(
          context.instruments$.subscribe(() => {
            say({ kind: "listed", listed: context.listed() });
          }),
        );
        return;
      case "want":
        wishes.next(message.wanted);
        return;
      case "failed":
        fail(message.message);
        return;
      case "pong":
        unanswered = 0;
        streams.caughtUp();
        if (message.completed) {
          life.unsubscribe();
          wishes.complete();
        }
        return;
      case "subscribe":
      case "unsubscribe":
        streams.take(message);
    }
  };
  worker.on("message", (message: FromThread) => {
    if (!life.closed) hear(message);
  });
  return life;
};

interface Streams {
  take(message: Extract<FromThread, { readonly kind: "subscribe" | "unsubscribe" }>): void;
  /** Everything sent before the last question was worked off. */
  caughtUp(): void;
  close(): void;
}

/** The engine's streams that the thread listens to; what comes in one turn leaves as one message. */
const createStreams = (context: Context, say: (message: ToThread) => void, tooFar: () => void): Streams => {
  const open = new Map<number, Subscription>();
  let batch: (readonly [number, unknown])[] = [];
  let ahead = 0;
  let closed = false;
  const flush = (): void => {
    if (batch.length === 0 || closed) return;
    const values = batch;
    batch = [];
    say({ kind: "values", values });
  };
  const send = (stream: number, value: unknown): void => {
    if (batch.length === 0) outside(() => queueMicrotask(flush));
    batch.push([stream, plain(value)]);
    if (++ahead > aheadMax) outside(tooFar);
  };
  const end = (stream: number, error?: string): void => {
    flush();
    open.delete(stream);
    say({ kind: "ended", stream, ...(error === undefined ? {} : { error }) });
  };
  const subscribe = (stream: number, path: StreamPath, args: readonly unknown[]): void => {
    const subscription = new Subscription();
    open.set(stream, subscription);
    try {
      const source = streamOf(context, path, args);
      subscription.add(
        source.subscribe({
          next: (value) => {
            send(stream, value);
          },
          error: (error: unknown) => {
            end(stream, messageOf(error));
          },
          complete: () => {
            end(stream);
          },
        }),
      );
    } catch (error) {
      end(stream, messageOf(error));
    }
  };
  return {
    take: (message) => {
      if (message.kind === "subscribe") subscribe(message.stream, message.path, message.args);
      else {
        open.get(message.stream)?.unsubscribe();
        open.delete(message.stream);
      }
    },
    caughtUp: () => {
      ahead = 0;
    },
    close: () => {
      closed = true;
      for (const subscription of open.values()) subscription.unsubscribe();
    },
  };
};

/** The objects of the market are made when they are read, and have to be read before they travel. */
const plain = (value: unknown): unknown => {
  const { toJSON } = (value ?? {}) as { readonly toJSON?: () => unknown };
  return typeof toJSON === "function" ? toJSON.call(value) : value;
};

const streamOf = (context: Context, path: StreamPath, args: readonly unknown[]): Observable<unknown> => {
  if (!streamPaths.includes(path)) throw new SluiceError("BUG", `no stream is called ${String(path)}`);
  const [first, second] = path.split(".");
  const holder = (second === undefined ? context : context[first as "market"]) as unknown as Readonly<Record<string, unknown>>;
  const member = holder[second ?? first ?? ""];
  return typeof member === "function"
    ? (member as (...given: readonly unknown[]) => Observable<unknown>).apply(holder, [...args])
    : (member as Observable<unknown>);
};
