/**
 * Puts the rooms together: (config) → a running engine. The only file that knows all parts.
 *
 * Invariants: several engines may live in one process and share nothing; starting reads the service's state before any strategy
 * runs; stopping ends strategies first, then does what the config says with resting orders, then plugins.
 */
import {
  distinctUntilChanged,
  filter,
  firstValueFrom,
  map,
  merge,
  type Observable,
  ReplaySubject,
  Subject,
  share,
  startWith,
  take,
  takeUntil,
} from "rxjs";
import { after, every } from "./clock/clock.ts";
import { createContract } from "./contract/contract.ts";
import type { InstrumentRecord } from "./contract/schemas.ts";
import { SluiceError } from "./errors.ts";
import { createGateway } from "./gateway/gateway.ts";
import type { Estimate, PlannedAction, QuotaState, StreamsOfState } from "./host/context.ts";
import { type CheckedConfig, checkConfig } from "./host/define.ts";
import { createPluginHost } from "./host/plugin-host.ts";
import type { OpenService } from "./host/service.ts";
import { createStrategyHost, type StrategyState } from "./host/strategy-host.ts";
import type { Event } from "./journal/events.ts";
import { createJournal } from "./journal/journal.ts";
import { createNotices, type NoticeListener } from "./journal/notices.ts";
import { createDesk } from "./orders/desk.ts";
import { isResting } from "./orders/order.ts";
import { type CancelResult, cancelAll, createOrders, type OrderUpdate, updateOf } from "./orders/orders.ts";
import { defaultRules } from "./orders/rules.ts";
import { layersOf } from "./quota/layers.ts";
import { createLedger } from "./quota/ledger.ts";
import { createRandom } from "./random.ts";
import type { Snapshot } from "./resources/resource.ts";
import { createResources, defaultFreshness } from "./resources/resources.ts";
import { createScheduler } from "./scheduler/scheduler.ts";

export interface Engine extends StreamsOfState {
  /** Reads the service's state, then starts plugins and strategies. Rejects when instruments cannot be read. */
  start(): Promise<void>;
  /** No new orders; strategies end; resting orders are cancelled when asked for; plugins are undone. */
  stop(options?: { readonly cancel?: boolean }): Promise<void>;
  readonly events$: Observable<Event>;
  readonly updates$: Observable<OrderUpdate>;
  /** `order:filled`, `quota:refused`, `event` …; returns the way to stop listening. */
  on(name: string, listener: NoticeListener): () => void;
  halt(reason: string): Observable<CancelResult>;
  resume(reason: string): void;
  readonly strategies: ReadonlyMap<string, StrategyState>;
  readonly service: OpenService;
}

export interface EngineOptions {
  /** Where `print` of plugins goes; nowhere by default. */
  readonly print?: (line: string) => void;
}

const quotaEveryMs = 250;
const startMsMax = 90_000;
const stopMsMax = 70_000;

