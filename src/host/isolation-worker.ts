/**
 * Thread of an isolated strategy: loads its file and runs it as the engine would.
 *
 * Invariants: the same host runs it as any strategy, so that its errors are caught and named, chance comes from its
 * seed and the network is closed to it; it sends wanted orders, subscriptions and its failure, and nothing else.
 * Not here: TypeScript (worker-start.ts registers its loader before this file is read).
 */
import { parentPort, workerData } from "node:worker_threads";
import type { Clock } from "../clock/clock.ts";
import { createSystemClock } from "../clock/system-clock.ts";
import { messageOf, SluiceError } from "../errors.ts";
import { EventLog } from "../journal/event-log.ts";
import type { WantedProtection } from "../orders/protection/protect.ts";
import type { WantedOrder } from "../orders/wanted-order.ts";
import { FailureLog, type Occasion } from "./failure.ts";
import { createIsolatedContext, type IsolatedContext } from "./isolated-context.ts";
import type { FromThread, IsolatedFacts, ToThread } from "./isolation-messages.ts";
import { exportsOf } from "./load.ts";
import type { Strategy } from "./strategy.ts";
import { createStrategyHost, type StrategyHost } from "./strategy-host.ts";

const { file, name, options, schema } = workerData as IsolatedFacts;

const say = (message: FromThread): void => {
  parentPort?.postMessage(message);
};

type Make = (options: unknown, naming: { readonly as: string }) => Strategy;

/** The default export of the file, recognised by its options. */
const load = async (): Promise<Strategy> => {
  const { default: make } = (file === undefined ? {} : await exportsOf(file)) as { readonly default?: unknown };
  const made = typeof make === "function" ? attempt(make as Make) : undefined;
  if (made?.kind === "strategy" && JSON.stringify(made.schema) === schema) return made;
  const where =
    file === undefined
      ? "no file is known that defines it"
      : `${file.replace(/^.*\//, "")} does not have it as its default export`;
  throw new SluiceError(
    "STRATEGY_FAILED",
    `it cannot be isolated: ${where}. Give it a file of its own: export default defineStrategy({ … }).`,
  );
};

/** Undefined if the options belong to another definition. */
const attempt = (make: Make): Strategy | undefined => {
  try {
    return make(options, { as: name });
  } catch {
    return undefined;
  }
};

/** The engine's time, received once and kept by this thread's own monotonic clock. */
const clockFrom = (now: number): Clock => {
  const machine = createSystemClock();
  const ahead = now - machine.now();
  return {
    now: () => machine.now() + ahead,
    wallNow: () => machine.wallNow(),
    setTimer: (at, run) => machine.setTimer(at - ahead, run),
  };
};

const begin = (strategy: Strategy, { now, seed, listed }: Extract<ToThread, { readonly kind: "begin" }>) => {
  const clock = clockFrom(now);
  const journal = new EventLog(() => clock.now());
  journal.attach((event) => {
    if (event.type === "strategy.failed") say({ kind: "failed", message: event.message, occasion });
  });
  // Set before the event is emitted.
  let occasion: Occasion = {};
  const failures = new FailureLog(({ place, handling }) => {
    occasion = { ...(place !== undefined && { place }), ...(handling !== undefined && { handling }) };
  });
  const host = createStrategyHost(clock, journal, undefined, false, failures);
  const context = createIsolatedContext({ name, clock, seed, listed, say });
  let protects: readonly WantedProtection[] = [];
  const want = (wanted: readonly WantedOrder[]): void => say({ kind: "want", wanted: [...wanted, ...protects] });
  host.start(strategy, context.parts, {
    replace: (_, wanted, protections = protects) => {
      protects = protections;
      want(wanted);
    },
    // Orders that it placed by hand are withdrawn by the main thread when it receives the end.
    withdraw: () => want([]),
    // Unchanged sets are detected where the orders are.
    renew: () => false,
    setStrategyMode: () => undefined,
  });
  return { host, context };
};

const serve = (strategy: Strategy): void => {
  let running: { readonly host: StrategyHost; readonly context: IsolatedContext } | undefined;
  parentPort?.on("message", (message: ToThread) => {
    if (message.kind === "begin") running = begin(strategy, message);
    else if (message.kind === "ping")
      say({ kind: "pong", completed: running?.host.states.get(name)?.state === "completed" });
    else running?.context.hear(message);
  });
  say({ kind: "loaded" });
};

try {
  serve(await load());
} catch (error) {
  say({ kind: "failed", message: messageOf(error) });
}
