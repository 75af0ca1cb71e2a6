/**
 * Puts the rooms together: (config) → a running engine. The only file that knows all parts.
 *
 * Invariants: several engines may live in one process and share nothing; starting reads the service's state before any strategy
 * runs; stopping ends strategies first, then does what the caller says with resting orders, then plugins.
 */
import { distinctUntilChanged, filter, firstValueFrom, lastValueFrom, map, type Observable, ReplaySubject, share, takeUntil } from "rxjs";
import { after, type Clock } from "./clock/clock.ts";
import { createContract } from "./contract/contract.ts";
import type { InstrumentRecord } from "./contract/schemas.ts";
import { SluiceError } from "./errors.ts";
import { createGateway } from "./gateway/gateway.ts";
import type { Estimate, PlannedAction, QuotaState, StreamsOfState } from "./host/context.ts";
import { type CheckedConfig, checkConfig } from "./host/define.ts";
import { estimateOf } from "./host/estimate.ts";
import { createPluginHost } from "./host/plugin-host.ts";
import { quotaStream } from "./host/quota-stream.ts";
import type { OpenService } from "./host/service.ts";
import { createStrategyHost, type StrategyState } from "./host/strategy-host.ts";
import type { Event } from "./journal/events.ts";
import { createJournal } from "./journal/journal.ts";
import { createNotices, type NoticeListener, type Notices } from "./journal/notices.ts";
import { createLastQuotes } from "./market/last-quotes.ts";
import { createDesk } from "./orders/desk.ts";
import { type CancelResult, cancelAll, createOrders, type OrderUpdate, updateOf } from "./orders/orders.ts";
import { defaultRules } from "./orders/rules.ts";
import { type Charge, layersOf } from "./quota/layers.ts";
import { createLedger, type Ledger } from "./quota/ledger.ts";
import { createRandom, type Random } from "./random.ts";
import { createGuard } from "./resources/guard.ts";
import type { Snapshot } from "./resources/resource.ts";
import { createResources, defaultFreshness } from "./resources/resources.ts";
import { createScheduler } from "./scheduler/scheduler.ts";

export interface Engine extends StreamsOfState {
  /** Reads the service's state, then starts plugins and strategies. Rejects when the state cannot be read. */
  start(): Promise<void>;
  /** No new orders; strategies end; resting orders are cancelled when asked for; plugins are undone. */
  stop(options?: { readonly cancel?: boolean }): Promise<void>;
  readonly events$: Observable<Event>;
  readonly updates$: Observable<OrderUpdate>;
  /** `order:filled`, `quota:refused`, `event` …; returns the way to stop listening. */
  readonly on: (name: string, listener: NoticeListener) => () => void;
  /** No new orders, and every order of ours is cancelled first of all. */
  readonly halt: (reason: string) => Observable<CancelResult>;
  readonly resume: (reason: string) => void;
  readonly quotaNow: () => QuotaState;
  readonly strategies: ReadonlyMap<string, StrategyState>;
  readonly service: OpenService;
}

export interface EngineOptions {
  /** Where `print` of plugins goes; nowhere by default. */
  readonly print?: (line: string) => void;
  /** False: spend as if there were no limits. Only for a service that enforces none. */
  readonly limits?: boolean;
}

const startMsMax = 90_000;
const stopMsMax = 70_000;

