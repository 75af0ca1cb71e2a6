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
import { decimal, digitsOf, div, formatCount, mul, readPlaces, safeMax, spellLong, sub } from "../decimal.ts";

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

/** Fraction digits of what `digitsIn` read last: an object for each would cost more than reading it. */
let fraction = 0;

const digitsIn = (text: string): bigint => {
  const few = digitsOf(text);
  if (few <= safeMax && few >= -safeMax) {
    fraction = readPlaces;
    return BigInt(few);
  }
  const dot = decimal(text, "a fill").indexOf(".");
  fraction = dot < 0 ? 0 : text.length - dot - 1;
  return BigInt(dot < 0 ? text : text.slice(0, dot) + text.slice(dot + 1));
};

export const createHolding = (): Holding => {
  const units: Units = { qty: 0n, qtyPlaces: 0, entry: 0n, realised: 0n, moneyPlaces: places };
  return {
    units,
    get qty() {
      const few = Number(units.qty);
      return few <= safeMax && few >= -safeMax ? formatCount(few, units.qtyPlaces) : spellLong(units.qty, units.qtyPlaces);
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

/** What was executed at one price. */
interface HeldFill {
  readonly side: Side;
  readonly px: string;
  /** In base currency. */
  readonly qty: string;
}

/** A text as it was read last. */
interface LastRead {
  text: string;
  digits: bigint;
  places: number;
}

// A fill is booked more than once, by the report and by its strategy's position, and sizes repeat from fill to fill.
const lastPx: LastRead = { text: "0", digits: 0n, places: 0 };
const lastQty: LastRead = { text: "0", digits: 0n, places: 0 };

const readInto = (last: LastRead, text: string): void => {
  last.digits = digitsIn(text);
  last.places = fraction;
  last.text = text;
};

export const addToHolding = ({ units }: Holding, { side, px, qty }: HeldFill): void => {
  if (px !== lastPx.text) readInto(lastPx, px);
  if (qty !== lastQty.text) readInto(lastQty, qty);
  let price = lastPx.digits;
  let size = lastQty.digits;
  const qtyPlaces = lastQty.places;
  if (qtyPlaces !== units.qtyPlaces) {
    if (qtyPlaces > units.qtyPlaces) refineQty(units, qtyPlaces);
    else size *= ten(units.qtyPlaces - qtyPlaces);
  }
  const moneyPlaces = lastPx.places + units.qtyPlaces;
  const missing = units.moneyPlaces - moneyPlaces;
  if (missing < 0) refineMoney(units, moneyPlaces);
  else if (missing > 0) price *= tens[missing] ?? ten(missing);
  const signed = side === "buy" ? size : -size;
  const closing = units.qty !== 0n && units.qty > 0n !== signed > 0n ? reduce(units, price, signed) : 0n;
  units.qty += signed;
  units.entry += price * (signed + closing);
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

/** Takes what a fill closes out of entry value and profit, not out of the quantity; returns how much that is, with the holding's sign. */
const reduce = (units: Units, price: bigint, signed: bigint): bigint => {
  const { qty, entry } = units;
  const isAll = qty > 0n ? -signed >= qty : -signed <= qty;
  const closing = isAll ? qty : -signed;
  // All of it where nothing is left to round; else the share of what is closed.
  const removed = isAll ? entry : shareOf(entry, closing, qty, units);
  units.realised += price * closing - removed;
  units.entry -= removed;
  return closing;
};

/** `part` of `whole` of an amount of money, cut at the 18th place. */
const shareOf = (money: bigint, part: bigint, whole: bigint, { moneyPlaces }: Units): bigint => {
  const beyond = ten(moneyPlaces - places);
  return ((money * part) / (whole * beyond)) * beyond;
};

export const unrealisedOf = ({ qty, entry }: Holding, markPx: string): string => sub(mul(qty, markPx), entry);

/** A holding as an earlier one was. */
export const holdingOf = ({ qty, entry, realised }: Pick<Holding, "qty" | "entry" | "realised">): Holding => {
  const held = createHolding();
  const { units } = held;
  const size = digitsIn(qty);
  units.qty = size;
  units.qtyPlaces = fraction;
  const cost = digitsIn(entry);
  const costPlaces = fraction;
  const gained = digitsIn(realised);
  refineMoney(units, Math.max(costPlaces, fraction));
  units.entry = cost * ten(units.moneyPlaces - costPlaces);
  units.realised = gained * ten(units.moneyPlaces - fraction);
  return held;
};

/** At which what is held was entered on average: at most twelve fraction digits, "0" when nothing is held. */
export const averagePxOf = (held: Holding): string => (isFlat(held) ? "0" : div(held.entry, held.qty, averagePlaces));
