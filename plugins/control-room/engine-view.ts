/**
 * Fold of a running engine into its control document: events and updates on arrival, other values sampled a few times a
 * second.
 *
 * Invariants: bounded by the document; at most one update each `updateMs`, and none where nothing has changed; an event
 * on the path of an order costs a row, never text: lines are written when an update is made, for at most as many events
 * as are kept; watching changes nothing for the engine.
 * Not here: rows of orders (order-rows.ts), of prices (watched-markets.ts), actions (engine-source.ts).
 */
import { type Observable, Subject, Subscription } from "rxjs";
import type { BalanceRecord, EngineHealth, Event, Market, OrderUpdate, QuotaState, Snapshot } from "sluice";
import { readInstId } from "sluice/dialect";
import { type AccountPosition, type EventText, OutageWatch, type StrategyView, withoutSecrets } from "sluice/extension";
import { ControlDocument, type ControlUpdate, rowsMax } from "./control-document.ts";
import type { ByCurrency, EngineRow, FillRow, StrategyRow } from "./control-rows.ts";
import { eventSaying } from "./event-text.ts";
import { healthRows } from "./health-rows.ts";
import { moneyRows, profitOf, withRowsOf } from "./money-rows.ts";
import { OrderRows } from "./order-rows.ts";
import { WatchedMarkets } from "./watched-markets.ts";

/** The account of one user, as reported by the service. */
export interface WatchedAccount {
  /** uid of the user. */
  readonly user: string;
  readonly balances$: Observable<Snapshot<readonly BalanceRecord[]>>;
  readonly positions$: Observable<Snapshot<readonly AccountPosition[]>>;
}

/** Input of the fold: a `PluginContext`, or the part of one that a recorded run can give. */
export interface WatchedRun {
  readonly events$: Observable<Event>;
  readonly updates$?: Observable<OrderUpdate>;
  readonly strategies?: () => readonly StrategyView[];
  readonly openOrders?: () => readonly OrderUpdate[];
  readonly quotaNow?: () => QuotaState;
  readonly health?: () => EngineHealth;
  readonly eventText?: (event: Event) => EventText | undefined;
  readonly market?: Market;
  /** Accounts of the users, read from the service while they are watched: left out, nothing is asked. */
  readonly accounts?: readonly WatchedAccount[];
  readonly now: () => number;
  readonly every: (ms: number, run: () => void) => void;
}

const updateMs = 100;
const quotaTicks = 2;
const sampleTicks = 10;
/**
 * Phases of requests and orders that occur by the thousand and are not listed: quota, queue, orders and fills show
 * their totals.
 */
const routinePhases: readonly string[] = [
  "planned",
  "sent",
  "acked",
  "live",
  "partially_filled",
  "canceling",
  "filled",
];
const isRoutine = (event: Event): boolean => {
  if (event.type === "action.answered") return event.outcome === "done";
  if (event.type !== "order.changed") return event.type === "action.sent" || event.type === "action.held";
  // Cancels and replacements by a strategy itself are routine.
  return (
    routinePhases.includes(event.phase) ||
    (event.phase === "canceled" && ["replaced", "unwanted"].includes(event.reason))
  );
};

/** The fold of one run; who feeds it a recorded run turns its clock. `end` it when the run is over. */
export class EngineView {
  readonly #run: WatchedRun;
  readonly #document: ControlDocument;
  readonly #updates$ = new Subject<ControlUpdate>();
  readonly #life = new Subscription();
  readonly #orders: OrderRows;
  readonly #markets: WatchedMarkets | undefined;
  readonly #fills = new Map<string, number>();
  readonly #outage = new OutageWatch();
  #engine: EngineRow;
  #news: Event[] = [];
  #ticks = 0;
  #isFilled = false;
  #equityMs = 1_000;
  #equityAt = Number.NEGATIVE_INFINITY;