/** Everything that calls the service, and what it says back; nothing of strategies yet. */
const assemble = (config: CheckedConfig, random: Random, stopped$: Observable<void>, limits: boolean) => {
  const contract = createContract(config.profile);
  // Strangers' streams look after themselves; this is what a bystander's listener threw.
  const onError = (error: unknown): void => {
    journal.append({ type: "anomaly", what: "listener.threw", detail: error instanceof Error ? error.message : String(error) });
  };
  const leave = (ip: string): number | undefined => leaveFor(ledger, ip, service.clock.now());
  const service = config.service.open({ contract, random: random.fork("service"), onError, leave });
  const { clock, market, users } = service;
  const [user] = users;
  if (user === undefined) throw new SluiceError("CONFIG_INVALID", "config.service opened without a user. Give it at least one.");
  const journal = createJournal(() => clock.now(), onError);
  const notices = createNotices(journal, onError);
  const { shares = {}, budgets = {}, layers = layersOf(contract), ...reserve } = config.quota;
  const ledger = createLedger({ layers: limits ? layers : [], reserve, startedAt: clock.now() });
  const scheduler = createScheduler({ clock, ledger, transport: service.transport, journal, shares, budgets });
  const gateway = createGateway({ clock, contract, scheduler, journal, user });
  const resources = createResources({
    clock,
    contract,
    gateway,
    journal,
    pushes$: user.pushes$.pipe(takeUntil(stopped$)),
    pushing$: user.pushing$.pipe(takeUntil(stopped$)),
    freshness: { ...defaultFreshness, ...config.freshness },
  });
  // Own orders are watched whether or not anybody listens; without any, nothing has to be read.
  const guard = createGuard(() => resources.pending.value$.pipe(takeUntil(stopped$)).subscribe());
  const quotes = createLastQuotes(market);
  const desk = createDesk({
    clock,
    contract,
    gateway,
    journal,
    store: resources.store,
    instance: config.instance,
    rules: { ...defaultRules, ...config.orders },
    instruments: () => resources.instruments.current.value,
    marketPx: (instId, side) => quotes.of(instId, side),
    onOpenOrders: (count) => {
      ledger.noteOpen(user.uid, count);
      guard.need(count > 0);
    },
    onUnknownInstrument: () => {
      resources.instruments.refresh();
    },
    onDoubt: (needed) => {
      resources.pending.refresh(needed);
    },
  });
  return { contract, service, user, journal, notices, ledger, scheduler, resources, desk, onError };
};

/** One request of an address and of nobody else. Nothing is heard of it, so it counts wherever it may have landed. */
const leaveFor = (ledger: Ledger, ip: string, now: number): number | undefined => {
  const charge: Charge = { endpoint: "instruments", weight: 0, elements: 1, ip, uid: undefined, key: undefined };
  const verdict = ledger.ask(charge, "ordinary", now);
  if (!verdict.granted) return verdict.until;
  ledger.lose(ledger.spend(charge, now), now);
  return undefined;
};

type Parts = ReturnType<typeof assemble>;

const streamsOf = ({ resources, service, journal }: Parts, quotaNow: () => QuotaState, stopped$: Observable<void>): StreamsOfState => {
  const until = <T>(source$: Observable<T>): Observable<T> => source$.pipe(takeUntil(stopped$));
  return {
    instruments$: until(resources.instruments.value$),
    pending$: until(resources.pending.value$),
    history$: until(resources.history.value$),
    balances$: until(resources.balances.value$),
    positions$: until(resources.positions.value$),
    quota$: until(quotaStream(service.clock, journal, quotaNow)),
  };
};

/** How the quota stands, and who spent it. */
const quotaReader = ({ journal, ledger, scheduler, service }: Parts): (() => QuotaState) => {
  const spent: Record<string, number> = {};
  journal.attach((event) => {
    if (event.type === "action.sent") spent[event.owner] = (spent[event.owner] ?? 0) + event.weight;
  });
  return () => {
    const at = service.clock.now();
    return { at, layers: ledger.state(at), queued: scheduler.queued, inFlight: scheduler.inFlight, spent: { ...spent } };
  };
};

/** A listener that throws is reported and taken away: it might throw at the report as well. */
const listenerDesk =
  (notices: Notices, onError: (error: unknown) => void): Notices["on"] =>
  (name, listener) => {
    const off = notices.on(name, (event) => {
      try {
        listener(event);
      } catch (error) {
        off();
        onError(error);
      }
    });
    return off;
  };

/** No new orders, and every order that is not over is taken back first of all, those under way included. */
const haltWith =
  ({ desk }: Parts) =>
  (reason: string): Observable<CancelResult> => {
    const results = new ReplaySubject<CancelResult>();
    cancelAll(desk, desk.orders(), "emergency").subscribe(results);
    desk.setMode("halted", reason);
    return results;
  };

const estimator =
  ({ contract, ledger, user, service: { clock } }: Parts) =>
  (actions: readonly PlannedAction[]): Estimate => {
    const at = clock.now();
    const minute = ledger.state(at).find(({ layer, scope }) => layer === "uid" && scope === user.uid);
    return estimateOf(actions, contract, minute, at);
  };

