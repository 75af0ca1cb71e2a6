/**
 * Wanted orders, and their conversion into the service's terms.
 *
 * Invariants: prices are rounded to the tick towards the passive side and sizes down to the lot, never the other way;
 * the size is given as exactly one of `qty`, `notional` and `sz`, and the profile has the unit of the service's `sz`;
 * nothing is guessed: an order that cannot be converted is refused with the reason.
 * Not here: whether it may be sent (orders/risk/pre-trade-checks.ts), whether it differs from what rests (plan.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import type { OrdType, Profile, Side } from "../contract/profile.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import {
  add,
  compare,
  type Decimal,
  div,
  equal,
  isDecimal,
  isPositive,
  mul,
  read,
  spell,
  sub,
  toStep,
  zero,
} from "../decimal-value.ts";
import type { Protect, WantedProtection } from "./protection/protect.ts";

/**
 * One order a strategy wants to have. The set a strategy emits replaces the set it emitted before; orders are matched
 * by `slot`, so an order whose wanted order did not change is not touched and keeps its place in the queue. What was
 * emitted is frozen: to want something else, emit another object.
 */
export interface WantedOrder {
  /** Stable name of this order within the strategy. */
  readonly slot: string;
  /** Instrument id, such as `BTC-USDT-SWAP`. */
  readonly instId: string;
  /** `buy` or `sell`. */
  readonly side: Side;
  /** Default `limit`. */
  readonly ordType?: OrdType;
  /** Decimal text; needed unless the type is `market`. Rounded to the tick: a buy down, a sell up. */
  readonly px?: string;
  /**
   * Size in base currency. Give exactly one of `qty`, `notional`, `sz`. Where the service counts `sz` in quote
   * currency, a market order of up to 1,000 lots executes exactly this size as long as its price moves by less than
   * half a lot's worth on the way. A larger one aims 0.05 % below and a second order executes the rest, so that a
   * better price does not buy too much. A difference that remains when the order is complete, for example because the
   * book held too little, is reported as the event `order.inexact`.
   */
  readonly qty?: string;
  /** Size in quote currency. */
  readonly notional?: string;
  /** Size in the unit of the service, sent as it is. */
  readonly sz?: string;
  /**
   * An exit: it reduces what this strategy holds by its own fills, and never opens or turns a position of its own. No
   * more is sent than the strategy holds, even if the size is larger. While the strategy holds nothing, the order waits
   * unsent; an order that is placed by hand is refused. The service decides only if the strategy has never traded the
   * instrument and no other strategy holds it, because a position may be older than the journal.
   *
   * If other strategies hold the opposite and the account's net position does not cover the order, it is sent without
   * the service's reduce-only flag. Its size is then first reduced by what other exits of the strategy may still reduce
   * on this side. Orders of the same side that are wanted at the same time and are not exits do not count: their
   * executions may open a position. A market order whose size the service counts in quote currency stays below the held
   * quantity while the price moves by up to 2 % on the way, and the rest follows.
   *
   * An exit waits until cancels of other exits of its side have taken effect. If the service rejected, cut or canceled
   * it and the strategy still holds what it should reduce, it is placed again after pauses that grow;
   * `position.unprotected` reports that. An exit that rests and is canceled by another client is reported and not
   * placed again; if the engine's own watchdog canceled it, it is placed again. An exit that rests and has become
   * larger than the held quantity is replaced.
   */
  readonly reduceOnly?: boolean;
  /** A resting order whose price is at most this far from `px` is left alone: its place in the queue is worth more. */
  readonly keepWithin?: string;
  /**
   * Once filled, refused or canceled by hand a wanted order is settled: it is not placed again for as long as it is
   * repeated. It is new when something else was wanted in between, or with another `round`.
   */
  readonly round?: string | number;
  /**
   * Treatment of a `post_only` order that would take when its slot opens, judged by the last known quote, or by the
   * last price if there are no quotes. `touch`: it rests at the nearest price that does not take, one tick behind the
   * opposite best, and stays there until the wanted order changes. `skip`: it is left out for as long as it would take.
   * `reject`: it is sent as it is, and the service rejects it; while quota is scarce, a slot with several such
   * rejections in a row is slowed down (event `order.slowed`). Default `reject`.
   */
  readonly cross?: Cross;
  /**
   * Stop-loss, take-profit and trailing stop of what this order buys or sells, from its first fill on. They outlive the
   * wanted order and, with a journal, the process. They end when nothing of the position is left, and when the same
   * slot is wanted with an empty `protect`. To move them, want the same slot with another `protect`. When one is
   * triggered, the rest of this order is withdrawn, and the strategy's own exits on that side wait.
   */
  readonly protect?: Protect;
  /** Label for `orders.cancel({ tag })`. */
  readonly tag?: string;
}

