/**
 * Context of strategies and plugins: everything that user code can reach.
 *
 * Invariants: user code receives nothing else: no transport, no keys, no ids of other strategies; streams never error
 * and complete when the engine stops. Functions are properties, so that they can be destructured: `({ on, halt }) =>
 * …`.
 */
import type { Observable } from "rxjs";
import type { BalanceRecord, InstrumentRecord, OrderRecord } from "../contract/schemas.ts";
import type { RequestTracer } from "../contract/transport.ts";
import type { OnEvent } from "../journal/event-emitter.ts";
import type { Event } from "../journal/events.ts";
import type { Market } from "../market/market-data.ts";
import type { CancelResult, Orders } from "../orders/manual-orders.ts";
import type { OrderUpdate } from "../orders/order-update.ts";
import type { Position } from "../orders/positions.ts";
import type { AccountPosition } from "../orders/state/account-positions.ts";
import type { Snapshot } from "../orders/state/snapshot.ts";
import type { Random } from "../random.ts";
import type { LayerState } from "../scheduler/quota/ledger.ts";
import type { Steering } from "./operator-view.ts";
import type { TextOfEvent } from "./plugin-events.ts";

/** Current quota: one entry per layer and scope, the number of queued actions, and the use by owner. */
export interface QuotaState {
  /** Milliseconds on the engine's clock. */
  readonly at: number;
  /** Each limit layer for each address, user and key met so far. */
  readonly layers: readonly LayerState[];
  /** Actions that wait for quota or for their turn. */
  readonly queued: number;
  /** Requests without an answer yet. */
  readonly inFlight: number;
  /** Weight spent since the engine started, by owner. */
  readonly spent: Readonly<Record<string, number>>;
}

/** An action to be priced before it is done. */
export interface PlannedAction {
  /** The action to be called. */
  readonly endpoint:
    | "placeOrder"
    | "cancelBatch"
    | "closePosition"
    | "setLeverage"
    | "getOrder"
    | "pendingOrders"
    | "orderHistory"
    | "positions"
    | "spotBalance";
  /** Number of calls; for `cancelBatch`, number of orders. */
  readonly count: number;
}

/** Cost and waiting time of planned actions under the current quota. */
export interface Estimate {
  /** Weight of the user's minute. */
  readonly weight: number;
  /** Requests of the address and the key. */
  readonly requests: number;
  /** Milliseconds until the last of them could be sent if nothing else is requested; 0 when all fit now. */
  readonly waitMs: number;
}

/** Pane and form in which a plotted value is drawn. */
export interface PlotOptions {
  /** Values of one pane share an axis. `price` is the price chart; a pane named after the value when left out. */
  readonly pane?: string;
  /** The instrument that the value belongs to, where there are several. */
  readonly instId?: string;
}

/**
 * One user's whole account at the service, with the orders of all programs, and the profit of its strategies. Streams
 * give the present value on subscription, poll only while subscribed, and never error.
 */
export interface Account {
  /** Active orders of the account, newest first, including those of other programs. */
  readonly pending$: Observable<Snapshot<readonly OrderRecord[]>>;
  /** Recently finished orders, most recent first. */
  readonly history$: Observable<Snapshot<readonly OrderRecord[]>>;
  /** Balances of the account by currency. */
  readonly balances$: Observable<Snapshot<readonly BalanceRecord[]>>;
  /** Positions of the account in base currency, including those of other programs. */
  readonly positions$: Observable<Snapshot<readonly AccountPosition[]>>;
  /**
   * Profit of the user's strategies together, by settle currency (decimal text): realised + unrealised - fees of their
   * fills, now, after every fill, and once a second while a price of an open position changes.
   */
  readonly equity$: Observable<ReadonlyMap<string, string>>;
}

