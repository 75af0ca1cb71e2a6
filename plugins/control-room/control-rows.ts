/**
 * Rows of the control document: the state of an engine for its viewers, by section and key.
 *
 * Invariants: plain JSON; money, prices and sizes are decimal text; times are milliseconds on the engine's clock; no
 * key, passphrase or token is in any row.
 * Not here: how rows change and how many are kept (control-document.ts), where they come from (engine-view.ts,
 * playback/).
 */
import type { OrderUpdate, Position } from "sluice";
import type { StrategyView } from "sluice/extension";

/** Kind of the run that is shown. */
export type SourceKind = "live" | "paper" | "backtest" | "session" | "simulation";

/** Decimal text by settle currency. */
export type ByCurrency = Readonly<Record<string, string>>;

/** Progress of a played recorded run; absent if the run is not played. */
export interface PlaybackState {
  /** First and last instant of the played span. */
  readonly from: number;
  readonly to: number;
  /** Instant that is shown. */
  readonly at: number;
  /** Times real time. */
  readonly speed: number;
  readonly paused: boolean;
}

/**
 * Parts that a recording may lack: the account's balances and positions, prices, the book, actions that wait for quota,
 * limits other than the user's weight, options of strategies, the engine's health.
 */
export type Unrecorded = "account" | "prices" | "book" | "queue" | "limits" | "options" | "health";

/** Section `engine`, key "". */
export interface EngineRow {
  readonly name: string;
  readonly kind: SourceKind;
  /** `testnet`, `mainnet`, or empty where no service over the network is meant. */
  readonly environment: string;
  /** Version of Sluice. */
  readonly version: string;
  readonly startedAt: number;
  readonly mode: "active" | "reducing" | "halted";
  /** Present in a full stop. */
  readonly full?: true;
  /** Reason for which it is not active; empty if it is. */
  readonly reason: string;
  /** Number of the run on its journal; absent without one. */
  readonly run?: number;
  /** Its process, the config's instance and the address of its service, which is absent where that is embedded. */
  readonly pid?: number;
  readonly instance?: string;
  readonly service?: string;
  /** Instant of the service's last answer while it does not answer; absent while it does. */
  readonly unansweredSince?: number;
  /** State of the run. `gone`: its outcome is not known. */
  readonly state: "starting" | "running" | "stopped" | "gone";
  readonly playback?: PlaybackState;
  /** Parts that a recorded run does not contain; absent if it is complete. */
  readonly unrecorded?: readonly Unrecorded[];
  /** Address of the control port that it is shown from, where that is not this one. */
  readonly via?: string;
  /** `read`: nothing can be asked of it here. */
  readonly access?: "read";
}

/** Section `strategies`, by name. */
export interface StrategyRow extends Omit<StrategyView, "positions"> {
  readonly openOrders: number;
  readonly fills: number;
  /** Weight spent since the engine started. */
  readonly weight: number;
  readonly profit: ByCurrency;
}

/** Section `positions`, by strategy and instrument (`positionKey`). */
export interface PositionRow extends Position {
  readonly strategy: string;
}

/** Section `money`, by settle currency: own fills of all strategies, of all users together. */
export interface MoneyRow {
  readonly currency: string;
  /** `realised` + `unrealised` - `fees`. */
  readonly profit: string;
  readonly realised: string;
  readonly unrealised: string;
  /** A positive cost. */
  readonly fees: string;
}

/** Section `userMoney`, by user and settle currency (`user|currency`): own fills of the user's strategies. */
export interface UserMoneyRow extends MoneyRow {
  readonly user: string;
}

/** Row of section `balances`, by user and currency (`user|currency`), as reported by the service. */
export interface BalanceRow {
  readonly user: string;
  readonly currency: string;
  readonly balance: string;
  /** Not read for longer than it should be. */
  readonly stale: boolean;
}

/**
 * Section `accountPositions`, by user and instrument (`user|instId`): positions of the account, those of other programs
 * included.
 */
export interface AccountPositionRow {
  readonly user: string;
  readonly instId: string;
  /** Signed quantity in base currency: positive long. */
  readonly pos: string;
  readonly avgPx: string;
  /** Unrealised profit as reported by the service; empty if it reports none. */
  readonly upl: string;
  readonly stale: boolean;
}

/** Section `equity`, by time: a point of the equity curve. */
export interface EquityRow {
  readonly at: number;
  readonly profit: ByCurrency;
  readonly strategies: Readonly<Record<string, ByCurrency>>;
}

