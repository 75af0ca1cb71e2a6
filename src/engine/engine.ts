/**
 * Composition root: (config) → a running engine, with strategies and plugins over the parts that assembly.ts puts
 * together.
 *
 * Invariants: several engines may live in one process and share nothing; starting reads the service's state before any
 * strategy runs; stopping ends strategies first, then keeps or cancels resting orders, then ends plugins.
 */
import { Observable, ReplaySubject, takeUntil } from "rxjs";
import type { OpenService, ServiceUser } from "../client/service-port.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import type { RequestTracer } from "../contract/transport.ts";
import type { Failure } from "../errors.ts";
import { checkConfig } from "../host/config.ts";
import type {
  AboutEngine,
  Account,
  AccountOf,
  Estimate,
  Own,
  PlannedAction,
  PositionEnding,
  PositionFilter,
  QuotaState,
  SharedState,
} from "../host/context.ts";
import { FailureLog } from "../host/failure.ts";
import { historySourceOf } from "../host/history-reader.ts";
import { withHistory } from "../host/market-history.ts";
import type { Steering } from "../host/operator-view.ts";
import type { TextOfEvent } from "../host/plugin-events.ts";
import { PluginHost } from "../host/plugin-host.ts";
import { estimateOf, quotaReader, quotaStream } from "../host/quota-view.ts";
import type { Strategy } from "../host/strategy.ts";
import { createStrategyHost } from "../host/strategy-host.ts";
import { type OnEvent, onceFaulty } from "../journal/event-emitter.ts";
import type { EventLog } from "../journal/event-log.ts";
import type { Event } from "../journal/events.ts";
import { createOrders } from "../orders/manual-orders.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import { createRandom, type Random } from "../random.ts";
import { type AssemblyOptions, assemble, type Parts } from "./assembly.ts";
import { watchCalendar } from "./calendar-watch.ts";
import { closingWith } from "./close-positions.ts";
import { EngineLifecycle, LateCode, names, RealTimeParts, StartSteps } from "./engine-lifecycle.ts";
import { monitorForeignUsage, watchSharedAccess } from "./shared-access.ts";
import { steeringOf } from "./steering.ts";
import { ownOrders, positionsOf, priceChangesOf } from "./strategy-streams.ts";
import { type Decide, type Switches, switchesOf } from "./trading-state.ts";
import { accountOf, type UserAccount } from "./user-account.ts";

/** A running engine. */
export interface Engine extends SharedState, Switches, Steering {
  /**
   * Loads code that only some configs need, such as the network client; `start` does so too. With a manually driven
   * clock, await it before the start: loading takes no time on that clock.
   */
  load(): Promise<void>;
  /** Reads the service's state, then starts plugins and strategies. Rejects when the state cannot be read. */
  start(): Promise<void>;
  /**
   * Stops the engine: no new orders; strategies end; resting orders are canceled with `cancel`; plugins are disposed
   * of. For up to `settleMs` (0) it first waits until the state of every order that was sent is known.
   */
  stop(options?: { readonly cancel?: boolean; readonly settleMs?: number }): Promise<void>;
  /** uid of every user of the service, the first one first. */
  readonly users: readonly string[];
  /** The account of the first user. */
  readonly account: Account;
  /** The account of one of several users. */
  readonly accountOf: AccountOf;
  /** Everything that happens, in order. */
  readonly events$: Observable<Event>;
  /** Every change of every strategy's orders. */
  readonly updates$: Observable<OrderUpdate>;
  /** The same events for sinks by type, without a stream, for code that measures the engine. A sink changes nothing. */
  readonly log: Pick<EventLog, "attach" | "on">;
  /**
   * Adds a listener for an event name: `fill`, `order.filled`, `quota.rejected`, or `event` for all (`EventMap`).
   * Returns a function that removes it. Throws `EVENT_UNKNOWN` for an unknown name.
   */
  readonly on: OnEvent;
  /** Text of an event that a plugin of the config declares, with its severity; undefined for the core's events. */
  readonly eventText: TextOfEvent;
  /**
   * Halts and then closes every position of the account at the market, including those of other clients, and sells what
   * strategies hold of spot. With `strategy`, halts it alone and closes what it holds by its own fills. With `instId`
   * alone, closes the account's position in it and halts the strategies that trade it.
   */
  readonly closePositions: (reason: string, which?: PositionFilter) => Observable<PositionEnding>;
  /** The quota at this moment. */
  readonly quotaNow: () => QuotaState;
  /** The service that the engine runs on. */
  readonly service: OpenService;
}