/** Treatment of a post-only order that would take: see `WantedOrder.cross`. */
export type Cross = "touch" | "skip" | "reject";

/** Element of a set that a strategy wants: an order, or the protection of a whole position. */
export type Wanted = WantedOrder | WantedProtection;

/** An order in the service's own words. `px` is empty for a market order. */
export interface OrderSpec {
  /** Instrument id, such as `BTC-USDT-SWAP`. */
  readonly instId: string;
  /** `buy` or `sell`. */
  readonly side: Side;
  /** Order type. */
  readonly ordType: OrdType;
  /** Price in quote currency; empty for a market order. */
  readonly px: string;
  /** Size in the service's unit (`order.szUnit` of the profile). */
  readonly sz: string;
  /** True if it may only reduce a position. */
  readonly reduceOnly: boolean;
}

/** `isUnquoted` is true if the first quote of the product may end the refusal. */
interface Unspecified {
  readonly ok: false;
  readonly reason: string;
  readonly isUnquoted?: true;
}

/** `baseQty` is undefined where it depends on a price that is not known. */
export type Specified =
  | { readonly ok: true; readonly spec: OrderSpec; readonly baseQty: Decimal | undefined }
  | Unspecified;

/** Returns whether the part that is not executed at once stays in the book. */
export const canRest = (ordType: OrdType): boolean => ordType === "limit" || ordType === "post_only";

/**
 * Text that is equal for wanted orders that are the same, for use as a key.
 *
 * @param wanted - an order
 * @returns text that is equal for wanted orders that are the same
 */
export const wantedMark = (wanted: WantedOrder): string => {
  const {
    instId,
    side,
    ordType = "limit",
    px = "",
    qty = "",
    notional = "",
    sz = "",
    reduceOnly,
    round = "",
    cross,
  } = wanted;
  const crossing = cross === undefined || cross === "reject" ? "" : `|${cross}`;
  return `${instId}|${side}|${ordType}|${px}|${qty}|${notional}|${sz}|${reduceOnly === true ? "r" : ""}|${round}${crossing}`;
};

const sameAmounts = (a: WantedOrder, b: WantedOrder): boolean =>
  a.px === b.px &&
  a.qty === b.qty &&
  a.notional === b.notional &&
  a.sz === b.sz &&
  a.side === b.side &&
  a.instId === b.instId;

/** Returns whether two wanted orders ask for the same order; other fields, such as the tag, do not count. */
export const sameWanted = (a: WantedOrder | undefined, b: WantedOrder | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    sameAmounts(a, b) &&
    sameKind(a, b) &&
    (a.round === b.round || String(a.round ?? "") === String(b.round ?? "")));

const sameKind = (a: WantedOrder, b: WantedOrder): boolean =>
  (a.cross ?? "reject") === (b.cross ?? "reject") &&
  (a.ordType ?? "limit") === (b.ordType ?? "limit") &&
  (a.reduceOnly === true) === (b.reduceOnly === true);

/** Returns whether an order at `px` would take if the best price of the other side is `best`. */
export const takes = (side: Side, px: Decimal, best: Decimal): boolean =>
  side === "buy" ? compare(px, best) >= 0 : compare(px, best) <= 0;

/** The price rounded to the tick, towards the passive side. */
export const onTick = (side: Side, px: Decimal, tickSize: Decimal): Decimal =>
  toStep(px, tickSize, side === "buy" ? "down" : "up");

/** The price next to `best` on the tick that does not take. */
const behind = (side: Side, best: Decimal, tickSize: Decimal): Decimal => {
  const step = onTick(side, best, tickSize);
  if (!equal(step, best)) return step;
  return side === "buy" ? sub(step, tickSize) : add(step, tickSize);
};

const no = (reason: string): Unspecified => ({ ok: false, reason });

const quotePlaces = 12;

/** Price and sizes that a wanted order gives. */
interface Amounts {
  readonly px: Decimal | undefined;
  readonly qty: Decimal | undefined;
  readonly notional: Decimal | undefined;
  readonly sz: Decimal | undefined;
}

/** Value of a price or a size; undefined if it is not given, a reason if the text is invalid. */
const amountOf = (name: keyof Amounts, text: unknown): Decimal | string | undefined => {
  if (text === undefined) return undefined;
  if (!isDecimal(text)) return `${name} ${JSON.stringify(text)} is not decimal text`;
  const value = read(text);
  return isPositive(value) ? value : `${name} ${text} is not positive`;
};

