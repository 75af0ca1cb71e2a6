/**
 * List of trades: each round trip with its prices, its costs, and the furthest that the market went for and against it.
 *
 * Invariants: pure; gross comes from exact values, not from the average prices that are shown; net = gross - fees -
 * funding; over all trades of a strategy net sums up to its profit, to the last digit.
 * Not here: which fills make a trade (round-trips.ts, matched-lots.ts), recorded prices (price-extremes.ts).
 */
import type { Side } from "../contract/profile.ts";
import { add, compare, div, mul, sub } from "../decimal.ts";
import { inCurrency, type Mark } from "./converted-money.ts";
import { mulDiv } from "./proportion.ts";

/** One round trip of a strategy in an instrument. Money is decimal text in `currency`. */
export interface TradeRecord {
  readonly strategy: string;
  readonly instId: string;
  readonly side: "long" | "short";
  /** All that was entered, in base currency. */
  readonly qty: string;
  /** Instant of the first fill, milliseconds since the epoch on the run's clock. */
  readonly openedAt: number;
  /** Instant of the last fill; absent where something is still held at the end. */
  readonly closedAt?: number;
  /** Weighted by volume, at most 12 fraction digits. */
  readonly entryPx: string;
  /** Weighted by volume, at most 12 fraction digits; what is still held counts at its mark. */
  readonly exitPx: string;
  /** `qty` × (`exitPx` - `entryPx`) when long, exact. */
  readonly gross: string;
  /** Paid for fills and liquidations; negative where rebates were more. */
  readonly fees: string;
  /** Paid, or received where negative. */
  readonly funding: string;
  /** `gross` - `fees` - `funding`. */
  readonly net: string;
  readonly currency: string;
  /**
   * Largest favourable move of the recorded price between opening and closing, as money of `qty` from `entryPx`, in
   * another quote currency at the rate of the end; zero or above.
   */
  readonly mfe: string;
  /** Largest adverse move, in the same way; zero or below. */
  readonly mae: string;
  /** Client order ids of the orders that opened it, and of those that closed it; at most the first 10,000 of each. */
  readonly entries: readonly string[];
  readonly exits: readonly string[];
}

/** Trades of all strategies by two ways to match what was bought with what was sold. */
export interface TradeLists {
  /** From flat to flat: what reverses a position closes one trade and opens the next. */
  readonly position: readonly TradeRecord[];
  /** A closing fill is matched to the oldest open lot: one trade for each pair of an opening and a closing order. */
  readonly fifo: readonly TradeRecord[];
}

/** A fill of a strategy, or its share of one. */
export interface TradeFill {
  readonly ordId: string;
  /** Client id of the order; empty or absent where the service placed it. */
  readonly clOrdId?: string;
  readonly side: Side;
  readonly px: string;
  /** Quantity in base currency. */
  readonly qty: string;
  /** The fee as a positive cost; a rebate is negative. */
  readonly cost: string;
}

/** Sums of a trade's fills and charges. */
export interface TradeSums {
  readonly long: boolean;
  readonly openedAt: number;
  /** Entered, and left of it. */
  qty: string;
  left: string;
  /** Traded value of what was entered, and of what was left again. */
  entryValue: string;
  exitValue: string;
  fees: string;
  funding: string;
  /** Instant of the last closing fill. */
  exitAt: number;
  /**
   * Of a swap that is not quoted in the run's currency: gains converted when they were made, and the entry value of
   * what is left.
   */
  converted?: { gains: string; entryLeft: string };
  /** Prices that were met while it was open, where they are not recorded. */
  reached?: { readonly low: string; readonly high: string };
  readonly entries: string[];
  readonly exits: string[];
}

export const openTrade = (long: boolean, openedAt: number): TradeSums => ({
  long,
  openedAt,
  qty: "0",
  left: "0",
  entryValue: "0",
  exitValue: "0",
  fees: "0",
  funding: "0",
  exitAt: openedAt,
  entries: [],
  exits: [],
});

/** A position that is never flat would otherwise keep them for ever. */
const ordersMax = 10_000;

export const noteOrder = (orders: string[], { clOrdId = "" }: TradeFill): void => {
  if (clOrdId !== "" && orders.at(-1) !== clOrdId && orders.length < ordersMax) orders.push(clOrdId);
};

