/**
 * Puts the rooms together: (config) → a running engine. The only file that knows all parts.
 *
 * Invariants: several engines may live in one process and share nothing; starting reads the service's state before any strategy
 * runs; stopping ends strategies first, then does what the caller says with resting orders, then plugins.
 */
import { lastValueFrom, Observable, ReplaySubject, type Subscription, takeUntil } from "rxjs";
import type { OpenService, ServiceUser } from "../client/service-port.ts";
import { after } from "../clock/clock.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import { checkConfig } from "../host/config.ts";
import type { Estimate, PlannedAction, PositionEnding, QuotaState, StreamsOfState, StreamsOfUser } from "../host/context.ts";
import { estimateOf } from "../host/estimate.ts";
import { inThread } from "../host/isolation.ts";
import { PluginHost } from "../host/plugin-host.ts";
import { quotaStream } from "../host/quota-stream.ts";
import { createStrategyHost, type StrategyState } from "../host/strategy-host.ts";
import { type NoticeListener, onceFaulty } from "../journal/event-emitter.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Event } from "../journal/events.ts";
import { createOrders } from "../orders/manual-orders.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import { createRandom } from "../random.ts";
import { type AssemblyOptions, assemble, type Parts } from "./assembly.ts";
import { watchCalendar } from "./calendar-watch.ts";
import { closingWith } from "./close-positions.ts";
import { drained } from "./drain.ts";
import { monitorForeignUsage } from "./foreign-usage-monitor.ts";
import { initialSync } from "./initial-sync.ts";
import { setLeverage } from "./leverage.ts";
import { quotaReader } from "./quota-reader.ts";
import { holdAsBefore, recall } from "./recovery.ts";
import { watchSharedAccess } from "./shared-access.ts";
import { detectStalls } from "./stall-detector.ts";
import { type Switches, setMode, switchesOf } from "./trading-state.ts";
import { streamsOf, type UserAccount } from "./user-account.ts";

/** The streams are those of the first user; `ofUser` has the others'. */
export interface Engine extends StreamsOfState, Switches {
  /** Reads the service's state, then starts plugins and strategies. Rejects when the state cannot be read. */
  start(): Promise<void>;
  /**
   * No new orders; strategies end; resting orders are canceled when asked for; plugins are undone. For up to `settleMs` (0) it
   * first waits until the fate of every order that was sent is known.
   */
  stop(options?: { readonly cancel?: boolean; readonly settleMs?: number }): Promise<void>;
  readonly ofUser: StreamsOfUser;
  readonly events$: Observable<Event>;
  readonly updates$: Observable<OrderUpdate>;
  /** The same events to sinks by type, without a stream, for what measures the engine; a sink changes nothing. */
  readonly log: Pick<EventLog, "attach" | "on">;
  /** `order:filled`, `quota:rejected`, `event` …; returns the way to stop listening. */
  readonly on: (name: string, listener: NoticeListener) => () => void;
  /** `halt`, and then every position of the account is closed at the market, also those of other clients. */
  readonly closePositions: (reason: string) => Observable<PositionEnding>;
  readonly quotaNow: () => QuotaState;
  readonly strategies: ReadonlyMap<string, StrategyState>;
  readonly service: OpenService;
}

export interface EngineOptions extends AssemblyOptions {
  /** Where `print` of plugins goes; nowhere by default. */
  readonly print?: (line: string) => void;
  /** True where the driver of the clock follows the promises of strategies (host/execution-context.ts). */
  readonly followed?: boolean;
  /** Awaited when the service's state has been read, before plugins and strategies start. */
  readonly ready?: () => Promise<void>;
}

const stopMsMax = 70_000;

const estimator =
  ({ contract, ledger, service: { clock } }: Parts, { uid }: ServiceUser) =>
  (actions: readonly PlannedAction[]): Estimate => {
    const at = clock.now();
    const minute = ledger.state(at).find(({ layer, scope }) => layer === "uid" && scope === uid);
    return estimateOf(actions, contract, minute, at);
  };

