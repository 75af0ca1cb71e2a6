/**
 * Lifecycle of an engine: start and stop, each once.
 *
 * Invariants: what a config needs is loaded before the first step of a start; the service's state is read before any
 * plugin or strategy starts; a stop may come during a start, and then nothing further is started.
 * Not here: what is started (engine.ts, assembly.ts).
 */
import {
  filter,
  firstValueFrom,
  lastValueFrom,
  map,
  Observable,
  race,
  type Subject,
  type Subscription,
  startWith,
  take,
  takeUntil,
} from "rxjs";
import { after, type Clock } from "../clock/clock.ts";
import type { OrderRecord } from "../contract/schemas.ts";
import { messageOf, SluiceError } from "../errors.ts";
import type { CheckedConfig } from "../host/config.ts";
import type { Acquired } from "../host/engine-extension.ts";
import type { PositionDifference } from "../host/operator-view.ts";
import type { PluginHost } from "../host/plugin-host.ts";
import type { Strategy } from "../host/strategy.ts";
import type { StrategyHost } from "../host/strategy-host.ts";
import type { Order } from "../orders/order-state.ts";
import type { Parts } from "./assembly.ts";
import { serviceCalendar } from "./calendar-watch.ts";
import type { HealthWatch } from "./health-watch.ts";
import { initialSync, type ReadAtStart } from "./initial-sync.ts";
import type { Recovered } from "./journal-port.ts";
import { setMode } from "./trading-state.ts";
import { openOrdersOf, type UserAccount } from "./user-account.ts";

const stopMsMax = 70_000;

type Load = () => Promise<void>;

/**
 * Code that only some configs need, loaded once before an engine of such a config starts. If nothing has to be loaded,
 * the start takes no turn of the event loop for it, so that a manually driven clock does not advance.
 */
export class LateCode {
  readonly #loads: readonly Load[];
  #loading: Promise<void> | undefined;
  #isLoaded: boolean;

  /** A part that is already loaded or not needed is undefined. */
  constructor(...loads: readonly (Load | undefined)[]) {
    this.#loads = loads.filter((load) => load !== undefined);
    this.#isLoaded = this.#loads.length === 0;
  }

  /** Begins to load if that has not begun. Undefined when everything is loaded. */
  get pending(): Promise<void> | undefined {
    if (this.#isLoaded) return undefined;
    this.#loading ??= Promise.all(this.#loads.map((load) => load())).then(() => {
      this.#isLoaded = true;
    });
    return this.#loading;
  }
}

/**
 * Steps of a start that only some configs need: setting leverage that the config names, and detecting stalls when real
 * money is at risk.
 */
export class StartSteps {
  setLeverage: typeof import("./leverage.ts").setLeverage | undefined;
  detectStalls: typeof import("./stall-detector.ts").detectStalls | undefined;
  readonly loads: readonly (Load | undefined)[];

  constructor({ leverage }: CheckedConfig, isWatchful: boolean) {
    const loadLeverage: Load = async () => {
      ({ setLeverage: this.setLeverage } = await import("./leverage.ts"));
    };
    const loadStalls: Load = async () => {
      ({ detectStalls: this.detectStalls } = await import("./stall-detector.ts"));
    };
    this.loads = [Object.keys(leverage).length > 0 ? loadLeverage : undefined, isWatchful ? loadStalls : undefined];
  }
}

/**
 * Parts that only engines in real time have: threads of isolated strategies, measurements, and the position check.
 * Until they are loaded the engine works without them.
 */
export class RealTimeParts {
  measured: HealthWatch | undefined;
  readonly loads: readonly (Load | undefined)[];
  #inThread: typeof import("../host/isolation.ts").inThread | undefined;
  /** Compares positions of the account with those of strategies, where real money is at stake. */
  #checkPositions: typeof import("./position-check.ts").checkPositions | undefined;
  #differences: (() => readonly PositionDifference[]) | undefined;

