/**
 * Position of one strategy in one instrument at average cost: quantity, entry value, realised profit.
 *
 * Invariants: realised plus unrealised is to the last digit what was received less what was paid, valued at the mark; a
 * reducing fill takes its share of the entry value, so that the average price of the rest stays (beyond 18 digits the
 * rest keeps the remainder). Kept in whole units of the finest place that came up, because as text every step would
 * read and spell eighteen digits: as numbers while all of them are exact below 2^53, from then on as long integers.
 * Not here: which fills are of one strategy (positions.ts; of a report, report/trade-statistics.ts), costs, trades
 * (report/round-trips.ts).
 */
import type { Side } from "../contract/profile.ts";
import { decimal, digitsOf, div, formatCount, mul, readPlaces, safeMax, spellLong, sub } from "../decimal.ts";

/** What is held of one instrument, and what it cost. */
export interface Holding {
  /** Positive when long. */
  readonly qty: string;
  /** What the quantity cost, of its own sign. */
  readonly entry: string;
  /** Before fees. */
  readonly realised: string;
  units: Units | LongUnits;
}

/** The same in whole units: of the quantity, and of money. */
interface Amounts<N> {
  qty: N;
  /** How many digits of the quantity are fraction. */
  qtyPlaces: number;
  entry: N;
  realised: N;
  /** How many digits of all amounts of money are fraction. */
  moneyPlaces: number;
}

interface Units extends Amounts<number> {
  readonly isLong: false;
}

/** Money with 18 digits of fraction at least. */
interface LongUnits extends Amounts<bigint> {
  readonly isLong: true;
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

class CountedHolding implements Holding {
  units: Units | LongUnits = { isLong: false, qty: 0, qtyPlaces: 0, entry: 0, realised: 0, moneyPlaces: 0 };

  get qty(): string {
    const { units } = this;
    return units.isLong ? spellLong(units.qty, units.qtyPlaces) : formatCount(units.qty, units.qtyPlaces);
  }

  get entry(): string {
    const { units } = this;
    return units.isLong ? spellLong(units.entry, units.moneyPlaces) : formatCount(units.entry, units.moneyPlaces);
  }

  get realised(): string {
    const { units } = this;
    return units.isLong ? spellLong(units.realised, units.moneyPlaces) : formatCount(units.realised, units.moneyPlaces);
  }
}

/** A holding of nothing. */
export const createHolding = (): Holding => new CountedHolding();

// By value: a number or a long integer.
export const isFlat = ({ units }: Holding): boolean => !units.qty;

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
  /** All its digits; not exact, or no number, where they are too many. */
  digits: number;
  places: number;
}

// A fill is booked more than once, by the report and by its strategy's position, and sizes repeat from fill to fill.
const lastPx: LastRead = { text: "0", digits: 0, places: 0 };
const lastQty: LastRead = { text: "0", digits: 0, places: 0 };

const readInto = (last: LastRead, text: string): void => {
  last.digits = digitsOf(text);
  last.places = readPlaces;
  last.text = text;
};

/** Adds a fill: quantity, cost and realised profit of the holding change. */
export const addToHolding = (holding: Holding, { side, px, qty }: HeldFill): void => {
  const { units } = holding;
  if (units.isLong) addLong(units, side, px, qty);
  else if (!addExactly(units, side, px, qty)) {
    const long = longOf(units);
    addLong(long, side, px, qty);
    holding.units = long;
  }
};

/**
 * False, with nothing changed, where a number would not be exact: sums are judged by their magnitudes, so that what was
 * rounded is never below 2^53.
 */