export const createEngine = (input: unknown, options: EngineOptions = {}): Engine => {
  const config = checkConfig(input);
  const random = createRandom(config.seed);
  // Replayed, so that who comes after the stop gets an end and nothing else.
  const stopped$ = new ReplaySubject<void>(1);
  const parts = assemble(config, random, stopped$, options);
  const { beating, accounts, halt, journal, notices, service } = parts;
  const { clock, market } = service;
  const now = () => clock.now();
  const strategyHost = createStrategyHost(clock, journal, config.supervision, options.followed);
  const pluginHost = new PluginHost(clock, journal);
  const quotaNow = quotaReader(journal, parts.ledger, parts.scheduler, clock);
  monitorForeignUsage(journal, parts.ledger);
  watchCalendar(journal, clock, parts.ledger.clock, parts.contract.profile.auth.toleranceMs);
  if (service.watchful === true) watchSharedAccess(journal, quotaNow, config.instance);
  const quota$ = quotaStream(clock, journal, quotaNow);
  const streams = new Map(accounts.all.map((account) => [account, streamsOf(account, quota$, stopped$)]));
  const streamsFor = (account: UserAccount): StreamsOfState => streams.get(account) as StreamsOfState;
  const state: { is: EngineState } = { is: "new" };
  let stalls: Subscription | undefined;
  const switches = switchesOf(accounts, journal, halt, (mode, reason) => parts.durable?.decide(mode, reason));
  const face = {
    ...streamsFor(accounts.first),
    ofUser: (uid: string): StreamsOfState => streamsFor(accounts.of(uid, "ofUser")),
    events$: journal.events$.pipe(takeUntil(stopped$)),
    updates$: updatesOf(accounts.all).pipe(takeUntil(stopped$)),
    on: onceFaulty(notices, parts.onError),
    ...switches,
    closePositions: closingWith({
      clock,
      journal,
      accounts: accounts.all,
      halt: switches.halt,
      onClosed: ({ user, orderManager }, instId, px) => {
        orderManager.closed(instId, px);
        parts.durable?.closed(user.uid, instId, px);
      },
      stopped$,
    }),
    quotaNow,
  };
  const begin = (): void => {
    journal.append({ type: "engine.started", strategies: names(config.strategies), plugins: names(config.plugins) });
    for (const plugin of config.plugins) pluginHost.start(plugin, { ...face, market, now, print: options.print ?? (() => undefined) });
    for (const strategy of config.strategies) {
      const { name, user } = strategy;
      const account = accounts.of(user, `strategy "${name}"`);
      const { orderManager, resources } = account;
      const context = {
        ...streamsFor(account),
        name,
        market,
        now,
        listed: (): readonly InstrumentRecord[] => [...resources.instruments.current.value.values()],
        estimate: estimator(parts, account.user),
        orders: createOrders(orderManager, name, clock),
        random: random.fork(`strategy ${name}`),
      };
      strategyHost.start(service.realTime === true ? inThread(strategy) : strategy, context, orderManager);
    }
  };
  const end = async (): Promise<void> => {
    stopped$.next();
    parts.lifetime.end();
    parts.scheduler.close();
    await service.stop();
    await parts.durable?.close();
  };

  return {
    ...face,
    log: journal,
    strategies: strategyHost.states,
    service,
    start: async () => {
      if (state.is !== "new") throw new SluiceError("ENGINE_STATE", `An engine starts once; this one is ${state.is}. Make a new one.`);
      state.is = "started";
      try {
        const recovered = await parts.durable?.open();
        // The stop came too early to close what was not open yet.
        if (isStopped(state)) {
          await parts.durable?.close();
          throw new SluiceError("ENGINE_STATE", "The engine was stopped while it opened its journal.");
        }
        if (recovered !== undefined) holdAsBefore(accounts, names(config.strategies), recovered);
        beating.start();
        service.start();
        if (service.realTime === true || service.watchful === true) parts.startWatch.begin();
        for (const account of accounts.all) await initialSync(clock, account.orderManager, streamsFor(account), parts.startWatch);
        await setLeverage(clock, accounts.all, config.leverage);
        if (recovered !== undefined) recall({ accounts, journal, clock }, recovered);
        if (service.watchful === true) stalls = detectStalls({ clock, journal, accounts: accounts.all });
        await options.ready?.();
      } catch (error) {
        if (isStopped(state)) throw new SluiceError("ENGINE_STATE", "The engine was stopped while it started.");
        state.is = "stopped";
        beating.stop();
        await end();
        throw error;
      } finally {
        parts.startWatch.end();
      }
      if (isStopped(state)) return;
      begin();
      beating.ready();
    },
    stop: async ({ cancel = false, settleMs = 0 } = {}) => {
      if (isStopped(state)) return;
      state.is = "stopped";
      stalls?.unsubscribe();
      strategyHost.stop();
      if (cancel) await lastValueFrom(halt("stop").pipe(takeUntil(after(clock, stopMsMax))), { defaultValue: undefined });
      else setMode(accounts, "reducing", "stop");
      await drained(accounts.all, clock, settleMs);
      journal.append({ type: "engine.stopped", reason: cancel ? "orders cancelled" : "orders kept" });
      pluginHost.stop();
      await pluginHost.ended();
      await beating.end(cancel);
      await end();
    },
  };
};

const updatesOf = (accounts: readonly UserAccount[]): Observable<OrderUpdate> =>
  new Observable((subscriber) => {
    for (const { orderManager } of accounts) {
      const stop = orderManager.listen((update) => {
        subscriber.next(update);
      });
      subscriber.add(stop);
    }
  });

const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name);

type EngineState = "new" | "started" | "stopped";

/** Asked again after every wait: it may have been stopped meanwhile. */
const isStopped = (state: { readonly is: EngineState }): boolean => state.is === "stopped";