/** Amounts of a wanted order, or the reason why they are invalid. */
const amountsIn = (wanted: WantedOrder): Amounts | string => {
  const px = amountOf("px", wanted.px);
  if (typeof px === "string") return px;
  const qty = amountOf("qty", wanted.qty);
  if (typeof qty === "string") return qty;
  const notional = amountOf("notional", wanted.notional);
  if (typeof notional === "string") return notional;
  const sz = amountOf("sz", wanted.sz);
  return typeof sz === "string" ? sz : (kindProblem(wanted) ?? { px, qty, notional, sz });
};

/** Reason why the other fields of a wanted order are invalid; undefined if they are valid. */
const kindProblem = ({ ordType = "limit", px, keepWithin, cross }: WantedOrder): string | undefined => {
  if (keepWithin !== undefined && !isDecimal(keepWithin))
    return `keepWithin ${JSON.stringify(keepWithin)} is not decimal text`;
  if (ordType !== "market" && px === undefined) return `a ${ordType} order needs px`;
  if (cross !== undefined && ordType !== "post_only") return `cross is for post_only orders, not for ${ordType}`;
  return undefined;
};

/** Conditions of a conversion. */
export interface Conversion {
  /** `bounded`: a market order that is sized by an amount executes less than its quantity rather than more. */
  readonly sizing?: "aimed" | "bounded";
  /** Only this limit price is of interest (empty: none): at any other one the size is not computed. */
  readonly onlyAt?: string | undefined;
}

const anotherPrice: Unspecified = { ok: false, reason: "it has another price" };

/**
 * Converts a wanted order into the service's terms. `marketPx` is the best price of the other side; it is needed only
 * to convert sizes of market orders and to rest at the touch.
 */
export const specify = (
  wanted: WantedOrder,
  instrument: InstrumentRecord,
  profile: Profile,
  marketPx: string | undefined,
  { sizing = "aimed", onlyAt }: Conversion = {},
): Specified => {
  const { instId, side, ordType = "limit", reduceOnly = false } = wanted;
  const amounts = amountsIn(wanted);
  if (typeof amounts === "string") return no(amounts);
  const priced = ordType === "market" ? undefined : priceOf(wanted, amounts.px ?? zero, instrument.tickSize, marketPx);
  if (typeof priced === "string") return no(priced);
  if (isElsewhere(priced, onlyAt)) return anotherPrice;
  const known = priced ?? (marketPx === undefined ? undefined : read(marketPx));
  const sized = sizeOf(
    amounts,
    instrument,
    profile.order.szUnit[instTypeOf(instId)],
    known,
    ordType === "market" ? sizing : "priced",
  );
  if (!sized.ok) return sized;
  const px = priced === undefined ? "" : spell(priced);
  return { ok: true, spec: { instId, side, ordType, px, sz: sized.sz, reduceOnly }, baseQty: sized.baseQty };
};

const isElsewhere = (px: Decimal | undefined, onlyAt: string | undefined): boolean =>
  px !== undefined && onlyAt !== undefined && (onlyAt === "" || !equal(px, read(onlyAt)));

/** Limit price on the tick, or the reason why there is none. */
const priceOf = (
  { side, px, cross, instId }: WantedOrder,
  wantedPx: Decimal,
  tickSize: string,
  marketPx: string | undefined,
): Decimal | string => {
  const tick = read(tickSize);
  const asked = onTick(side, wantedPx, tick);
  if (cross === "touch" && marketPx !== undefined && takes(side, asked, read(marketPx))) {
    const moved = behind(side, read(marketPx), tick);
    return isPositive(moved) ? moved : `no price of ${instId} below ${marketPx} is left to rest at`;
  }
  return isPositive(asked) ? asked : `px ${px} is below one tick of ${tickSize}`;
};

/** A refusal that the first quote of the product may end. `purpose` is the use of the quote. */
export const unquoted = (instId: string, purpose: string) =>
  ({ reason: `no quote of ${instId} is known yet to ${purpose}`, isUnquoted: true }) as const;

type Sized = { readonly ok: true; readonly sz: string; readonly baseQty: Decimal | undefined } | Unspecified;

/**
 * Number of lots up to which a price change of 0.05 % is worth at most half a lot, so that the quantity stays exact.
 */
const exactLotsMax = read("1000");
const aimBelow = read("0.9995");
const half = read("0.5");

/**
 * Amount that a market order of this quantity may spend: half a lot more than it costs at the expected price, so that a
 * tick to either side changes nothing. For a large order half a lot is too little: it stays below the wanted quantity.
 */
const aimedAmount = (qty: Decimal, lotSize: Decimal, px: Decimal): Decimal => {
  const isLarge = compare(qty, mul(lotSize, exactLotsMax)) > 0;
  const aimed = isLarge ? toStep(mul(qty, aimBelow), lotSize, "down") : qty;
  return mul(add(aimed, mul(lotSize, half)), px);
};

/** Part of the quote that the price may fall to before a bounded order executes more than its quantity. */
const boundedPart = read("0.98");