const addExactly = (units: Units, side: Side, px: string, qty: string): boolean => {
  if (px !== lastPx.text) readInto(lastPx, px);
  if (qty !== lastQty.text) readInto(lastQty, qty);
  let price = lastPx.digits;
  let size = lastQty.digits;
  let { qty: held, qtyPlaces, entry, realised, moneyPlaces } = units;
  if (lastQty.places < qtyPlaces) size *= 10 ** (qtyPlaces - lastQty.places);
  else if (lastQty.places > qtyPlaces) {
    held *= 10 ** (lastQty.places - qtyPlaces);
    qtyPlaces = lastQty.places;
  }
  const finer = lastPx.places + qtyPlaces - moneyPlaces;
  if (finer < 0) price *= 10 ** -finer;
  else if (finer > 0) {
    entry *= 10 ** finer;
    realised *= 10 ** finer;
    moneyPlaces += finer;
  }
  const signed = side === "buy" ? size : -size;
  let closing = 0;
  if (held !== 0 && held > 0 !== signed > 0) {
    const isAll = size >= Math.abs(held);
    closing = isAll ? held : -signed;
    const share = entry * closing;
    if (!isAll && !(Math.abs(share) <= safeMax && share % held === 0)) return false;
    const removed = isAll ? entry : share / held;
    const received = price * closing;
    if (!(Math.abs(realised) + Math.abs(received) + Math.abs(removed) <= safeMax)) return false;
    realised += received - removed;
    entry -= removed;
  }
  const paid = price * (signed + closing);
  if (!(Math.abs(held) + size <= safeMax && Math.abs(entry) + Math.abs(paid) <= safeMax)) return false;
  if (moneyPlaces > places || Math.abs(realised) > safeMax) return false;
  units.qty = held + signed;
  units.qtyPlaces = qtyPlaces;
  units.entry = entry + paid;
  units.realised = realised;
  units.moneyPlaces = moneyPlaces;
  return true;
};

const longOf = ({ qty, qtyPlaces, entry, realised, moneyPlaces }: Units): LongUnits => {
  const missing = ten(places - moneyPlaces);
  return {
    isLong: true,
    qty: BigInt(qty),
    qtyPlaces,
    entry: BigInt(entry) * missing,
    realised: BigInt(realised) * missing,
    moneyPlaces: places,
  };
};

const addLong = (units: LongUnits, side: Side, px: string, qty: string): void => {
  let price = digitsIn(px);
  const pxPlaces = fraction;
  let size = digitsIn(qty);
  if (fraction > units.qtyPlaces) refineQty(units, fraction);
  else size *= ten(units.qtyPlaces - fraction);
  const missing = units.moneyPlaces - pxPlaces - units.qtyPlaces;
  if (missing < 0) refineMoney(units, units.moneyPlaces - missing);
  else price *= ten(missing);
  const signed = side === "buy" ? size : -size;
  const closing = units.qty !== 0n && units.qty > 0n !== signed > 0n ? reduce(units, price, signed) : 0n;
  units.qty += signed;
  units.entry += price * (signed + closing);
};

const refineQty = (units: LongUnits, to: number): void => {
  if (to <= units.qtyPlaces) return;
  units.qty *= ten(to - units.qtyPlaces);
  units.qtyPlaces = to;
};

const refineMoney = (units: LongUnits, to: number): void => {
  if (to <= units.moneyPlaces) return;
  const factor = ten(to - units.moneyPlaces);
  units.entry *= factor;
  units.realised *= factor;
  units.moneyPlaces = to;
};

/**
 * Takes what a fill closes out of entry value and profit, not out of the quantity; returns how much that is, with the
 * holding's sign.
 */
const reduce = (units: LongUnits, price: bigint, signed: bigint): bigint => {
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
const shareOf = (money: bigint, part: bigint, whole: bigint, { moneyPlaces }: LongUnits): bigint => {
  const beyond = ten(moneyPlaces - places);
  return ((money * part) / (whole * beyond)) * beyond;
};

/** Profit of a holding that a sale at `markPx` would realise, before fees. */
export const unrealisedOf = ({ qty, entry }: Holding, markPx: string): string => sub(mul(qty, markPx), entry);

/** A holding as an earlier one was. */
export const holdingOf = ({ qty, entry, realised }: Pick<Holding, "qty" | "entry" | "realised">): Holding => {
  const held = createHolding();
  const units: LongUnits = {
    isLong: true,
    qty: digitsIn(qty),
    qtyPlaces: fraction,
    entry: 0n,
    realised: 0n,
    moneyPlaces: places,
  };
  const cost = digitsIn(entry);
  const costPlaces = fraction;
  const gained = digitsIn(realised);
  refineMoney(units, Math.max(costPlaces, fraction));
  units.entry = cost * ten(units.moneyPlaces - costPlaces);
  units.realised = gained * ten(units.moneyPlaces - fraction);
  held.units = units;
  return held;
};

/** At which what is held was entered on average: at most twelve fraction digits, "0" when nothing is held. */
export const averagePxOf = (held: Holding): string => (isFlat(held) ? "0" : div(held.entry, held.qty, averagePlaces));