  constructor({ strategies }: CheckedConfig, { journal, service: { clock, realTime, watchful } }: Parts) {
    // A backtest runs an isolated strategy in the engine's thread.
    const isIsolated = realTime === true && strategies.some(({ isolation }) => isolation !== undefined);
    const loadThreads: Load = async () => {
      ({ inThread: this.#inThread } = await import("../host/isolation.ts"));
    };
    const loadMeasures: Load = async () => {
      const { HealthWatch } = await import("./health-watch.ts");
      this.measured ??= new HealthWatch(clock, journal);
    };
    const loadCheck: Load = async () => {
      ({ checkPositions: this.#checkPositions } = await import("./position-check.ts"));
    };
    this.loads = [
      isIsolated ? loadThreads : undefined,
      realTime === true ? loadMeasures : undefined,
      watchful === true ? loadCheck : undefined,
    ];
  }

  /** Called when the service's state has been read. */
  begin({ accounts, durable, journal, service: { clock } }: Parts, stopped$: Observable<void>): void {
    this.measured?.start();
    this.#differences = this.#checkPositions?.({
      clock,
      journal,
      accounts: accounts.all,
      isKept: durable !== undefined,
      stopped$,
    });
  }

  /** Differences of positions; empty where they are not compared. */
  differences(): readonly PositionDifference[] {
    return this.#differences?.() ?? [];
  }

  /** The strategy as it is run: in its own thread where it is isolated. */
  asRun(strategy: Strategy): Strategy {
    return this.#inThread?.(strategy) ?? strategy;
  }
}

export const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name);

interface LifecycleOptions {
  readonly config: CheckedConfig;
  readonly parts: Parts;
  readonly late: LateCode;
  readonly steps: StartSteps;
  readonly streamsFor: (account: UserAccount) => ReadAtStart;
  readonly stopped$: Subject<void>;
  readonly strategyHost: StrategyHost;
  readonly pluginHost: PluginHost;
  /** Awaited when the service's state has been read. */
  readonly ready: (() => Promise<void>) | undefined;
  /** Starts plugins; a promise where strategies wait for the set-up of one. */
  readonly beginPlugins: () => Promise<void> | undefined;
  readonly beginStrategies: () => void;
}

export class EngineLifecycle {
  readonly #options: LifecycleOptions;
  #state: "new" | "started" | "stopped" = "new";
  #stalls: Subscription | undefined;
  #stopping: Promise<void> | undefined;
  /** True once plugins and strategies were started. */
  #hasBegun = false;
  /** True if another process leads. It is responsible for what this one could not write any more. */
  #isDeposed = false;
  /** True while the engine waits until it may trade. */
  #isAcquiring = false;

  constructor(options: LifecycleOptions) {
    this.#options = options;
    options.parts.takeover.onDeposed = () => {
      this.#isDeposed = true;
      this.stop().catch((error: unknown) => {
        options.parts.journal.append({
          type: "anomaly",
          what: "standby.stop",
          detail: `the engine did not end in order: ${messageOf(error)}`,
        });
      });
    };
  }

