/**
 * Position of one strategy in one instrument at average cost: quantity, entry value, costs, realised profit, closed trades.
 *
 * Invariants: realised plus unrealised is to the last digit what was received less what was paid, valued at the mark; a reducing
 * fill takes its share of the entry value and of the costs paid so far, so that the average price of the rest stays (beyond 18
 * digits the rest keeps the remainder).
 * A trade is what one order closes: fills of one order that follow each other, up to the point where nothing is held. Its net
 * profit is what it realised less its own fees and its share of what opening and holding cost; a fill that reverses the position
 * closes a trade and opens the other side with the rest. So net profits and `costs` add up to realised profit less all costs.
 * Kept in whole units of the finest place that came up, because as text every step would read and spell eighteen digits.
 * Not here: which fills are of one strategy (positions.ts; of a report, report/trade-statistics.ts), rates over trades (report/trades.ts).
 */
import type { Side } from "../contract/profile.ts";
import { decimal, div, mul, sub } from "../decimal.ts";

/** Closed trades: counts, and sums of net profits. */
interface ClosedTrades {
  /** Those that neither won nor lost included. */
  readonly count: number;
  readonly won: number;
  readonly lost: number;
  /** Of those that won. */
  readonly profit: string;
  /** Of those that lost: zero or below. */
  readonly loss: string;
  /** Absent where no trade was closed. */
  readonly best?: string;
  readonly worst?: string;
}

export interface Holding {
  /** Positive when long. */
  readonly qty: string;
  /** What the quantity cost, of its own sign. */
  readonly entry: string;
  /** Before fees. */
  readonly realised: string;
  /** Fees and funding of what is held now, not yet charged to a trade. */
  readonly costs: string;
  readonly units: Units;
  count: number;
  won: number;
  lost: number;
  /** The order whose fills make up the trade that may still go on. */
  closing: string | undefined;
}

/** The same in whole units: of the quantity, and of money. */
interface Units {
  qty: bigint;
  /** How many digits of the quantity are fraction. */
  qtyPlaces: number;
  entry: bigint;
  realised: bigint;
  costs: bigint;
  /** Net profit so far of the trade that may still go on. */
  trade: bigint;
  profit: bigint;
  loss: bigint;
  best: bigint;
  worst: bigint;
  /** How many digits of all amounts of money are fraction. */
  moneyPlaces: number;
}

const amounts = ["entry", "realised", "costs", "trade", "profit", "loss", "best", "worst"] as const;

const places = 18;
const averagePlaces = 12;

const tens = Array.from({ length: 64 }, (_, power) => 10n ** BigInt(power));
const ten = (power: number): bigint => tens[power] ?? 10n ** BigInt(power);

const digitsOf = (text: string): { readonly digits: bigint; readonly fraction: number } => {
  const dot = decimal(text, "a fill").indexOf(".");
  if (dot < 0) return { digits: BigInt(text), fraction: 0 };
  return { digits: BigInt(text.slice(0, dot) + text.slice(dot + 1)), fraction: text.length - dot - 1 };
};

const textOf = (digits: bigint, fraction: number): string => div(String(digits), String(ten(fraction)), fraction);

export const createHolding = (): Holding => {
  const money = { entry: 0n, realised: 0n, costs: 0n, trade: 0n, profit: 0n, loss: 0n, best: 0n, worst: 0n };
  const units: Units = { qty: 0n, qtyPlaces: 0, ...money, moneyPlaces: places };
  return {
    units,
    get qty() {
      return textOf(units.qty, units.qtyPlaces);
    },
    get entry() {
      return textOf(units.entry, units.moneyPlaces);
    },
    get realised() {
      return textOf(units.realised, units.moneyPlaces);
    },
    get costs() {
      return textOf(units.costs, units.moneyPlaces);
    },
    count: 0,
    won: 0,
    lost: 0,
    closing: undefined,
  };
};

export const isFlat = ({ units }: Holding): boolean => units.qty === 0n;

/** A fill in the units of a holding. */
interface Part {
  readonly bought: boolean;
  /** Money for one unit of quantity. */
  readonly price: bigint;
  readonly size: bigint;
  readonly fee: bigint;
  readonly order: string;
}

/** What an order executed, at one price. */
export interface HeldFill {
  readonly ordId: string;
  readonly side: Side;
  readonly px: string;
  /** In base currency. */
  readonly qty: string;
  /** The fee as a positive cost; a rebate is negative. */
  readonly cost: string;
}

