/**
 * What one strategy holds of one product: quantity, entry value, what was realised, and its round trips.
 *
 * Invariants: realised plus unrealised is to the last digit what was received less what was paid, valued at the mark; a closing
 * fill takes its share of the entry value, so that the average price of the rest stays (beyond 18 digits the rest keeps the
 * remainder). A round trip ends where the quantity returns to zero or changes its side, and is charged its fees.
 * Kept in whole units of the finest place that came up, because as text every step would read and spell eighteen digits.
 */
import { decimal, div, mul, sub } from "../decimal.ts";
import type { Fill } from "../venue/venue.ts";

export interface RoundTrips {
  readonly count: number;
  /** Those that gained after fees. */
  readonly won: number;
  readonly lost: number;
}

export interface Holding {
  /** Positive when long. */
  readonly qty: string;
  /** What the quantity cost, of its own sign. */
  readonly entry: string;
  /** Before fees. */
  readonly realised: string;
  /** What the open round trip has made so far, after fees. */
  readonly trip: string;
  readonly units: Units;
  count: number;
  won: number;
  lost: number;
}

/** The same in whole units: of the quantity, and of money. */
interface Units {
  qty: bigint;
  /** How many digits of the quantity are fraction. */
  qtyPlaces: number;
  entry: bigint;
  realised: bigint;
  trip: bigint;
  /** How many digits of the other three are fraction. */
  moneyPlaces: number;
}

/** A position at the end, valued by the market. */
export interface PositionReport {
  readonly strategy: string;
  readonly instId: string;
  readonly qty: string;
  /** At most twelve fraction digits. */
  readonly averagePx: string;
  readonly markPx: string;
  readonly unrealised: string;
}

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
  const units: Units = { qty: 0n, qtyPlaces: 0, entry: 0n, realised: 0n, trip: 0n, moneyPlaces: places };
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
    get trip() {
      return textOf(units.trip, units.moneyPlaces);
    },
    count: 0,
    won: 0,
    lost: 0,
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
}

export const addToHolding = (held: Holding, { side, px, qty, cost }: Pick<Fill, "side" | "px" | "qty" | "cost">): void => {
  const { units } = held;
  const [price, size, fee] = [digitsOf(px), digitsOf(qty), digitsOf(cost)];
  refineQty(units, size.fraction);
  refineMoney(units, Math.max(fee.fraction, price.fraction + units.qtyPlaces));
  const part: Part = {
    bought: side === "buy",
    price: price.digits * ten(units.moneyPlaces - price.fraction - units.qtyPlaces),
    size: size.digits * ten(units.qtyPlaces - size.fraction),
    fee: fee.digits * ten(units.moneyPlaces - fee.fraction),
  };
  if (units.qty === 0n || units.qty > 0n === part.bought) enlarge(units, part);
  else reduce(held, part);
};

const refineQty = (units: Units, to: number): void => {
  if (to <= units.qtyPlaces) return;
  units.qty *= ten(to - units.qtyPlaces);
  units.qtyPlaces = to;
};

const refineMoney = (units: Units, to: number): void => {
  if (to <= units.moneyPlaces) return;
  const factor = ten(to - units.moneyPlaces);
  units.entry *= factor;
  units.realised *= factor;
  units.trip *= factor;
  units.moneyPlaces = to;
};

/** Closes what it can, and opens the other side with the rest. */
const reduce = (held: Holding, { bought, price, size, fee }: Part): void => {
  const { units } = held;
  const owned = units.qty < 0n ? -units.qty : units.qty;
  const crossing = size > owned;
  const closing = crossing ? owned : size;
  // All of it where nothing is left to round; else the share of what is closed.
  const ownFee = crossing ? shareOf(fee, closing, size, units) : fee;
  const ends = size >= owned;
  const removed = ends ? units.entry : shareOf(units.entry, closing, owned, units);
  const value = price * closing;
  const gained = (bought ? -value : value) - removed;
  units.realised += gained;
  units.trip += gained - ownFee;
  units.entry -= removed;
  units.qty += bought ? closing : -closing;
  if (ends) endTrip(held);
  if (crossing) enlarge(units, { bought, price, size: size - closing, fee: fee - ownFee });
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
  units.trip -= fee;
};

const endTrip = (held: Holding): void => {
  held.count++;
  if (held.units.trip > 0n) held.won++;
  else if (held.units.trip < 0n) held.lost++;
  held.units.trip = 0n;
};

export const unrealisedOf = ({ qty, entry }: Holding, markPx: string): string => sub(mul(qty, markPx), entry);

export const positionOf = (strategy: string, instId: string, held: Holding, markPx: string): PositionReport => ({
  strategy,
  instId,
  qty: held.qty,
  averagePx: div(held.entry, held.qty, averagePlaces),
  markPx,
  unrealised: unrealisedOf(held, markPx),
});
