/**
 * Position of one strategy in one instrument at average cost: quantity, entry value, realised profit.
 *
 * Invariants: realised plus unrealised is to the last digit what was received less what was paid, valued at the mark; a reducing
 * fill takes its share of the entry value, so that the average price of the rest stays (beyond 18 digits the rest keeps the
 * remainder).
 * Kept in whole units of the finest place that came up, because as text every step would read and spell eighteen digits.
 * Not here: which fills are of one strategy (positions.ts; of a report, report/trade-statistics.ts), costs, trades (report/round-trips.ts).
 */
import type { Side } from "../contract/profile.ts";
import { decimal, digitsOf, div, mul, readPlaces, spellLong, sub } from "../decimal.ts";

export interface Holding {
  /** Positive when long. */
  readonly qty: string;
  /** What the quantity cost, of its own sign. */
  readonly entry: string;
  /** Before fees. */
  readonly realised: string;
  readonly units: Units;
}

/** The same in whole units: of the quantity, and of money. */
interface Units {
  qty: bigint;
  /** How many digits of the quantity are fraction. */
  qtyPlaces: number;
  entry: bigint;
  realised: bigint;
  /** How many digits of all amounts of money are fraction. */
  moneyPlaces: number;
}

const places = 18;
const averagePlaces = 12;

const tens = Array.from({ length: 64 }, (_, power) => 10n ** BigInt(power));
const ten = (power: number): bigint => tens[power] ?? 10n ** BigInt(power);

const wholeOf = (text: string): { readonly digits: bigint; readonly fraction: number } => {
  const few = digitsOf(text);
  if (Number.isSafeInteger(few)) return { digits: BigInt(few), fraction: readPlaces };
  const dot = decimal(text, "a fill").indexOf(".");
  if (dot < 0) return { digits: BigInt(text), fraction: 0 };
  return { digits: BigInt(text.slice(0, dot) + text.slice(dot + 1)), fraction: text.length - dot - 1 };
};

export const createHolding = (): Holding => {
  const units: Units = { qty: 0n, qtyPlaces: 0, entry: 0n, realised: 0n, moneyPlaces: places };
  return {
    units,
    get qty() {
      return spellLong(units.qty, units.qtyPlaces);
    },
    get entry() {
      return spellLong(units.entry, units.moneyPlaces);
    },
    get realised() {
      return spellLong(units.realised, units.moneyPlaces);
    },
  };
};

export const isFlat = ({ units }: Holding): boolean => units.qty === 0n;

/** A fill in the units of a holding. */
interface Part {
  readonly bought: boolean;
  /** Money for one unit of quantity. */
  readonly price: bigint;
  readonly size: bigint;
}

/** What was executed at one price. */
interface HeldFill {
  readonly side: Side;
  readonly px: string;
  /** In base currency. */
  readonly qty: string;
}

export const addToHolding = ({ units }: Holding, { side, px, qty }: HeldFill): void => {
  const [price, size] = [wholeOf(px), wholeOf(qty)];
  if (size.fraction > units.qtyPlaces) refineQty(units, size.fraction);
  if (price.fraction + units.qtyPlaces > units.moneyPlaces) refineMoney(units, price.fraction + units.qtyPlaces);
  const part: Part = {
    bought: side === "buy",
    price: price.digits * ten(units.moneyPlaces - price.fraction - units.qtyPlaces),
    size: size.digits * ten(units.qtyPlaces - size.fraction),
  };
  if (units.qty === 0n || units.qty > 0n === part.bought) enlarge(units, part);
  else reduce(units, part);
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
  units.moneyPlaces = to;
};

/** Closes what it can, and opens the other side with the rest. */
const reduce = (units: Units, part: Part): void => {
  const { bought, price, size } = part;
  const owned = units.qty < 0n ? -units.qty : units.qty;
  const closing = size > owned ? owned : size;
  // All of it where nothing is left to round; else the share of what is closed.
  const removed = size >= owned ? units.entry : shareOf(units.entry, closing, owned, units);
  const value = price * closing;
  units.realised += (bought ? -value : value) - removed;
  units.entry -= removed;
  units.qty += bought ? closing : -closing;
  if (size > owned) enlarge(units, { ...part, size: size - closing });
};

/** `part` of `whole` of an amount of money, cut at the 18th place. */
const shareOf = (money: bigint, part: bigint, whole: bigint, { moneyPlaces }: Units): bigint => {
  const beyond = ten(moneyPlaces - places);
  return ((money * part) / (whole * beyond)) * beyond;
};

const enlarge = (units: Units, { bought, price, size }: Part): void => {
  const value = price * size;
  units.qty += bought ? size : -size;
  units.entry += bought ? value : -value;
};

export const unrealisedOf = ({ qty, entry }: Holding, markPx: string): string => sub(mul(qty, markPx), entry);

/** A holding as an earlier one was. */
export const holdingOf = ({ qty, entry, realised }: Pick<Holding, "qty" | "entry" | "realised">): Holding => {
  const held = createHolding();
  const { units } = held;
  const [size, cost, gained] = [wholeOf(qty), wholeOf(entry), wholeOf(realised)];
  refineQty(units, size.fraction);
  refineMoney(units, Math.max(cost.fraction, gained.fraction));
  units.qty = size.digits * ten(units.qtyPlaces - size.fraction);
  units.entry = cost.digits * ten(units.moneyPlaces - cost.fraction);
  units.realised = gained.digits * ten(units.moneyPlaces - gained.fraction);
  return held;
};

/** At which what is held was entered on average: at most twelve fraction digits, "0" when nothing is held. */
export const averagePxOf = (held: Holding): string => (isFlat(held) ? "0" : div(held.entry, held.qty, averagePlaces));