/** What one strategy has itself: its orders, its positions and its profit, from its own fills. Costs no quota. */
export interface Own {
  /** Position in an instrument, fresh after every fill and marked by the latest quote; flat where nothing was traded. */
  readonly position: (instId: string) => Position;
  /** Positions by instrument, now and after every fill; marked at that time. */
  readonly positions$: Observable<ReadonlyMap<string, Position>>;
  /**
   * Profit by settle currency (decimal text): realised + unrealised - fees, now, after every fill, and once a second
   * while a price of an open position changes.
   */
  readonly equity$: Observable<ReadonlyMap<string, string>>;
  /** Orders that are not over, now and after every change. */
  readonly orders$: Observable<readonly OrderUpdate[]>;
  /** Every change of an order. */
  readonly updates$: Observable<OrderUpdate>;
}

/** State that everybody on one service shares, as streams. */
export interface SharedState {
  /** Instruments that the service lists, by id: the present list on subscription, polled only while subscribed. */
  readonly instruments$: Observable<Snapshot<ReadonlyMap<string, InstrumentRecord>>>;
  /** Now and after every change, at most once a quarter second. */
  readonly quota$: Observable<QuotaState>;
}

/**
 * Everything a strategy can use: its options, the market, orders, its positions, the account's state, time and chance.
 */
export interface StrategyContext<O> extends SharedState {
  /** Name of the strategy in the config. */
  readonly name: string;
  /** Its options, checked and completed with defaults. */
  readonly options: O;
  /** Market data as streams. */
  readonly market: Market;
  /** Single orders and cancels. */
  readonly orders: Orders;
  /** The whole account of the strategy's user: orders and positions of everybody, balances. */
  readonly account: Account;
  /** The strategy's own orders, positions and profit. */
  readonly own: Own;
  /** Instruments that the service lists now, in its order: fetched at the start, never written into a strategy. */
  readonly listed: () => readonly InstrumentRecord[];
  /** Weight and waiting time of planned actions; requests nothing. */
  readonly estimate: (actions: readonly PlannedAction[]) => Estimate;
  /**
   * Plots a value, such as an indicator, in the report of a backtest: `plot("rsi", 63.2)`. Costs no quota, has no
   * effect on trading and never throws; a value that is not a finite number is a gap. Recorded at the current instant
   * in a backtest with details (`--html`, `--details`, `withDetails`): at most 64 names and 100,000 points per name,
   * extremes kept. Dropped in all other runs, live and paper trading included.
   */
  readonly plot: (name: string, value: number | string, options?: PlotOptions) => void;
  /** Milliseconds on the engine's clock: virtual in a backtest. */
  readonly now: () => number;
  /** Seeded, so that a run can be repeated. */
  readonly random: Random;
}

/** Account of one user among several, by uid; an unknown uid throws an error that lists the known ones. */
export type AccountOf = (uid: string) => Account;

/** Selects the positions to be closed: every field given must match; nothing given means all of the account's. */
export interface PositionFilter {
  /** The account's position of this instrument; together with `strategy`, what that strategy holds of it. */
  readonly instId?: string;
  /** Only what this strategy holds by its own fills. */
  readonly strategy?: string;
}

/** Outcome for a position that was to be closed. */
export interface PositionEnding {
  /**
   * `closed`: a reading afterwards does not show it; what a strategy holds is closed when its own fills show it.
   * `left`: it is still open. `unknown`: the positions could not be read.
   */
  readonly kind: "closed" | "left" | "unknown";
  /** User of the service. */
  readonly uid: string;
  /** Empty where it is unknown. */
  readonly instId: string;
  /** As it was first seen, in base currency; positive long. */
  readonly pos: string;
  /** As it was last seen, in base currency; positive long. */
  readonly left: string;
  /** Reason why it was not closed. */
  readonly reason: string;
  /** The strategy whose holding it was; left out for a position of the account. */
  readonly strategy?: string;
}

/** One strategy instead of all, or all engines of the group instead of this one. */
export interface Whom {
  readonly strategy?: string;
  /** Every engine that shares this one's quota (plugin `shared-quota`), on every machine. */
  readonly everywhere?: boolean;
}

/** Scope of a halt. */
export interface HaltOptions extends Whom {
  /**
   * A full stop: exits are canceled too, and stops and targets are suspended until a resume. `position.unprotected`
   * names each position that is left without. Without it a halt ends entries only. A later halt without it does not
   * weaken a full stop.
   * @default false
   */
  readonly full?: boolean;
}