export const createEngine = (input: unknown, options: EngineOptions = {}): Engine => {
  const config: CheckedConfig = checkConfig(input);
  const contract = createContract(config.profile);
  const random = createRandom(config.seed);
  const stopped$ = new Subject<void>();
  let report: (error: unknown) => void = () => undefined;
  const service = config.service.open({ contract, random: random.fork("service"), onError: (error) => report(error) });
  const { clock, market, user } = service;
  const journal = createJournal(clock.now, (error) => report(error));
  const notices = createNotices(journal, (error) => report(error));
  const { shares, ...reserve } = config.quota;
  const ledger = createLedger({ layers: layersOf(contract), reserve, startedAt: clock.now() });
  const scheduler = createScheduler({ clock, ledger, transport: service.transport, journal, ...(shares === undefined ? {} : { shares }) });
  const gateway = createGateway({ clock, contract, scheduler, journal, user });
  const resources = createResources({
    clock,
    contract,
    gateway,
    journal,
    pushes$: service.pushes$.pipe(takeUntil(stopped$)),
    freshness: { ...defaultFreshness, ...config.freshness },
  });
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
    marketPx: quotes.of,
    onOpenOrders: (count) => {
      ledger.noteOpen(user.uid, count);
    },
    onDoubt: () => {
      resources.pending.refresh();
    },
  });
  const strategyHost = createStrategyHost(clock, desk, journal);
  const pluginHost = createPluginHost(clock, journal);
  report = (error) => {
    if (!strategyHost.blame(error))
      journal.append({ type: "anomaly", what: "listener.threw", detail: error instanceof Error ? error.message : String(error) });
  };

  const spent: Record<string, number> = {};
  journal.attach((event) => {
    if (event.type === "action.sent") spent[event.owner] = (spent[event.owner] ?? 0) + event.weight;
  });
  const quotaNow = (): QuotaState => {
    const at = clock.now();
    return { at, layers: ledger.state(at), queued: scheduler.queued, inFlight: scheduler.inFlight, spent: { ...spent } };
  };
  const estimate = (actions: readonly PlannedAction[]): Estimate => {
    const weight = actions.reduce((sum, { endpoint, count }) => sum + contract.endpoints[endpoint].weight * count, 0);
    const requests = actions.reduce((sum, { count }) => sum + count, 0);
    const at = clock.now();
    const minute = ledger.state(at).find(({ layer, scope }) => layer === "uid" && scope === user.uid);
    const free = minute === undefined ? Number.POSITIVE_INFINITY : Math.max(0, minute.free - minute.reserved);
    const perMinute = contract.layers.uid.capacity - (minute?.reserved ?? 0);
    const minutes = weight <= free ? 0 : Math.ceil((weight - free) / Math.max(1, perMinute));
    const byWeight = minutes === 0 || minute === undefined ? 0 : minute.windowEndsAt - at + (minutes - 1) * contract.layers.uid.windowMs;
    const byKey = Math.floor((requests - 1) / contract.layers.key.capacity) * contract.layers.key.windowMs;
    return { weight, requests, waitMs: Math.max(byWeight, byKey, 0) };
  };
  const streams: StreamsOfState = {
    instruments$: resources.instruments.value$.pipe(takeUntil(stopped$)),
    pending$: resources.pending.value$.pipe(takeUntil(stopped$)),
    history$: resources.history.value$.pipe(takeUntil(stopped$)),
    balances$: resources.balances.value$.pipe(takeUntil(stopped$)),
    positions$: resources.positions.value$.pipe(takeUntil(stopped$)),
    quota$: every(clock, quotaEveryMs).pipe(map(quotaNow), startWith(quotaNow()), takeUntil(stopped$)),
  };
  const updates$ = desk.updates$.pipe(map(updateOf), share());
  const halt = (reason: string): Observable<CancelResult> => {
    const resting = desk.orders().filter(isResting);
    const results = new ReplaySubject<CancelResult>();
    cancelAll(desk, resting, "emergency").subscribe(results);
    desk.setMode("halted", reason);
    return results;
  };
  const resume = (reason: string): void => {
    desk.setMode("active", reason);
  };
  let state: "new" | "started" | "stopped" = "new";

  /** The first value read of a resource, or a failure that says what the service answered. */
  const first = async <T>(source$: Observable<Snapshot<T>>, what: string): Promise<void> => {
    let last = "no answer";
    const fresh = source$.pipe(
      filter(({ stale, problem }) => {
        last = problem ?? last;
        return !stale;
      }),
      map(() => true),
    );
    const done = await firstValueFrom(merge(fresh, after(clock, startMsMax).pipe(map(() => false))).pipe(take(1)), { defaultValue: false });
    if (!done) throw new SluiceError("ENGINE_STATE", `The engine cannot start: ${what} could not be read (${last}).`);
  };
  const begin = (): void => {
    journal.append({
      type: "engine.started",
      strategies: config.strategies.map(({ name }) => name),
      plugins: config.plugins.map(({ name }) => name),
    });
    const parts = {
      ...streams,
      market,
      events$: journal.events$,
      on: notices.on,
      updates$,
      halt,
      resume,
      now: clock.now,
      print: options.print ?? (() => undefined),
    };
    for (const plugin of config.plugins) pluginHost.start(plugin, parts);
    for (const strategy of config.strategies) {
      const { name } = strategy;
      const orders = createOrders(desk, name, clock);
      strategyHost.start(strategy, { ...streams, name, market, orders, estimate, now: clock.now, random: random.fork(`strategy ${name}`) });
    }
  };

  return {
    ...streams,
    events$: journal.events$.pipe(takeUntil(stopped$)),
    updates$,
    on: notices.on,
    halt,
    resume,
    strategies: strategyHost.states,
    service,
    start: async () => {
      if (state !== "new") throw new SluiceError("ENGINE_STATE", `An engine starts once; this one is ${state}. Make a new one.`);
      state = "started";
      service.start();
      // Kept open while the engine runs: instruments change, and own orders have to be watched whether or not anybody listens.
      streams.instruments$
        .pipe(
          map(({ value }) => value),
          distinctUntilChanged(),
        )
        .subscribe((instruments) => onInstruments(instruments));
      await first(streams.instruments$, "the list of instruments");
      streams.pending$.subscribe();
      await first(streams.pending$, "pending orders");
      await first(streams.history$, "order history");
      begin();
    },
    stop: async ({ cancel = false } = {}) => {
      if (state === "stopped") return;
      const wasStarted = state === "started";
      state = "stopped";
      strategyHost.stop();
      if (cancel && wasStarted) {
        const gone = new Promise<void>((resolve) => {
          halt("stop").subscribe({ complete: resolve });
        });
        await Promise.race([gone, firstValueFrom(after(clock, stopMsMax))]);
      } else desk.setMode("reducing", "stop");
      journal.append({ type: "engine.stopped", reason: cancel ? "orders cancelled" : "orders kept" });
      pluginHost.stop();
      stopped$.next();
      stopped$.complete();
      service.stop();
    },
  };

  function onInstruments(instruments: ReadonlyMap<string, InstrumentRecord>): void {
    if (instruments.size > 0) desk.reconsider();
  }
};

/** Latest quotes of instruments asked about; subscribed at the first question. */
const createLastQuotes = (market: OpenService["market"]): { of(instId: string, side: "buy" | "sell"): string | undefined } => {
  const last = new Map<string, { bid: string; ask: string } | undefined>();
  return {
    of: (instId, side) => {
      if (!last.has(instId)) {
        last.set(instId, undefined);
        try {
          market.quotes(instId).subscribe(({ bidPx, askPx }) => last.set(instId, { bid: bidPx, ask: askPx }));
        } catch {
          // The market has no such instrument; the rules say so in their own words.
        }
      }
      const quote = last.get(instId);
      return quote === undefined ? undefined : side === "buy" ? quote.ask : quote.bid;
    },
  };
};
