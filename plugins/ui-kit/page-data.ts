/**
 * Data of the charts of a page, from any source: prices, fills, orders, trades and lines over one span of time.
 *
 * Invariants: types alone, so that the page's client is checked against them; instants are milliseconds after
 * `startAt`; a column holds one number for each entry, -1 where it names none; a figure that people read to the last
 * digit is text in the tables, not here.
 * Not here: its source (page-contents.ts), its encoding (packing.ts), drawing (client/).
 */

type Column = ArrayLike<number> & Iterable<number>;

/** A line over time. */
export interface LineData {
  readonly name: string;
  readonly at: Column;
  readonly value: Column;
}

export interface InstrumentData {
  readonly instId: string;
  readonly base: string;
  /** Fraction digits of a price. */
  readonly places: number;
  readonly of: "quote" | "trade" | "candle" | "bar";
  /** Milliseconds of a bar; 0 where each entry is one price. */
  readonly barMs: number;
  /** Factor of the four columns of prices. */
  readonly unit: number;
  readonly at: Column;
  readonly open: Column;
  readonly high: Column;
  readonly low: Column;
  readonly close: Column;
  /** Base currency held after each fill. */
  readonly position: { readonly at: Column; readonly qty: Column };
}

/** Fills in order of time; `order` and `strategy` are indexes. */
export interface FillData {
  readonly at: Column;
  readonly order: Column;
  readonly strategy: Column;
  readonly instrument: Column;
  /** 1 bought, 0 sold. */
  readonly buy: Column;
  readonly maker: Column;
  readonly px: Column;
  readonly qty: Column;
  readonly fee: Column;
}

/**
 * Orders in the order in which they were planned. Phases of all orders follow each other; `phases` is the number of
 * phases of each order.
 */
export interface OrderData {
  readonly id: readonly string[];
  readonly strategy: Column;
  readonly slot: Column;
  readonly instrument: Column;
  readonly buy: Column;
  readonly type: Column;
  /** 0 where it has none. */
  readonly px: Column;
  readonly sz: Column;
  /** Milliseconds before it was sent. */
  readonly waited: Column;
  readonly reason: Column;
  readonly phases: Column;
  readonly phase: Column;
  readonly phaseAt: Column;
}

/** Round trips; `closedAt` is -1 while one is held. `best` and `worst` are its furthest moves as money. */
export interface TradeData {
  readonly strategy: Column;
  readonly instrument: Column;
  readonly long: Column;
  readonly qty: Column;
  readonly openedAt: Column;
  readonly closedAt: Column;
  readonly entryPx: Column;
  readonly exitPx: Column;
  readonly gross: Column;
  readonly fees: Column;
  readonly funding: Column;
  readonly net: Column;
  readonly best: Column;
  readonly worst: Column;
  readonly ending: Column;
}

/** Use of the quota in minutes; an entry holds until the next one. */
export interface QuotaData {
  readonly at: Column;
  readonly weight: Column;
  readonly weightMax: number;
  readonly requests: Column;
  readonly requestsMax: number;
  /** Seconds that actions waited. */
  readonly waited: Column;
  readonly refused: Column;
}

interface PlotData extends LineData {
  readonly strategy: string;
  readonly pane: string;
  /** Index; -1 for any. */
  readonly instrument: number;
}

export interface PageData {
  /** Milliseconds since the epoch. */
  readonly startAt: number;
  readonly spanMs: number;
  /** Currency of money, and its fraction digits. */
  readonly currency: string;
  readonly places: number;
  readonly instruments: readonly InstrumentData[];
  readonly strategies: readonly string[];
  /** Words that columns name by their place. */
  readonly slots: readonly string[];
  readonly types: readonly string[];
  readonly phases: readonly string[];
  readonly reasons: readonly string[];
  readonly endings: readonly string[];
  readonly equity: LineData;
  /** Profit of each strategy. */
  readonly byStrategy: readonly LineData[];
  readonly benchmark?: LineData;
  readonly fills: FillData;
  readonly orders: OrderData;
  readonly trades: TradeData;
  readonly quota: QuotaData;
  readonly plots: readonly PlotData[];
}

/** The part of a page's data that the chart of prices shows. */
export type PriceData = Pick<
  PageData,
  | "startAt"
  | "spanMs"
  | "currency"
  | "instruments"
  | "strategies"
  | "slots"
  | "types"
  | "phases"
  | "reasons"
  | "fills"
  | "orders"
>;