  constructor(id: string, engine: EngineRow, run: WatchedRun) {
    this.#run = run;
    this.#engine = engine;
    this.#document = new ControlDocument(id);
    this.#orders = new OrderRows(this.#document);
    this.#markets = run.market === undefined ? undefined : new WatchedMarkets(this.#document, run.market, this.#life);
    this.#document.put("engine", "", engine);
    for (const update of run.openOrders?.() ?? []) this.#takeUpdate(update);
    this.#life.add(run.events$.subscribe((event) => this.#takeEvent(event)));
    this.#life.add(run.updates$?.subscribe((update) => this.#takeUpdate(update)));
    for (const { user, balances$, positions$ } of run.accounts ?? []) {
      this.#life.add(balances$.subscribe((snapshot) => this.#takeBalances(user, snapshot)));
      this.#life.add(positions$.subscribe((snapshot) => this.#takePositions(user, snapshot)));
    }
    this.#sample();
    this.flush();
    run.every(updateMs, () => this.#tick());
  }

  get updates$(): Observable<ControlUpdate> {
    return this.#updates$;
  }

  snapshot(): ControlUpdate {
    return this.#document.snapshot();
  }

  story(clOrdId: string): readonly Event[] {
    return this.#orders.story(clOrdId);
  }

  /** Facts of the engine that are known later or change: the state of a playback. */
  changeEngine(changes: Partial<EngineRow>): void {
    this.#engine = { ...this.#engine, ...changes };
    this.#document.putChanged("engine", "", this.#engine);
  }

  /** Publishes the changes now instead of with the next tick. */
  flush(): void {
    const now = this.#run.now();
    this.#writeNews();
    this.#markets?.take(now);
    const update = this.#document.take(now);
    if (update === undefined) return;
    for (const [section, key, row] of update.rows) if (section === "orders" && row === null) this.#orders.forget(key);
    this.#updates$.next(update);
  }

  /** Ends the run: publishes the remaining changes, and nothing after them. */
  end(state: "stopped" | "gone" = "stopped"): void {
    if (this.#life.closed) return;
    this.#sample();
    this.changeEngine({ state });
    this.flush();
    this.#life.unsubscribe();
    this.#updates$.complete();
  }

  #tick(): void {
    if (this.#life.closed) return;
    this.#ticks++;
    if (this.#isFilled || this.#ticks % sampleTicks === 0) this.#sample();
    else if (this.#ticks % quotaTicks === 0) this.#sampleQuota();
    this.flush();
  }

  #takeEvent(event: Event): void {
    if (!isRoutine(event)) this.#news.push(event);
    if (this.#news.length > 4 * rowsMax.events) this.#news = this.#news.slice(-rowsMax.events);
    this.#orders.takeEvent(event);
    if (this.#outage.take(event)) this.#putOutage(this.#outage.since);
    if (event.type === "fill") this.#takeFill(event);
    else if (event.type === "mode.changed") this.#changeMode(event);
    else if (event.type === "engine.stopped") this.changeEngine({ state: "stopped" });
    if ("instId" in event && event.instId !== "" && "strategy" in event) this.#markets?.watch(event.instId);
  }

  #changeMode({ mode, reason, full }: Pick<StrategyView, "mode" | "reason" | "full">): void {
    const { full: _before, ...engine } = this.#engine;
    this.#engine = { ...engine, mode, reason: mode === "active" ? "" : reason, ...(full && { full }) };
    this.#document.putChanged("engine", "", this.#engine);
  }

  #putOutage(since: number | undefined): void {
    const { unansweredSince: _before, ...engine } = this.#engine;
    this.#engine = since === undefined ? engine : { ...engine, unansweredSince: since };
    this.#document.putChanged("engine", "", this.#engine);
  }

  #takeUpdate(update: OrderUpdate): void {
    this.#orders.takeUpdate(update, this.#run.now());
    if (update.spec !== undefined) this.#markets?.watch(update.spec.instId);
  }

  #takeFill(event: Extract<Event, { readonly type: "fill" }>): void {
    const { seq, at, strategy, slot, instId, clOrdId, side, px, qty, cost, currency, position } = event;
    const liquidity: FillRow["liquidity"] = event.liquidity ?? "";
    this.#isFilled = true;
    this.#fills.set(strategy, (this.#fills.get(strategy) ?? 0) + 1);
    const row = { seq, at, strategy, slot, instId, clOrdId, side, px, qty, cost, currency, liquidity, position };
    this.#document.put("fills", `${seq}`, row);
  }

  #takeBalances(user: string, { value, stale, at }: Snapshot<readonly BalanceRecord[]>): void {
    if (at === -1) return;
    const rows = value.map(({ currency, balance }) => ({ user, currency, balance, stale }));
    this.#document.replace("balances", withRowsOf(user, this.#document.rows("balances"), rows, "currency"));
  }

