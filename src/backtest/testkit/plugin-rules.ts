/**
 * Rules that every plugin keeps, checked by running it in engines of its own on virtual time.
 *
 * Invariants: a rule finds one kind of fault and no other; each begins with an engine of its own, and a plugin that
 * does not start, or whose stop does not end, is reported by that rule alone.
 * Not here: extensions for real orders over a network, which `extend` adds to no test engine.
 */
import { Subject } from "rxjs";
import { within } from "../../clock/clock.ts";
import { createSystemClock } from "../../clock/system-clock.ts";
import { messageOf } from "../../errors.ts";
import { defineStrategy } from "../../host/define.ts";
import type { Plugin } from "../../host/strategy.ts";
import type { WantedOrder } from "../../orders/wanted-order.ts";
import { EngineTest } from "./engine-test.ts";
import { PluginProbe } from "./plugin-probe.ts";
import type { TestOptions } from "./test-options.ts";

/** Options of `checkPlugin`. */
export interface PluginCheckOptions extends Omit<TestOptions, "failures"> {
  /** Plugins that it needs. */
  readonly plugins?: readonly Plugin[];
  /** Milliseconds of the machine that a start or a stop may take. Default 5 000. */
  readonly timeoutMs?: number;
}

/** Result of one rule. */
export interface PluginFinding {
  /** `P01`, `P02` and so on. */
  readonly rule: string;
  /** The rule in a few words. */
  readonly title: string;
  /** `skip`: the plugin does not start, or its stop does not end. */
  readonly kind: "pass" | "fail" | "skip";
  /** The fault, or the reason for the skip; empty for a pass. */
  readonly detail: string;
}

const instId = "BTC-USDT-SWAP";
const bid = (px: string): WantedOrder => ({ slot: "bid", instId, side: "buy", px, qty: "0.01" });
const patienceMs = 5_000;
/** The leading part of the message with which the plugin host reports an undo that takes too long. */
const tooLong = "its undoing did not end";

/** A plugin in an engine, and what it did. */
class PluginRun {
  readonly probe: PluginProbe;
  readonly test: EngineTest;
  readonly #wanted$ = new Subject<readonly WantedOrder[]>();
  readonly #patienceMs: number;
  readonly #plugin: Plugin;
  readonly #machine = createSystemClock();

  constructor(plugin: Plugin, { plugins = [], timeoutMs = patienceMs, ...options }: PluginCheckOptions) {
    this.#plugin = plugin;
    this.#patienceMs = timeoutMs;
    this.probe = new PluginProbe(plugin, this.#machine);
    const byHand = defineStrategy({
      name: "by hand",
      options: { type: "object", additionalProperties: false, properties: {} },
      wanted: () => this.#wanted$,
    })({});
    const cast = { strategies: [byHand], plugins: [...plugins, this.probe.plugin], failing: [] };
    this.test = new EngineTest(cast, { ...options, failures: "record" });
  }

  /** Starts the engine, and waits for the set-up where `settles`. */
  async begin(settles = true): Promise<void> {
    await this.probe.measure();
    await this.#intime("start", this.test.begin());
    if (settles) await this.#intime("set-up", this.probe.settled());
  }

  /** Rejects where the stop fails or takes too long. */
  async stop(): Promise<void> {
    await this.#intime("stop", this.test.stop());
  }

  /** Failures of the plugin that the engine reported. */
  get failures(): readonly string[] {
    return this.test.events.flatMap((event) =>
      event.type === "plugin.failed" && event.plugin === this.#plugin.name ? [event.message] : [],
    );
  }

  /** Places an order that rests. Returns false where it was refused or is not at the exchange. */
  async rests(px = "59000"): Promise<boolean> {
    this.test.quote(instId, { bidPx: "60000", askPx: "60001" });
    this.#wanted$.next([bid(px)]);
    await this.test.advance(1_000);
    return this.test.open.length > 0;
  }

  /**
   * A market, an order that is moved and filled, one that the exchange rejects, a strategy that fails, a halt and its
   * end.
   */
  async trade(): Promise<void> {
    const { test } = this;
    if (await this.rests()) {
      await this.rests("59001");
      if (test.open.length > 0) test.fill("bid");
      await test.advance(1_000);
    }
    test.reject("bid");
    await this.rests("58000");
    this.#wanted$.error(new Error("by the check"));
    await test.advance(1_000);
    test.engine.halt("by the check").subscribe();
    await test.advance(2_000);
    test.engine.resume("by the check");
    await test.advance(60_000);
  }

  #intime<T>(what: string, promise: Promise<T>): Promise<T> {
    return within(this.#machine, this.#patienceMs, promise, () => {
      throw new Slow(`its ${what} does not end within ${this.#patienceMs / 1_000} s`);
    });
  }
}