/** Section `orders`, by clOrdId. */
export interface OrderRow {
  readonly clOrdId: string;
  readonly strategy: string;
  readonly slot: string;
  readonly instId: string;
  readonly side: "buy" | "sell";
  readonly ordType: string;
  /** Empty for a market order. */
  readonly px: string;
  /** Wanted quantity in base currency; empty where only the size that was sent is known, as in a recording. */
  readonly qty: string;
  /** Size as it was sent, in the unit of the service. */
  readonly sz: string;
  /** Executed so far, in base currency. */
  readonly filledQty: string;
  /** Empty while nothing was executed. */
  readonly avgPx: string;
  readonly phase: OrderUpdate["phase"];
  readonly isFinal: boolean;
  readonly reason: string;
  readonly placedAt: number;
  readonly changedAt: number;
}

/** Section `fills`, by number of the event. */
export interface FillRow {
  readonly seq: number;
  readonly at: number;
  readonly strategy: string;
  readonly slot: string;
  readonly instId: string;
  readonly clOrdId: string;
  readonly side: "buy" | "sell";
  readonly px: string;
  /** Base currency. */
  readonly qty: string;
  /** The fee as a positive cost; a rebate is negative. */
  readonly cost: string;
  readonly currency: string;
  /** Liquidity of the fill; empty if the record does not contain it. */
  readonly liquidity: "maker" | "taker" | "";
  /** Position of the strategy in the instrument after the fill. */
  readonly position: string;
}

/** Section `quota`, by layer and scope (`layer|scope`). */
export interface QuotaRow {
  readonly layer: string;
  readonly scope: string;
  readonly capacity: number;
  readonly used: number;
  readonly reserved: number;
  /** Used by other clients, of `used`. */
  readonly foreign: number;
  readonly windowEndsAt: number;
  /** `floor` while the service's counts are disregarded and the limit is spent evenly. */
  readonly mode: "measured" | "floor";
}

/** Section `queue`, by class and owner (`place|ladder`); key `all` for everything. */
export interface QueueRow {
  readonly queued: number;
  readonly inFlight: number;
}

/** Section `events`, by number of the event: one line each. */
export interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly type: string;
  readonly text: string;
  readonly severity: "info" | "warn" | "bad";
}

/** Row of section `health`, by name of the measurement. */
export interface HealthRow {
  readonly value: string | number | boolean;
  /** `ms`, or empty. */
  readonly unit: string;
  readonly state: "ok" | "warn" | "bad";
}

/** Section `markets`, by instrument. Empty text where there is none yet. */
export interface MarketRow {
  readonly instId: string;
  readonly bid: string;
  readonly ask: string;
  readonly last: string;
  readonly at: number;
}

/** Section `book`, by instrument: price and quantity of each level, best first. */
export interface BookRow {
  readonly instId: string;
  readonly at: number;
  readonly bids: readonly (readonly [px: string, qty: string])[];
  readonly asks: readonly (readonly [px: string, qty: string])[];
}

/** Section `candles`, by instrument and time of the close (`BTC-USDT-SWAP|1704067260000`). */
export interface CandleRow {
  readonly instId: string;
  readonly at: number;
  readonly o: string;
  readonly h: string;
  readonly l: string;
  readonly c: string;
}

/** Type of the rows of each section. */
export interface ControlRows {
  readonly engine: EngineRow;
  readonly strategies: StrategyRow;
  readonly positions: PositionRow;
  readonly money: MoneyRow;
  readonly userMoney: UserMoneyRow;
  readonly balances: BalanceRow;
  readonly accountPositions: AccountPositionRow;
  readonly equity: EquityRow;
  readonly orders: OrderRow;
  readonly fills: FillRow;
  readonly quota: QuotaRow;
  readonly queue: QueueRow;
  readonly events: EventRow;
  readonly health: HealthRow;
  readonly markets: MarketRow;
  readonly book: BookRow;
  readonly candles: CandleRow;
}

/** Name of a section of the document. */
export type SectionName = keyof ControlRows;
/** A row and its key; `null` removes the row of that key. */
export type ControlChange = {
  readonly [S in SectionName]: readonly [section: S, key: string, row: ControlRows[S] | null];
}[SectionName];

/** Key of a position: names of strategies hold no line break. */
export const positionKey = (strategy: string, instId: string): string => `${strategy}|${instId}`;

/** Returns the key of a user's row for a currency or an instrument. */
export const userKey = (user: string, what: string): string => `${user}|${what}`;