/** Amount that a market order of at most this quantity may spend. */
const boundedAmount = (qty: Decimal, lotSize: Decimal, px: Decimal): Decimal => {
  const halfLot = mul(lotSize, half);
  const aimed = toStep(sub(mul(add(qty, lotSize), boundedPart), halfLot), lotSize, "down");
  return mul(add(aimed, halfLot), px);
};

/** Amount that an order may spend, by the way it is sized. */
const amountsOf = {
  priced: (qty: Decimal, _: Decimal, px: Decimal): Decimal => mul(qty, px),
  aimed: aimedAmount,
  bounded: boundedAmount,
};

/** Contracts, rounded to the lot if a lot is a finite fraction of a contract, otherwise to whole contracts. */
const contractsOf = (qty: Decimal, lotSize: Decimal, contract: Decimal): Decimal => {
  const step = div(lotSize, contract, quotePlaces);
  return div(qty, contract, equal(mul(step, contract), lotSize) ? quotePlaces : 0);
};

type Unit = Profile["order"]["szUnit"]["SPOT"];

/** Size of a market order without any quote. An order that needs no price for it can still be sent. */
const unpricedSize = ({ qty, notional, sz }: Amounts, unit: Unit, { instId, lotSize }: InstrumentRecord): Sized => {
  const asIs = sz ?? (unit === "quote_notional" ? notional : undefined);
  if (asIs !== undefined) return { ok: true, sz: spell(asIs), baseQty: undefined };
  if (qty === undefined || unit !== "base")
    return { ok: false, ...unquoted(instId, "turn the size into the service's unit") };
  return { ok: true, sz: spell(toStep(qty, read(lotSize), "down")), baseQty: qty };
};

const sizeNames = ["qty", "notional", "sz"] as const;

/** Reason why the size is missing or given twice; undefined where it is given once. */
const choiceProblem = (amounts: Amounts): string | undefined => {
  const { qty, notional, sz } = amounts;
  const isOne = qty === undefined ? (notional === undefined) !== (sz === undefined) : (notional ?? sz) === undefined;
  if (isOne) return undefined;
  const given = sizeNames.filter((name) => amounts[name] !== undefined);
  return `give exactly one of qty, notional and sz, not ${given.join(" and ") || "none"}`;
};

/** Base quantity of the wanted size at this price. */
const wantedBase = (
  { qty, notional, sz = zero }: Amounts,
  unit: Unit,
  { contractValue = "1" }: InstrumentRecord,
  px: Decimal,
): Decimal => {
  if (qty !== undefined) return qty;
  if (notional !== undefined) return div(notional, px, quotePlaces);
  if (unit === "quote_notional") return div(sz, px, quotePlaces);
  return unit === "contracts" ? mul(sz, read(contractValue)) : sz;
};

const sizeOf = (
  amounts: Amounts,
  instrument: InstrumentRecord,
  unit: Unit,
  px: Decimal | undefined,
  sizing: keyof typeof amountsOf,
): Sized => {
  const { notional, sz } = amounts;
  const choice = choiceProblem(amounts);
  if (choice !== undefined) return no(choice);
  if (px === undefined) return unpricedSize(amounts, unit, instrument);
  const lotSize = read(instrument.lotSize);
  const lots = toStep(wantedBase(amounts, unit, instrument, px), lotSize, "down");
  const problem = tooSmall(lots, instrument);
  if (problem !== undefined) return no(problem);
  if (sz !== undefined) return { ok: true, sz: spell(sz), baseQty: lots };
  if (unit === "base") return { ok: true, sz: spell(lots), baseQty: lots };
  if (unit === "contracts") return contractsSize(lots, lotSize, instrument);
  // An amount of quote currency is sent as wanted. A quantity is converted into the exact amount that it costs.
  return { ok: true, sz: spell(notional ?? amountsOf[sizing](lots, lotSize, px)), baseQty: lots };
};

/** Size in contracts of a whole number of lots. */
const contractsSize = (lots: Decimal, lotSize: Decimal, { contractValue = "1" }: InstrumentRecord): Sized => {
  const contract = read(contractValue);
  const count = contractsOf(lots, lotSize, contract);
  if (!isPositive(count)) return no(`the size ${spell(lots)} is below one contract of ${contractValue}`);
  return { ok: true, sz: spell(count), baseQty: mul(count, contract) };
};

const tooSmall = (qty: Decimal, { instId, lotSize, minSize }: InstrumentRecord): string | undefined => {
  if (!isPositive(qty)) return `the size is below one lot of ${lotSize} ${instId.split("-")[0]}`;
  if (minSize !== undefined && compare(qty, read(minSize)) < 0)
    return `the size ${spell(qty)} is below the minimum of ${minSize}`;
  return undefined;
};