class Slow extends Error {}

type Check = (made: (change?: (plugin: Plugin) => Plugin) => PluginRun, plugin: Plugin) => Promise<string | undefined>;

/** Returns the failure that a stop reports, apart from its duration. */
const stopProblem = async (run: PluginRun): Promise<string | undefined> => {
  const before = run.failures.length;
  try {
    await run.stop();
  } catch (error) {
    if (!(error instanceof Slow)) return messageOf(error);
  }
  return run.failures.slice(before).find((message) => !message.startsWith(tooLong));
};

/** Ends a run whose stop is not examined. */
const end = (run: PluginRun): Promise<void> => run.stop().catch(() => undefined);

const starts: Check = async (made) => {
  let run: PluginRun | undefined;
  try {
    run = made();
    await run.begin();
    return run.failures[0];
  } catch (error) {
    return messageOf(error);
  } finally {
    if (run !== undefined) await end(run);
  }
};

const stops: Check = async (made) => {
  const run = made();
  await run.begin();
  return stopProblem(run);
};

const startsAgain: Check = async (made) => {
  const first = made();
  await first.begin();
  await end(first);
  const { undone } = first.probe;
  await first.test.engine.stop().catch(() => undefined);
  if (first.probe.undone > undone) return "a second stop undid it again";
  const problem = await starts(made, undefined as never);
  return problem === undefined ? undefined : `it does not start a second time: ${problem}`;
};

const endsWhereItFails: Check = async (made) => {
  const run = made();
  await run.begin();
  run.probe.fail();
  await run.rests();
  const early = run.probe.undone;
  await end(run);
  if (run.probe.hasUndo && (early !== 1 || run.probe.undone !== 1))
    return `its undo ran ${run.probe.undone} times after it had failed`;
  return run.probe.leftBehind();
};

const undoneLate: Check = async (made, { ready }) => {
  if (ready !== undefined) return undefined;
  const plain = made();
  await plain.begin();
  await end(plain);
  if (!plain.probe.isAsynchronous) return undefined;
  const run = made();
  const goOn = run.probe.holdBack();
  await run.begin(false);
  await end(run);
  goOn();
  await run.probe.settled();
  return run.probe.leftBehind();
};

const failedSetup =
  (error: Error) =>
  (plugin: Plugin): Plugin => ({
    ...plugin,
    start: () => {
      throw error;
    },
  });

const survivesSetup: Check = async (made, { ready }) => {
  if (ready !== undefined) return undefined;
  const whole = made();
  await whole.begin();
  const trades = await whole.rests();
  await end(whole);
  const error = new Error("by the check");
  const run = made(failedSetup(error));
  await run.begin();
  const goesOn = await run.rests();
  const problem = await stopProblem(run);
  if (trades && !goesOn) return "after a set-up that failed the engine places no order";
  return problem;
};

const endsInTime: Check = async (made) => {
  const run = made();
  await run.begin();
  try {
    await run.stop();
  } catch (error) {
    if (error instanceof Slow) return error.message;
  }
  return run.failures.find((message) => message.startsWith(tooLong));
};

