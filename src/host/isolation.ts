/**
 * Isolation: runs a strategy in its own thread, so that an endless loop, a memory leak or a crash does not end the
 * others.
 *
 * Invariants: to the rest of the engine an isolated strategy is like any other: it emits wanted orders and may fail; a
 * thread that does not answer in time, exceeds its heap or exits is terminated and has failed; the messages queued for
 * it are bounded; its `process.env` is empty. It is no sandbox: the thread can read files, and so the environment of
 * the process.
 * Not here: the thread's side (isolation-worker.ts), what follows from a failure (strategy-host.ts), where it may be
 * used (engine/engine.ts). The thread shares the process: memory outside the heap, native code and a killed process are
 * not contained.
 */
import type { Worker } from "node:worker_threads";
import { Observable, type Observer, Subscription } from "rxjs";
import { every } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { messageOf, SluiceError } from "../errors.ts";
import type { Wanted } from "../orders/wanted-order.ts";
import type { StrategyContext } from "./context.ts";
import { outside } from "./execution-context.ts";
import { type Occasion, thrownAt } from "./failure.ts";
import type { FromThread, IsolatedFacts, StreamPath, ToThread } from "./isolation-messages.ts";
import { streamPaths } from "./isolation-messages.ts";
import type { Isolation, Strategy } from "./strategy.ts";
import { startThread } from "./worker-start.ts";

/** Longest time that loading may take; the same as for a config. */
const loadMsMax = 30_000;
/**
 * Maximum number of values on their way to it. At the full rate of the fastest market this is many times `answerMs`.
 */
const aheadMax = 200_000;
const pings = 4;

type Context = StrategyContext<never>;

/** The strategy as the host runs it: an isolated one gets its wanted orders from a thread. */
export const inThread = (strategy: Strategy): Strategy => {
  const { isolation } = strategy;
  if (isolation === undefined) return strategy;
  return { ...strategy, start: (context) => ({ wanted: wantedFrom(strategy, isolation, context) }) };
};

const wantedFrom = (
  { name, options, schema }: Strategy,
  { file, ...limits }: NonNullable<Strategy["isolation"]>,
  context: Context,
): Observable<readonly Wanted[]> =>
  new Observable((subscriber) => {
    const facts: IsolatedFacts = { file: file(), name, options, schema: JSON.stringify(schema) };
    subscriber.add(outside(() => new IsolatedThread(facts, limits, context, subscriber).life));
  });

/** A thread and its supervision; unsubscribing `life` ends it. */
class IsolatedThread {
  readonly life = new Subscription();
  readonly #limits: Isolation;
  readonly #context: Context;
  readonly #wanted: Observer<readonly Wanted[]>;
  readonly #worker: Worker;
  readonly #streams: Streams;
  #isLoaded = false;
  /**
   * Number of pings in a row without an answer. Each is sent in a turn of its own, because an engine that is blocked
   * has not waited.
   */
  #unanswered = 0;

  constructor(facts: IsolatedFacts, limits: Isolation, context: Context, wanted: Observer<readonly Wanted[]>) {
    const { answerMs, heapMb } = limits;
    this.#limits = limits;
    this.#context = context;
    this.#wanted = wanted;
    this.#worker = startThread(new URL("../host/isolation-worker", import.meta.url), facts, {
      env: {},
      resourceLimits: {
        maxOldGenerationSizeMb: heapMb,
        maxYoungGenerationSizeMb: Math.max(8, heapMb / 4),
        stackSizeMb: 4,
      },
    });
    const send = (message: ToThread): void => {
      this.#worker.postMessage(message);
    };
    this.#streams = createStreams(context, send, () => {
      this.#fail(`its thread is ${aheadMax} values behind the market`);
    });
    this.life.add(() => {
      this.#streams.close();
      void this.#worker.terminate();
    });
    this.#worker.on("error", (error: Error & { code?: string }) => {
      const outOfMemory = error.code === "ERR_WORKER_OUT_OF_MEMORY";
      this.#fail(outOfMemory ? `its thread used up its heap of ${heapMb} MiB` : `its thread failed: ${error.message}`);
    });
    this.#worker.on("exit", (code) => {
      this.#fail(`its thread ended by itself with code ${code}`);
    });
    this.#worker.on("message", (message: FromThread) => {
      if (!this.life.closed) this.#receive(message, send);
    });
    this.life.add(
      every(createSystemClock(), answerMs / pings).subscribe(() => {
        this.#ping(send);
      }),
    );
  }

  #fail(why: string, occasion: Occasion = {}): void {
    if (this.life.closed) return;
    this.life.unsubscribe();
    this.#wanted.error(thrownAt(new SluiceError("STRATEGY_FAILED", why), occasion));
  }

  #ping(send: (message: ToThread) => void): void {
    const { answerMs } = this.#limits;
    const unansweredMax = this.#isLoaded ? pings : Math.ceil(loadMsMax / (answerMs / pings));
    if (this.#unanswered++ >= unansweredMax) {
      this.#fail(
        this.#isLoaded
          ? `its thread did not answer for ${answerMs} ms`
          : `its thread did not load within ${loadMsMax / 1_000} s`,
      );
    } else if (this.#isLoaded && this.#unanswered === 1) send({ kind: "ping" });
  }

  #receive(message: FromThread, send: (message: ToThread) => void): void {
    const context = this.#context;
    switch (message.kind) {
      case "loaded":
        this.#isLoaded = true;
        this.#unanswered = 0;
        send({ kind: "begin", now: context.now(), seed: context.random.next(), listed: context.listed() });
        this.life.add(
          context.instruments$.subscribe(() => {
            send({ kind: "listed", listed: context.listed() });
          }),
        );
        return;
      case "want":
        this.#wanted.next(message.wanted);
        return;
      case "failed":
        this.#fail(message.message, message.occasion);
        return;
      case "pong":
        this.#unanswered = 0;
        this.#streams.caughtUp();
        if (message.completed) {
          this.life.unsubscribe();
          this.#wanted.complete();
        }
        return;
      case "subscribe":
      case "unsubscribe":
        this.#streams.take(message);
    }
  }
}

interface Streams {
  take(message: Extract<FromThread, { readonly kind: "subscribe" | "unsubscribe" }>): void;
  /** Everything sent before the last ping was processed. */
  caughtUp(): void;
  close(): void;
}

/** The engine's streams that the thread listens to. The values of one turn leave as one message. */
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

/** Market objects are lazy views and have to be read before they are posted. */
const plain = (value: unknown): unknown => {
  const { toJSON } = (value ?? {}) as { readonly toJSON?: () => unknown };
  return typeof toJSON === "function" ? toJSON.call(value) : value;
};

const streamOf = (context: Context, path: StreamPath, args: readonly unknown[]): Observable<unknown> => {
  if (!streamPaths.includes(path)) throw new SluiceError("BUG", `no stream is called ${String(path)}`);
  const [first, second] = path.split(".");
  const holder = (second === undefined ? context : context[first as "market"]) as unknown as Readonly<
    Record<string, unknown>
  >;
  const member = holder[second ?? first ?? ""];
  return typeof member === "function"
    ? (member as (...given: readonly unknown[]) => Observable<unknown>).apply(holder, [...args])
    : (member as Observable<unknown>);
};