/** The part of a cost that falls to `part` of `whole`, cut at the 18th place. What remains is left for the rest. */
export const costShare = (cost: string, part: string, whole: string): string =>
  compare(part, whole) === 0 ? cost : mulDiv(cost, part, whole);

/** The lowest and the highest recorded price of a stretch of time; undefined where there is none. */
export type Extremes = (
  instId: string,
  fromAt: number,
  untilAt: number,
) => { readonly low: string; readonly high: string } | undefined;

/** Owner of a trade, and its valuation: `mark` is in the currency that its prices are in. */
interface TradeOf {
  readonly strategy: string;
  readonly instId: string;
  readonly currency: string;
  readonly mark: Mark;
  /** Factor from recorded prices to that currency. */
  readonly pxRate: string;
  readonly endAt: number;
  readonly extremes: Extremes;
}

/** Gross profit of a trade in the run's currency, what is left of it valued at the mark. */
const grossOfTrade = ({ long, left, entryValue, exitValue, converted }: TradeSums, { px, rate }: Mark): string => {
  const worth = left === "0" ? left : mul(left, px);
  const out = converted !== undefined ? worth : worth === "0" ? exitValue : add(exitValue, worth);
  const into = converted === undefined ? entryValue : converted.entryLeft;
  const gained = long ? sub(out, into) : sub(into, out);
  return converted === undefined ? gained : add(converted.gains, inCurrency(gained, rate));
};

/** Gross less what it was charged. */
export const netOfTrade = (trade: TradeSums, mark: Mark): string => {
  const net = sub(grossOfTrade(trade, mark), trade.fees);
  return trade.funding === "0" ? net : sub(net, trade.funding);
};

/** Adds what closing `qty` of a trade at `px`, of which `entered` is the entry value, gained at a rate. */
export const noteGain = (trade: TradeSums, value: string, entered: string, rate: string): void => {
  if (trade.converted === undefined) return;
  const { gains, entryLeft } = trade.converted;
  const gained = trade.long ? sub(value, entered) : sub(entered, value);
  trade.converted = { gains: add(gains, inCurrency(gained, rate)), entryLeft: sub(entryLeft, entered) };
};

/** Adds what was entered for `value`. */
export const noteEntry = (trade: TradeSums, qty: string, value: string, rate: string): void => {
  trade.qty = add(trade.qty, qty);
  trade.left = add(trade.left, qty);
  if (rate !== "1") trade.converted ??= { gains: "0", entryLeft: trade.entryValue };
  trade.entryValue = add(trade.entryValue, value);
  if (trade.converted !== undefined) trade.converted.entryLeft = add(trade.converted.entryLeft, value);
};

export const isOpen = ({ left }: TradeSums): boolean => left !== "0";

const pxPlaces = 12;

export const tradeRecord = (
  trade: TradeSums,
  { strategy, instId, currency, mark, pxRate, endAt, extremes }: TradeOf,
): TradeRecord => {
  const { long, qty, left, openedAt, exitAt, entryValue, exitValue, fees, funding, entries, exits } = trade;
  const open = isOpen(trade);
  const reached = trade.reached ?? extremes(instId, openedAt, open ? endAt : exitAt);
  const moved = (px: string | undefined): string => {
    if (px === undefined) return "0";
    const move = inCurrency(sub(mul(inCurrency(px, pxRate), qty), entryValue), mark.rate);
    return long ? move : sub("0", move);
  };
  const [up, down] = [moved(long ? reached?.high : reached?.low), moved(long ? reached?.low : reached?.high)];
  return {
    strategy,
    instId,
    side: long ? "long" : "short",
    qty,
    openedAt,
    ...(!open && { closedAt: exitAt }),
    entryPx: div(entryValue, qty, pxPlaces),
    exitPx: div(add(exitValue, mul(left, mark.px)), qty, pxPlaces),
    gross: grossOfTrade(trade, mark),
    fees,
    funding,
    net: netOfTrade(trade, mark),
    currency,
    mfe: compare(up, "0") > 0 ? up : "0",
    mae: compare(down, "0") < 0 ? down : "0",
    entries: [...new Set(entries)],
    exits: [...new Set(exits)],
  };
};