/** Options of `createEngine` besides the config, for programs that embed an engine. */
export interface EngineOptions extends AssemblyOptions {
  /** Receives what plugins `print`, with the plugin's name; discarded by default. */
  readonly print?: (line: string, plugin?: string) => void;
  /** Called for each failure of a strategy or plugin, with the place in its author's file; for logging only. */
  readonly onFailure?: (failure: Failure) => void;
  /** True if the driver of the clock follows the promises of strategies (host/execution-context.ts). */
  readonly followed?: boolean;
  /** Awaited when the service's state has been read, before plugins and strategies start. */
  readonly ready?: () => Promise<void>;
}

const estimator =
  ({ contract, ledger, service: { clock } }: Parts, { uid }: ServiceUser) =>
  (actions: readonly PlannedAction[]): Estimate => {
    const at = clock.now();
    const minute = ledger.state(at).find(({ layer, scope }) => layer === "uid" && scope === uid);
    return estimateOf(actions, contract, minute, at);
  };

/** Watches for other programs on the account, as far as they can be noticed. */
const watchOthers = ({ accounts, journal, ledger, service }: Parts, instance: string): void => {
  monitorForeignUsage(journal, ledger);
  if (service.watchful !== true) return;
  watchSharedAccess(journal, ledger, instance, () => accounts.all.flatMap(({ orderManager }) => orderManager.orders()));
};

/**
 * Makes an engine from a config, for programs that embed one; nothing is opened before `start`.
 *
 * @param input - a config, checked as `defineConfig` does
 * @param options - where its lines go and what is put in place of parts, for tests
 * @returns the engine, not started
 * @throws CONFIG_INVALID with every mistake in the config
 * @example
 * const engine = createEngine(config);
 * await engine.start();
 * engine.updates$.subscribe(({ clOrdId, phase }) => console.log(clOrdId, phase));
 * await engine.stop();
 */
export const createEngine = (input: unknown, options: EngineOptions = {}): Engine => {
  const config = checkConfig(input);
  const random = createRandom(config.seed);
  // Replayed, so that a subscription after the stop completes at once.
  const stopped$ = new ReplaySubject<void>(1);
  const parts = assemble(config, random, stopped$, options);
  const { accounts, journal, service } = parts;
  const { clock } = service;
  const history = withHistory(service, config.history, (what, detail) =>
    journal.append({ type: "anomaly", what, detail }),
  );
  const market = parts.quotes.inFront(history);
  const now = () => clock.now();
  const failures = new FailureLog(options.onFailure);
  const strategyHost = createStrategyHost(clock, journal, config.supervision, options.followed, failures);
  const pluginHost = new PluginHost(clock, journal, undefined, failures);
  const quotaNow = quotaReader(journal, parts.ledger, parts.scheduler, clock);
  watchCalendar(journal, clock, parts.ledger.clock, parts.contract.profile.auth.toleranceMs);
  watchOthers(parts, config.instance);
  const priceChanges = priceChangesOf(service);
  const streamsByUser = new Map(
    accounts.all.map((account) => [account, accountOf(account, clock, priceChanges, stopped$)]),
  );
  const accountFor = (account: UserAccount): Account => streamsByUser.get(account) as Account;
  const shared: SharedState = {
    instruments$: accounts.first.resources.instruments.value$.pipe(takeUntil(stopped$)),
    quota$: quotaStream(clock, journal, quotaNow).pipe(takeUntil(stopped$)),
  };
  const inTime = new RealTimeParts(config, parts);
  const steering = steeringOf({ config, parts, strategyHost, inTime });
  const face = {
    ...shared,
    ...faceOf(parts, accountFor, quotaNow, names(config.strategies), stopped$),
    ...steering,
  };
  const { kind, environment = "", baseUrl } = config.service;
  const about: AboutEngine = {
    instance: config.instance,
    service: kind,
    environment,
    ...(baseUrl !== undefined && { baseUrl }),
  };
  const beginPlugins = (): Promise<void> | undefined => {
    inTime.begin(parts, stopped$);
    const awaited: Promise<void>[] = [];
    journal.append({ type: "engine.started", strategies: names(config.strategies), plugins: names(config.plugins) });
    for (const plugin of options.purpose === "close" ? [] : config.plugins) {
      const print = (line: string): void => options.print?.(line, plugin.name);
      const ready = pluginHost.start(plugin, { ...face, market, now, print, about });
      if (ready !== undefined) awaited.push(ready);
    }
    return awaited.length === 0 ? undefined : Promise.all(awaited).then(() => undefined);
  };
  const beginStrategies = (): void => {
    for (const strategy of config.strategies) {
      const account = accounts.of(strategy.user, `strategy "${strategy.name}"`);
      const context = {
        ...shared,
        account: accountFor(account),
        market,
        now,
        ...contextOf(parts, strategy, account, random, stopped$),
      };
      strategyHost.start(inTime.asRun(strategy), context, account.orderManager);
    }
  };
  const steps = new StartSteps(config, service.watchful === true);
  const late = new LateCode(
    ...steps.loads,
    service.load,
    parts.durable?.load,
    ...parts.extensions.loads,
    historySourceOf(config.history)?.load,
    ...inTime.loads,
  );
  const lifecycle = new EngineLifecycle({
    config,
    parts,
    late,
    steps,
    streamsFor: (account) => ({ ...shared, ...accountFor(account) }),
    stopped$,
    strategyHost,
    pluginHost,
    ready: options.ready,
    beginPlugins,
    beginStrategies,
  });
  return {
    ...face,
    log: journal,
    service,
    load: async () => late.pending,
    start: () => lifecycle.start(),
    stop: (how) => lifecycle.stop(how),
  };
};