/** Waits for a value of a resource, or fails with what the service answered instead. */
const readOnce = async <T>(clock: Clock, source$: Observable<Snapshot<T>>, what: string): Promise<void> => {
  let last = "no answer";
  const fresh$ = source$.pipe(
    filter(({ stale, problem = last }) => {
      last = problem;
      return !stale;
    }),
    map(() => true),
  );
  const done = await firstValueFrom(fresh$.pipe(takeUntil(after(clock, startMsMax))), { defaultValue: false });
  if (!done) throw new SluiceError("ENGINE_STATE", `The engine cannot start: ${what} could not be read (${last}).`);
};

const readState = async ({ service: { clock }, desk }: Parts, streams: StreamsOfState): Promise<void> => {
  // Kept open while the engine runs: products are listed, delisted and changed.
  const lists$ = streams.instruments$.pipe(map(({ value }) => value));
  lists$
    .pipe(
      distinctUntilChanged(),
      filter(({ size }) => size > 0),
    )
    .subscribe(() => {
      desk.reconsider();
    });
  await readOnce(clock, streams.instruments$, "the list of instruments");
  await readOnce(clock, streams.pending$, "pending orders");
  await readOnce(clock, streams.history$, "order history");
};

export const createEngine = (input: unknown, { print = () => undefined, limits = true }: EngineOptions = {}): Engine => {
  const config = checkConfig(input);
  const random = createRandom(config.seed);
  // Replayed, so that who comes after the stop gets an end and nothing else.
  const stopped$ = new ReplaySubject<void>(1);
  const parts = assemble(config, random, stopped$, limits);
  const { desk, journal, notices, resources, service } = parts;
  const { clock, market } = service;
  const now = () => clock.now();
  const strategyHost = createStrategyHost(clock, desk, journal);
  const pluginHost = createPluginHost(clock, journal);
  const quotaNow = quotaReader(parts);
  const streams = streamsOf(parts, quotaNow, stopped$);
  const halt = haltWith(parts);
  const state: { is: EngineState } = { is: "new" };
  const face = {
    ...streams,
    events$: journal.events$.pipe(takeUntil(stopped$)),
    updates$: desk.updates$.pipe(map(updateOf), takeUntil(stopped$), share()),
    on: listenerDesk(notices, parts.onError),
    halt,
    resume: (reason: string): void => {
      desk.setMode("active", reason);
    },
    quotaNow,
  };
  const begin = (): void => {
    journal.append({ type: "engine.started", strategies: names(config.strategies), plugins: names(config.plugins) });
    for (const plugin of config.plugins) pluginHost.start(plugin, { ...face, market, now, print });
    const listed = (): readonly InstrumentRecord[] => [...resources.instruments.current.value.values()];
    const shared = { ...streams, market, listed, estimate: estimator(parts), now };
    for (const strategy of config.strategies) {
      const { name } = strategy;
      strategyHost.start(strategy, { ...shared, name, orders: createOrders(desk, name, clock), random: random.fork(`strategy ${name}`) });
    }
  };
  const end = (): void => {
    stopped$.next();
    service.stop();
  };

  return {
    ...face,
    strategies: strategyHost.states,
    service,
    start: async () => {
      if (state.is !== "new") throw new SluiceError("ENGINE_STATE", `An engine starts once; this one is ${state.is}. Make a new one.`);
      state.is = "started";
      service.start();
      try {
        await readState(parts, streams);
      } catch (error) {
        if (isStopped(state)) throw new SluiceError("ENGINE_STATE", "The engine was stopped while it started.");
        state.is = "stopped";
        end();
        throw error;
      }
      if (!isStopped(state)) begin();
    },
    stop: async ({ cancel = false } = {}) => {
      if (isStopped(state)) return;
      state.is = "stopped";
      strategyHost.stop();
      if (cancel) await lastValueFrom(halt("stop").pipe(takeUntil(after(clock, stopMsMax))), { defaultValue: undefined });
      else desk.setMode("reducing", "stop");
      journal.append({ type: "engine.stopped", reason: cancel ? "orders cancelled" : "orders kept" });
      pluginHost.stop();
      end();
    },
  };
};

const names = (list: readonly { readonly name: string }[]): readonly string[] => list.map(({ name }) => name);

type EngineState = "new" | "started" | "stopped";

/** Asked anew after every wait: it may have been stopped meanwhile. */
const isStopped = (state: { readonly is: EngineState }): boolean => state.is === "stopped";