export const addToHolding = (held: Holding, { ordId, side, px, qty, cost }: HeldFill): void => {
  const { units } = held;
  const [price, size, fee] = [digitsOf(px), digitsOf(qty), digitsOf(cost)];
  refineQty(units, size.fraction);
  refineMoney(units, Math.max(fee.fraction, price.fraction + units.qtyPlaces));
  const part: Part = {
    bought: side === "buy",
    price: price.digits * ten(units.moneyPlaces - price.fraction - units.qtyPlaces),
    size: size.digits * ten(units.qtyPlaces - size.fraction),
    fee: fee.digits * ten(units.moneyPlaces - fee.fraction),
    order: ordId,
  };
  if (units.qty === 0n || units.qty > 0n === part.bought) enlarge(units, part);
  else reduce(held, part);
};

/** Charges what is held with funding, or with the fee of a liquidation: the trades that close it bear their shares. */
export const chargeHolding = ({ units }: Holding, cost: string): void => {
  const { digits, fraction } = digitsOf(cost);
  refineMoney(units, fraction);
  units.costs += digits * ten(units.moneyPlaces - fraction);
};

const refineQty = (units: Units, to: number): void => {
  if (to <= units.qtyPlaces) return;
  units.qty *= ten(to - units.qtyPlaces);
  units.qtyPlaces = to;
};

const refineMoney = (units: Units, to: number): void => {
  if (to <= units.moneyPlaces) return;
  const factor = ten(to - units.moneyPlaces);
  for (const name of amounts) units[name] *= factor;
  units.moneyPlaces = to;
};

/** Closes what it can, and opens the other side with the rest. */
const reduce = (held: Holding, part: Part): void => {
  const { bought, price, size, fee, order } = part;
  const { units } = held;
  const owned = units.qty < 0n ? -units.qty : units.qty;
  const crossing = size > owned;
  const closing = crossing ? owned : size;
  // All of it where nothing is left to round; else the share of what is closed.
  const ownFee = crossing ? shareOf(fee, closing, size, units) : fee;
  const ends = size >= owned;
  const removed = ends ? units.entry : shareOf(units.entry, closing, owned, units);
  const costs = ends ? units.costs : shareOf(units.costs, closing, owned, units);
  const value = price * closing;
  const gained = (bought ? -value : value) - removed;
  units.realised += gained;
  units.entry -= removed;
  units.costs -= costs;
  units.qty += bought ? closing : -closing;
  if (held.closing !== order) endTrade(held);
  held.closing = order;
  units.trade += gained - costs - ownFee;
  if (ends) endTrade(held);
  if (crossing) enlarge(units, { ...part, size: size - closing, fee: fee - ownFee });
};

/** `part` of `whole` of an amount of money, cut at the 18th place. */
const shareOf = (money: bigint, part: bigint, whole: bigint, { moneyPlaces }: Units): bigint => {
  const beyond = ten(moneyPlaces - places);
  return ((money * part) / (whole * beyond)) * beyond;
};

const enlarge = (units: Units, { bought, price, size, fee }: Part): void => {
  const value = price * size;
  units.qty += bought ? size : -size;
  units.entry += bought ? value : -value;
  units.costs += fee;
};

const endTrade = (held: Holding): void => {
  if (held.closing === undefined) return;
  const { units } = held;
  const net = units.trade;
  if (held.count === 0 || net > units.best) units.best = net;
  if (held.count === 0 || net < units.worst) units.worst = net;
  held.count++;
  if (net > 0n) {
    held.won++;
    units.profit += net;
  } else if (net < 0n) {
    held.lost++;
    units.loss += net;
  }
  units.trade = 0n;
  held.closing = undefined;
};

/** What is closed is a trade now, whether or not its order would have gone on. */
export const closedTrades = (held: Holding): ClosedTrades => {
  endTrade(held);
  const { units, count, won, lost } = held;
  const text = (money: bigint): string => textOf(money, units.moneyPlaces);
  const extremes = count === 0 ? {} : { best: text(units.best), worst: text(units.worst) };
  return { count, won, lost, profit: text(units.profit), loss: text(units.loss), ...extremes };
};

export const unrealisedOf = ({ qty, entry }: Holding, markPx: string): string => sub(mul(qty, markPx), entry);

/** A holding as an earlier one was; its closed trades and the fees of what is held begin anew. */
export const holdingOf = ({ qty, entry, realised }: Pick<Holding, "qty" | "entry" | "realised">): Holding => {
  const held = createHolding();
  const { units } = held;
  const [size, cost, gained] = [digitsOf(qty), digitsOf(entry), digitsOf(realised)];
  refineQty(units, size.fraction);
  refineMoney(units, Math.max(cost.fraction, gained.fraction));
  units.qty = size.digits * ten(units.qtyPlaces - size.fraction);
  units.entry = cost.digits * ten(units.moneyPlaces - cost.fraction);
  units.realised = gained.digits * ten(units.moneyPlaces - gained.fraction);
  return held;
};

/** At which what is held was entered on average: at most twelve fraction digits, "0" when nothing is held. */
export const averagePxOf = (held: Holding): string => (isFlat(held) ? "0" : div(held.entry, held.qty, averagePlaces));