/** Identity of an engine and what it trades on, by its config. */
export interface AboutEngine {
  /** `config.instance`. */
  readonly instance: string;
  /** Kind of `config.service`, such as `paper`. */
  readonly service: string;
  /** `testnet` or `mainnet`; empty where orders reach no real market. */
  readonly environment: string;
  /** Address of the service; absent where it is embedded. */
  readonly baseUrl?: string;
}

/**
 * Loads an optional package for a plugin. `T` is the part of it that is used.
 *
 * @param name - of the package
 * @param range - versions that the plugin works with
 * @param from - address of the caller, `import.meta.url`
 * @returns the package's exports
 * @throws PLATFORM_UNSUPPORTED with the line that installs it, where it is not installed
 */
export type RequirePackage = <T>(name: string, range: string, from: string) => T;

/** Everything a plugin can observe and steer. */
export interface PluginContext<O> extends SharedState, Steering {
  /** Name of the plugin in the config. */
  readonly name: string;
  /** Its options, checked and completed with defaults. */
  readonly options: O;
  /** Market data as streams. */
  readonly market: Market;
  /** uid of every user of the service that the engine trades for, the first one first. */
  readonly users: readonly string[];
  /** The account of the first user. */
  readonly account: Account;
  /** The account of one of several users. */
  readonly accountOf: AccountOf;
  /** Everything that happens, in order. */
  readonly events$: Observable<Event>;
  /**
   * Adds a listener for an event name: `fill`, `order.filled`, `quota.rejected`, or `event` for all (`EventMap`).
   * Returns a function that removes it. Throws `EVENT_UNKNOWN` for an unknown name.
   */
  readonly on: OnEvent;
  /** Text of an event that a plugin of the config declares, with its severity; undefined for the core's events. */
  readonly eventText: TextOfEvent;
  /** Every change of every strategy's orders. */
  readonly updates$: Observable<OrderUpdate>;
  /** The quota at this moment. */
  readonly quotaNow: () => QuotaState;
  /**
   * Ends entries: none is placed, and every resting one of this engine is canceled first of all. Stops, targets and
   * exits of open positions stay in force; with `full` exits are canceled and protections suspended as well. Emits each
   * canceled order, and completes when none is left.
   */
  readonly halt: (reason: string, options?: HaltOptions) => Observable<CancelResult>;
  /**
   * Halts and then closes every position of the account at the market, including those of other clients, and sells what
   * strategies hold of spot. Emits the outcome of each, and completes within two and a half minutes.
   *
   * With `strategy` that strategy alone is halted, and what it holds by its own fills is closed by market orders of
   * exactly that size, regardless of what other strategies hold. With `instId` alone the account's position of that
   * instrument is closed, and every strategy that has traded it or has orders in it is halted. An unclear request is
   * refused before anything is done: an unknown strategy or condition, or a spot instrument without a strategy.
   */
  readonly closePositions: (reason: string, which?: PositionFilter) => Observable<PositionEnding>;
  /**
   * Ends a halt. @throws TRADING_HALTED while positions of the account are being closed, or all engines of its group
   * are halted.
   */
  readonly resume: (reason: string, whom?: Whom) => void;
  /**
   * Follows actions from wanted order to answer, and may give each request the headers of a trace (`traceparent`,
   * `tracestate`, no other; they are never signed). One plugin at a time. The returned function ends it.
   */
  readonly traceRequests: (tracer: RequestTracer) => () => void;
  /** Identity of the engine and what it trades on. */
  readonly about: AboutEngine;
  /** Milliseconds on the engine's clock: virtual in a backtest. */
  readonly now: () => number;
  /** Calls back every `ms` on the engine's clock until the stop. */
  readonly every: (ms: number, run: () => void) => void;
  /** Loads a package that Sluice does not install. */
  readonly requirePackage: RequirePackage;
  /** A line for people. */
  readonly print: (line: string) => void;
}