  #takePositions(user: string, { value, stale, at }: Snapshot<readonly AccountPosition[]>): void {
    if (at === -1) return;
    const rows = value.map(({ instId, pos, avgPx, upl = "" }) => ({ user, instId, pos, avgPx, upl, stale }));
    this.#document.replace(
      "accountPositions",
      withRowsOf(user, this.#document.rows("accountPositions"), rows, "instId"),
    );
  }

  #writeNews(): void {
    for (const event of this.#news.slice(-rowsMax.events)) {
      const [severity, text] = eventSaying(event, this.#run.eventText?.(event));
      const { seq, at, type } = event;
      this.#document.put("events", `${seq}`, { seq, at, type, text, severity });
    }
    this.#news = [];
  }

  #sample(): void {
    this.#isFilled = false;
    const strategies = this.#run.strategies?.() ?? [];
    const quota = this.#sampleQuota();
    const open = this.#orders.openBy();
    const profits: Record<string, ByCurrency> = {};
    const { positions, money, userMoney } = moneyRows(strategies);
    for (const view of strategies) {
      const profit = profitOf(view);
      profits[view.name] = profit;
      for (const instId of instrumentsIn(view.options)) this.#markets?.watch(instId);
      this.#document.putChanged(
        "strategies",
        view.name,
        this.#strategyRow(view, profit, open.get(view.name) ?? 0, quota?.spent[view.name] ?? 0),
      );
    }
    this.#document.replace("positions", positions);
    this.#document.replace("money", money);
    this.#document.replace("userMoney", userMoney);
    this.#sampleEquity(Object.fromEntries([...money].map(([currency, { profit }]) => [currency, profit])), profits);
    this.#sampleMode(strategies);
    const health = this.#run.health?.();
    if (health === undefined) return;
    if (health.journal.run !== undefined) this.changeEngine({ run: health.journal.run });
    this.#document.replace("health", healthRows(health));
  }

  /** A halt left by a previous run causes no event in this one. */
  #sampleMode(strategies: readonly StrategyView[]): void {
    const [first] = strategies;
    if (first === undefined || this.#engine.mode !== "active" || first.mode === "active") return;
    const isLikeFirst = ({ mode, reason, full }: StrategyView): boolean =>
      mode === first.mode && reason === first.reason && full === first.full;
    if (strategies.every(isLikeFirst) && this.#ticks === 0) this.#changeMode(first);
  }

  #sampleQuota(): QuotaState | undefined {
    const quota = this.#run.quotaNow?.();
    if (quota === undefined) return undefined;
    this.#document.replace(
      "quota",
      quota.layers.map(({ layer, scope, capacity, used, reserved, foreign, windowEndsAt, mode }) => {
        return [`${layer}|${scope}`, { layer, scope, capacity, used, reserved, foreign, windowEndsAt, mode }] as const;
      }),
    );
    this.#document.replace("queue", [
      ["all", { queued: quota.queued, inFlight: quota.inFlight }],
      ...this.#orders.queue(),
    ]);
    return quota;
  }

  /**
   * Samples the equity. After the curve was thinned, points are taken half as often, so that they stay equally far
   * apart.
   */
  #sampleEquity(profit: ByCurrency, strategies: Readonly<Record<string, ByCurrency>>): void {
    const at = this.#run.now();
    if (at < this.#equityAt + this.#equityMs || Object.keys(profit).length === 0) return;
    this.#equityAt = at;
    const before = this.#document.count("equity");
    this.#document.put("equity", `${at}`, { at, profit, strategies });
    if (this.#document.count("equity") < before) this.#equityMs *= 2;
  }

  #strategyRow(view: StrategyView, profit: ByCurrency, openOrders: number, weight: number): StrategyRow {
    const { name, user, state, error, mode, full, reason, schema } = view;
    const options = withoutSecrets(view.options);
    const fills = this.#fills.get(name) ?? 0;
    return {
      ...{ name, user, state, mode, reason, options, openOrders, fills, weight, profit },
      ...(full && { full }),
      ...(error !== undefined && { error }),
      ...(schema !== undefined && { schema }),
    };
  }
}

const optionsMax = 50;

/** Instruments among the options, so that prices are seen before the first order. */
const instrumentsIn = (options: unknown): readonly string[] =>
  Object.values((options ?? {}) as object)
    .flat()
    .slice(0, optionsMax)
    .filter(
      (value): value is string => typeof value === "string" && value.includes("-") && readInstId(value) !== undefined,
    );