const withstands: Check = async (made) => {
  const run = made();
  await run.begin();
  await run.trade();
  const [problem] = run.failures;
  await end(run);
  return problem;
};

/** Events without the plugin's own failures, which another rule finds. */
const eventsOf = (run: PluginRun): readonly string[] =>
  run.test.events.filter(({ type }) => type !== "plugin.failed").map((event) => JSON.stringify(event));

const repeats: Check = async (made) => {
  const runs = [made(), made()];
  for (const run of runs) {
    await run.begin();
    await run.trade();
    await end(run);
  }
  const [first = [], second = []] = runs
    .map(eventsOf)
    .map((lines) => lines.map((line) => line.replace(/"seq":\d+,?/, "")));
  const at = first.findIndex((line, index) => line !== second[index]);
  return at === -1 ? undefined : `two runs differ: ${first[at]} and ${second[at]}`;
};

const leavesNothing: Check = async (made) => {
  const run = made();
  await run.begin();
  await run.rests();
  await end(run);
  return run.probe.leftBehind();
};

const over: readonly string[] = ["filled", "canceled", "rejected"];

const letsExitsPass: Check = async (made) => {
  const run = made();
  await run.begin();
  const rested = await run.rests();
  run.test.engine.halt("by the check", { full: true }).subscribe();
  await run.test.advance(5_000);
  const isLeft = run.test.orders.some(({ phase }) => !over.includes(phase));
  await end(run);
  return rested && isLeft ? "a halt cancels no order with it" : undefined;
};

const rules: readonly (readonly [rule: string, title: string, check: Check])[] = [
  ["P01", "starts", starts],
  ["P02", "stops without a failure", stops],
  ["P03", "is stopped twice, and starts again in another engine", startsAgain],
  ["P04", "ends where it fails: its undo runs once and leaves nothing", endsWhereItFails],
  ["P05", "an asynchronous set-up that ends after the stop is undone", undoneLate],
  ["P06", "a set-up that fails leaves the engine trading", survivesSetup],
  ["P07", "ends within the time of a stop", endsInTime],
  ["P08", "withstands trades, rejections, failures of strategies and halts", withstands],
  ["P09", "gives the same events twice", repeats],
  ["P10", "leaves nothing behind after the stop", leavesNothing],
  ["P11", "lets exits pass", letsExitsPass],
];

/** Rules that are checked first: where one fails, the others are skipped. */
const gates: readonly string[] = ["P01", "P07"];

const firstTheGates = (): typeof rules =>
  rules.toSorted(([a], [b]) => Number(gates.includes(b)) - Number(gates.includes(a)));

/**
 * Checks a plugin against the rules that every plugin keeps. It is started several times, so its options should name
 * files and ports that may be used again, such as port 0.
 *
 * @param plugin - as a config has it
 * @param options - market and exchange as for `testPlugin`, and plugins that it needs
 * @returns one finding for each rule, in their order
 * @example
 * const broken = (await checkPlugin(quietHours({}))).filter(({ kind }) => kind === "fail");
 */
export const checkPlugin = async (
  plugin: Plugin,
  options: PluginCheckOptions = {},
): Promise<readonly PluginFinding[]> => {
  const made = (change = (same: Plugin) => same) => new PluginRun(change(plugin), options);
  const problems = new Map<string, string | undefined>();
  for (const [rule, , check] of firstTheGates()) {
    const isPointless = gates.some((gate) => problems.get(gate) !== undefined);
    if (!isPointless) problems.set(rule, await check(made, plugin));
  }
  return rules.map(([rule, title]) => {
    if (!problems.has(rule))
      return { rule, title, kind: "skip", detail: "it does not start, or its stop does not end" };
    const problem = problems.get(rule);
    return { rule, title, kind: problem === undefined ? "pass" : "fail", detail: problem ?? "" };
  });
};