/** Context of one strategy: its own parts, the market, and the state that all share. */
const contextOf = (
  parts: Parts,
  { name }: Strategy,
  { orderManager, resources, user }: UserAccount,
  random: Random,
  stopped$: Observable<void>,
) => {
  const { clock } = parts.service;
  const own: Own = {
    ...positionsOf(orderManager.positions, name, clock, priceChangesOf(parts.service), stopped$),
    ...ownOrders(orderManager, name),
  };
  return {
    name,
    listed: (): readonly InstrumentRecord[] => [...resources.instruments.current.value.values()],
    estimate: estimator(parts, user),
    plot: () => undefined,
    orders: createOrders(orderManager, name, clock),
    own,
    random: random.fork(`strategy ${name}`),
  };
};

/** Members of an engine that callers and plugins see, in every state. */
const faceOf = (
  { accounts, durable, extensions, eventText, halt, journal, notices, onError, scheduler, service: { clock } }: Parts,
  accountFor: (account: UserAccount) => Account,
  quotaNow: () => QuotaState,
  strategies: readonly string[],
  stopped$: Observable<void>,
) => {
  const decide: Decide = (mode, reason, full) => durable?.decide(mode, reason, full);
  const switches = switchesOf(accounts, journal, halt, decide, extensions);
  return {
    users: accounts.all.map(({ user }) => user.uid),
    account: accountFor(accounts.first),
    accountOf: (uid: string): Account => accountFor(accounts.of(uid, "accountOf")),
    events$: journal.events$.pipe(takeUntil(stopped$)),
    updates$: updatesOf(accounts.all).pipe(takeUntil(stopped$)),
    on: onceFaulty(notices, onError),
    eventText,
    halt: switches.halt,
    resume: switches.resume,
    closePositions: closingWith({
      clock,
      journal,
      accounts: accounts.all,
      strategies,
      halt: switches.haltToClose,
      closed: switches.closed,
      onClosed: ({ user, orderManager }, closed) => {
        const { instId, left, px } = closed;
        const parts = orderManager.closing.account(closed);
        durable?.closed(user.uid, instId, parts, left === "0" ? px : undefined);
        return parts;
      },
      onLate: ({ user, orderManager }, order, before) => {
        const { parts, standing } = orderManager.closing.correct(order, before);
        durable?.closed(user.uid, order.instId, parts, undefined);
        return standing;
      },
      stopped$,
    }),
    quotaNow,
    traceRequests: (tracer: RequestTracer) => scheduler.traces.follow(tracer),
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