  async start(): Promise<void> {
    const { parts, beginPlugins, beginStrategies } = this.#options;
    if (this.#state !== "new")
      throw new SluiceError("ENGINE_STATE", `An engine starts once; this one is ${this.#state}. Make a new one.`);
    this.#state = "started";
    try {
      await this.#read();
    } catch (error) {
      if (this.#isStopped()) throw new SluiceError("ENGINE_STATE", "The engine was stopped while it started.");
      this.#state = "stopped";
      await this.#end();
      throw error;
    } finally {
      parts.startWatch.end();
    }
    if (this.#isStopped()) return;
    const settingUp = beginPlugins();
    if (settingUp !== undefined) await this.#ready(settingUp);
    if (this.#isStopped()) return;
    this.#hasBegun = true;
    beginStrategies();
    parts.extensions.started();
  }

  /**
   * Waits for plugins that must be ready before trading, or for a stop. The engine ends if such a plugin fails.
   */
  async #ready(settingUp: Promise<void>): Promise<void> {
    try {
      await firstValueFrom(race(settingUp, this.#options.stopped$));
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** A second caller waits for the same end. */
  async stop(how: { readonly cancel?: boolean; readonly settleMs?: number } = {}): Promise<void> {
    if (!this.#isStopped()) this.#stopping = this.#stop(how);
    await this.#stopping;
  }

  async #stop({
    cancel = false,
    settleMs = 0,
  }: {
    readonly cancel?: boolean;
    readonly settleMs?: number;
  }): Promise<void> {
    const { parts, strategyHost, pluginHost } = this.#options;
    const { accounts, extensions, halt, journal } = parts;
    const { clock } = parts.service;
    const stoodBy = this.#isAcquiring;
    this.#state = "stopped";
    this.#stalls?.unsubscribe();
    strategyHost.stop();
    for (const { orderManager } of accounts.all) orderManager.leave();
    if (cancel)
      await lastValueFrom(halt("stop", {}, true).pipe(takeUntil(after(clock, stopMsMax))), { defaultValue: undefined });
    else setMode(accounts, "reducing", "stop");
    await drained(accounts.all, clock, settleMs);
    const kept = this.#hasBegun ? "orders kept" : unbegun;
    journal.append({
      type: "engine.stopped",
      reason: stoodBy ? onlyStoodBy : cancel ? canceledText(accounts.all) : kept,
    });
    pluginHost.stop();
    await pluginHost.ended();
    try {
      const stopping = extensions.stopping(() => ({ cancel, open: openIn(accounts.all) }));
      if (stopping !== undefined) await stopping;
    } finally {
      await this.#end();
    }
  }

  /** Loads the remaining code, then reads what a previous run left, then the service's state. */
  async #read(): Promise<void> {
    const { config, parts, late, steps, streamsFor, ready } = this.#options;
    const { accounts, durable, extensions, journal, service, startWatch } = parts;
    const { clock } = service;
    const loading = late.pending;
    if (loading !== undefined) await loading;
    if (this.#isStopped()) throw new SluiceError("ENGINE_STATE", "The engine was stopped while its code was loaded.");
    const acquiring = extensions.acquire();
    const goesOn = acquiring !== undefined && (await this.#acquired(acquiring));
    const recovered = await durable?.open(goesOn);
    // The stop came before there was anything to close.
    if (this.#isStopped()) {
      await durable?.close();
      throw new SluiceError("ENGINE_STATE", "The engine was stopped while it opened its journal.");
    }
    if (recovered !== undefined) durable?.recovery.holdAsBefore(accounts, names(config.strategies), recovered);
    const joining = extensions.join();
    if (joining !== undefined) await joining;
    service.start();
    if (service.realTime === true || service.watchful === true) startWatch.begin();
    for (const account of accounts.all) await initialSync(clock, account.orderManager, streamsFor(account), startWatch);
    await steps.setLeverage?.(clock, accounts.all, config.leverage);
    if (durable !== undefined && recovered !== undefined) await this.#recall(durable, recovered);
    this.#stalls = steps.detectStalls?.({ clock, journal, accounts: accounts.all });
    const synced = extensions.synced();
    if (synced !== undefined) await synced;
    await ready?.();
  }

  /** Waits until this process may trade. Resolves with true where it continues what another one left. */
  async #acquired(acquiring: Promise<Acquired>): Promise<boolean> {
    this.#isAcquiring = true;
    const { continues, inOrder } = await acquiring;
    if (this.#isStopped()) throw new SluiceError("ENGINE_STATE", "The engine was stopped while it was on standby.");
    this.#isAcquiring = false;
    this.#options.parts.takeover.isHandedOver = inOrder;
    return continues;
  }

  /** Takes over what previous runs left, and what the service knows beyond their journal. */
  async #recall(durable: NonNullable<Parts["durable"]>, recovered: Recovered): Promise<void> {
    const { parts, stopped$ } = this.#options;
    const { accounts, contract, journal, ledger, service, startWatch } = parts;
    const { clock } = service;
    const { readBack, recall } = durable.recovery;
    const history = new Map<string, readonly OrderRecord[]>();
    for (const account of accounts.all) {
      const { uid } = account.user;
      const end = recovered.endOf(uid);
      const unitsPerMs = timeUnitsPerMs[contract.profile.order.timeUnit];
      const serviceNow = serviceCalendar(ledger.clock, clock.now())?.from ?? clock.wallNow();
      const options = { clock, journal, watch: startWatch, serviceNow, unitsPerMs, stopped$ };
      if (end !== undefined) history.set(uid, await readBack(options, account, end));
    }
    recall({ accounts, journal, clock }, recovered, { history, onReached: durable.reached });
  }

  async #end(): Promise<void> {
    const { parts, stopped$ } = this.#options;
    stopped$.next();
    for (const { orderManager } of parts.accounts.all) orderManager.close();
    parts.lifetime.end();
    parts.scheduler.close();
    await parts.service.stop();
    try {
      await parts.durable?.close();
    } catch (error) {
      if (!this.#isDeposed) throw error;
    } finally {
      await parts.extensions.closed();
    }
  }

  /** Returns true if the engine was stopped. Check it again after every wait. */
  #isStopped(): boolean {
    return this.#state === "stopped";
  }
}

/** Units of the service's time stamps per millisecond. */
const timeUnitsPerMs = { ms: 1, s: 0.001, us: 1_000 } as const;

const unbegun = "it had not started, and nothing was traded";
const onlyStoodBy = "it was on standby and never led: no order was cancelled, the orders are the leader's";

/** An order counts as canceled by its record alone, not by the answer to its cancel. */
const canceledText = (accounts: readonly UserAccount[]): string => {
  const left = accounts.reduce((count, { orderManager }) => count + orderManager.orders().length, 0);
  if (left === 0) return "orders cancelled";
  return `${left} ${left === 1 ? "order" : "orders"} could not be confirmed as canceled`;
};

const openIn = (accounts: readonly UserAccount[]): number =>
  accounts.reduce((count, account) => count + openOrdersOf(account), 0);

const isOpenQuestion = ({ phase }: Order): boolean => phase === "sent" || phase === "unknown";

/** Resolves when the state of every order is known, or after `ms`. It sends no additional request. */
const drained = async (accounts: readonly UserAccount[], clock: Clock, ms: number): Promise<void> => {
  if (ms <= 0) return;
  const questions = (): number =>
    accounts.reduce((count, { orderManager }) => count + orderManager.orders().filter(isOpenQuestion).length, 0);
  const changed$ = new Observable<undefined>((subscriber) => {
    for (const { orderManager } of accounts) subscriber.add(orderManager.listen(() => subscriber.next(undefined)));
  });
  const none$ = changed$.pipe(
    startWith(undefined),
    map(questions),
    filter((count) => count === 0),
    take(1),
    takeUntil(after(clock, ms)),
  );
  await lastValueFrom(none$, { defaultValue: 0 });
};
