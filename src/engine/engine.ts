/**
 * Puts the rooms together: (config) → a running engine. The only file that knows all parts.
 *
 * Invariants: several engines may live in one process and share nothing; starting reads the service's state before any strategy
 * runs; stopping ends strategies first, then does what the caller says with resting orders, then plugins.
 */
import { lastValueFrom, Observable, ReplaySubject, type Subscription, takeUntil } from "rxjs";
import type { OpenService, ServiceUser } from "../client/service-port.ts";
import { after } from "../clock/clock.ts";
import { createContract } from "../contract/contract.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { SluiceError } from "../errors.ts";
import { type CheckedConfig, checkConfig } from "../host/config.ts";
import type { Estimate, PlannedAction, PositionEnding, QuotaState, StreamsOfState, StreamsOfUser } from "../host/context.ts";
import { estimateOf } from "../host/estimate.ts";
import { inThread } from "../host/isolation.ts";
import { PluginHost } from "../host/plugin-host.ts";
import { quotaStream } from "../host/quota-stream.ts";
import { createStrategyHost, type StrategyState } from "../host/strategy-host.ts";
import type { Disk } from "../journal/disk.ts";
import { createNotices, type NoticeListener, onceFaulty } from "../journal/event-emitter.ts";
import { EventLog } from "../journal/event-log.ts";
import type { Event } from "../journal/events.ts";
import { fileDisk } from "../journal/file-disk.ts";
import { LastQuotes } from "../market/last-quotes.ts";
import { createOrders } from "../orders/manual-orders.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import { createRandom, type Random } from "../random.ts";
import { type Charge, headersRead, layersOf } from "../scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../scheduler/quota/ledger.ts";
import { createScheduler } from "../scheduler/scheduler.ts";
import { watchCalendar } from "./calendar-watch.ts";
import { closingWith } from "./close-positions.ts";
import { drained } from "./drain.ts";
import { monitorForeignUsage } from "./foreign-usage-monitor.ts";
import { initialSync } from "./initial-sync.ts";
import { setLeverage } from "./leverage.ts";
import { createLifetime } from "./lifetime.ts";
import { durableOf } from "./placement-journal.ts";
import { quotaReader } from "./quota-reader.ts";
import { holdAsBefore, recall } from "./recovery.ts";
import { watchSharedAccess } from "./shared-access.ts";
import { detectStalls } from "./stall-detector.ts";
import { createStartWatch } from "./start-watch.ts";
import { haltWith, type Switches, setMode, switchesOf } from "./trading-state.ts";
import { streamsOf, type UserAccount } from "./user-account.ts";
import { createUserAccounts } from "./user-accounts.ts";
import type { Dial } from "./watchdog/ipc.ts";
import type { IpcAddress } from "./watchdog/ipc-address.ts";
import { socketDial } from "./watchdog/ipc-socket.ts";
import { type WatchdogClient, watchdogClientOf } from "./watchdog-client.ts";

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

export interface EngineOptions {
  /** Where `print` of plugins goes; nowhere by default. */
  readonly print?: (line: string) => void;
  /** False: spend as if there were no limits. Only for a service that enforces none. */
  readonly limits?: boolean;
  /** True where the driver of the clock follows the promises of strategies (host/execution-context.ts). */
  readonly followed?: boolean;
  /** Where journals are kept; folders of the machine by default. */
  readonly openDisk?: (dir: string) => Promise<Disk>;
  /** How a watchdog is reached, where the config has one; a local socket by default. */
  readonly dial?: (meeting: IpcAddress) => Dial;
  /** Awaited when the service's state has been read, before plugins and strategies start. */
  readonly ready?: () => Promise<void>;
}

const stopMsMax = 70_000;

/** Everything that calls the service, and what it says back; nothing of strategies yet. */
const assemble = (
  config: CheckedConfig,
  random: Random,
  stopped$: Observable<void>,
  { limits = true, openDisk = fileDisk, dial = socketDial }: EngineOptions,
) => {
  const contract = createContract(config.profile);
  // User streams look after themselves; this is what a bystander's listener threw.
  const onError = (error: unknown): void => {
    journal.append({ type: "anomaly", what: "listener.threw", detail: error instanceof Error ? error.message : String(error) });
  };
  const onAnomaly = (what: string, detail: string): void => journal.append({ type: "anomaly", what, detail });
  const leave = (ip: string): number | undefined => leaveFor(ledger, ip, service.clock.now());
  const { shares = {}, budgets = {}, layers = layersOf(contract), ...reserve } = config.quota;
  const opened = config.service.open({ contract, random: random.fork("service"), onError, onAnomaly, leave, headers: headersRead(layers) });
  const lifetime = createLifetime(opened.clock);
  const { clock } = lifetime;
  const service: OpenService = { ...opened, clock };
  const journal = new EventLog(clock.now, onError);
  const durable = durableOf(config, service, (uid) => accounts.of(uid, "a placement").orderManager, openDisk);
  if (durable !== undefined) journal.on(durable.noted, durable.note);
  const notices = createNotices(journal, onError);
  const elementWeight = contract.profile.weights.perCancelElement;
  const ledger = createLedger({ layers: limits ? layers : [], reserve: { elementWeight, ...reserve }, startedAt: clock.now() });
  const startWatch = createStartWatch({ clock, journal, baseUrl: config.service.baseUrl });
  const written = durable === undefined ? service.transport : durable.interceptor(service.transport);
  const transport = startWatch.interceptor(written);
  const scheduler = createScheduler({ clock, ledger, transport, journal, shares, budgets });
  const quotes = new LastQuotes(service.market);
  const refused = (): string | undefined => durable?.refused() ?? beating.refused() ?? service.ordersRefused?.();
  const onLoss = (reason: string): void => {
    durable?.decide("halted", reason);
    setMode(accounts, "halted", reason);
  };
  const shared = { config, contract, service, refused, onLoss, journal, ledger, scheduler, quotes, stopped$ };
  const accounts = createUserAccounts(shared, service);
  const halt = haltWith(accounts, names(config.strategies));
  const beating: WatchdogClient = watchdogClientOf({
    config,
    service,
    journal,
    dial,
    accounts: () => accounts.all,
    halt: (reason) => void halt(reason),
  });
  return { contract, lifetime, service, durable, journal, notices, ledger, scheduler, accounts, beating, halt, startWatch, onError };
};

/** One request of an address and of no other. No answer to it is seen, so it counts wherever it may have landed. */
const leaveFor = (ledger: Ledger, ip: string, now: number): number | undefined => {
  const charge: Charge = { endpoint: "instruments", weight: 0, elements: 1, ip, uid: undefined, key: undefined };
  const verdict = ledger.ask(charge, "ordinary", now);
  if (!verdict.granted) return verdict.until;
  ledger.lose(ledger.spend(charge, now), now);
  return undefined;
};

type Parts = ReturnType<typeof assemble>;

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
