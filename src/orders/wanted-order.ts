/**
 * What a strategy wants, and what that means in the service's words.
 *
 * Invariants: prices are brought onto the tick towards the passive side and sizes onto the lot downwards, never the
 * other way; one of `qty`, `notional`, `sz` says the size and the profile says what the service's `sz` counts; nothing
 * is guessed: what cannot be converted is refused with the reason.
 * Not here: whether it may be sent (orders/risk/pre-trade-checks.ts), whether it differs from what rests (plan.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import type { OrdType, Profile, Side } from "../contract/profile.ts";
import type { InstrumentRecord } from "../contract/schemas.ts";
import { add, compare, digitsOf, div, equal, isDecimal, isPositive, mul, plain, sub, toStep } from "../decimal.ts";
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
   * currency, a market order of up to 1,000 lots comes out exact as long as its price moves by less than half a lot's
   * worth on the way; a larger one aims 0.05 % below and a second order brings the rest, so that a better price does
   * not buy too much. What still differs when the order is complete, also because the book held too little, is reported
   * as the event `order.inexact`.
   */
  readonly qty?: string;
  /** Size in quote currency. */
  readonly notional?: string;
  /** Size in whatever unit the service counts, sent as it is. */
  readonly sz?: string;
  /**
   * An exit: it reduces what this strategy holds by its own fills, and never opens or turns a position of its own. No
   * more is sent than the strategy holds, whatever the size says. Where it holds nothing the order waits unsent until
   * it does; one that is placed by hand is refused. Only where the strategy has never traded the instrument, and no
   * other strategy holds it, the service decides: a position may be older than the journal.
   *
   * Where other strategies hold the opposite and the account's net position does not cover the order, it is sent
   * without the service's reduce-only flag. Then what other orders of the strategy may still reduce on this side is
   * subtracted first. Orders of the same side that are wanted beside the exit and are no exits do not count: what they
   * execute may open a position. A market order whose size the service counts in quote currency then stays below what
   * is held while the price moves by up to 2 % on the way, and the rest follows.
   *
   * An exit waits until cancels of other exits of its side have taken effect, and is placed again, later each time,
   * while it was rejected, cut or canceled by the service and the strategy still holds what it should reduce;
   * `position.unprotected` tells that. One that rests and is canceled by another client is told and not placed again;
   * one that the engine's own watchdog canceled is. One that rests and has become larger than what is held is replaced.
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
   * What becomes of a `post_only` order that would take by the last known quote, or the last price where there are no
   * quotes, when its slot opens. `touch`: it rests at the nearest price that does not take, one tick behind the
   * opposite best, and stays there until the wanted order changes. `skip`: it is left out for as long as it would take.
   * `reject`: it is sent as it is, and the service rejects it; while quota is scarce a slot whose orders are rejected
   * so one after the other is slowed down (event `order.slowed`). Default `reject`.
   */
  readonly cross?: Cross;
  /**
   * Stop-loss, take-profit and trailing stop of what this order buys or sells, from its first fill on. They outlive the
   * wanted order and, with a journal, the process; they end when nothing is left of it, and when the same slot is
   * wanted with an empty `protect`. Wanted again with another `protect` the same slot moves them. When one is
   * triggered, what was not executed of this order is withdrawn, and exits of the strategy's own on that side stand
   * back.
   */
  readonly protect?: Protect;
  /** For `orders.cancel({ tag })`. */
  readonly tag?: string;
}

/** What becomes of a post-only order that would take: see `WantedOrder.cross`. */
export type Cross = "touch" | "skip" | "reject";

/** What a set holds that a strategy wants: orders, and protections of whole positions. */
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
  /** Whether it may only reduce a position. */
  readonly reduceOnly: boolean;
}

/** `isUnquoted`: the first quote of the product may end it. */
interface Unspecified {
  readonly ok: false;
  readonly reason: string;
  readonly isUnquoted?: true;
}

export type Specified = { readonly ok: true; readonly spec: OrderSpec; readonly baseQty: string } | Unspecified;

/** Whether what is not executed at once stays in the book. */
export const canRest = (ordType: OrdType): boolean => ordType === "limit" || ordType === "post_only";

/** A text that two wanted orders share exactly where they are the same, to gather them by. */
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

/** Whether two wanted orders ask for the same; what else they say, such as a tag, makes no other order of them. */
export const sameWanted = (a: WantedOrder | undefined, b: WantedOrder | undefined): boolean =>
  a === b ||
  (a !== undefined &&
    b !== undefined &&
    a.px === b.px &&
    a.qty === b.qty &&
    a.notional === b.notional &&
    a.sz === b.sz &&
    a.side === b.side &&
    a.instId === b.instId &&
    (a.cross ?? "reject") === (b.cross ?? "reject") &&
    (a.ordType ?? "limit") === (b.ordType ?? "limit") &&
    (a.reduceOnly === true) === (b.reduceOnly === true) &&
    (a.round === b.round || String(a.round ?? "") === String(b.round ?? "")));

/** Whether a resting order at `px` would take, the best price of the other side being `best`. */
export const takes = (side: Side, px: string, best: string): boolean =>
  side === "buy" ? compare(px, best) >= 0 : compare(px, best) <= 0;

/** The price on the tick next to `best` that does not take. */
const behind = (side: Side, best: string, tickSize: string): string => {
  const step = toStep(best, tickSize, side === "buy" ? "down" : "up");
  if (!equal(step, best)) return step;
  return side === "buy" ? sub(step, tickSize) : add(step, tickSize);
};

const no = (reason: string): Specified => ({ ok: false, reason });

const quotePlaces = 12;
const amounts = ["px", "qty", "notional", "sz"] as const;

/**
 * `marketPx` is the best price of the other side; it is needed only to convert sizes of market orders and to rest at
 * the touch.
 */
export const specify = (
  wanted: WantedOrder,
  instrument: InstrumentRecord,
  profile: Profile,
  marketPx: string | undefined,
  /** A market order that is sized by an amount stays below its quantity rather than above it. */
  isBounded = false,
): Specified => {
  const { instId, side, ordType = "limit", reduceOnly = false } = wanted;
  for (let index = 0; index < amounts.length; index++) {
    const name = amounts[index] as (typeof amounts)[number];
    const value: unknown = wanted[name];
    // One reading tells both of nearly every amount.
    if (value === undefined || digitsOf(value as string) > 0) continue;
    if (!isDecimal(value)) return no(`${name} ${JSON.stringify(value)} is not decimal text`);
    if (!isPositive(value)) return no(`${name} ${value} is not positive`);
  }
  if (wanted.keepWithin !== undefined && !isDecimal(wanted.keepWithin))
    return no(`keepWithin ${JSON.stringify(wanted.keepWithin)} is not decimal text`);
  if (ordType !== "market" && wanted.px === undefined) return no(`a ${ordType} order needs px`);
  if (wanted.cross !== undefined && ordType !== "post_only")
    return no(`cross is for post_only orders, not for ${ordType}`);
  const asked =
    ordType === "market" || wanted.px === undefined
      ? ""
      : toStep(wanted.px, instrument.tickSize, side === "buy" ? "down" : "up");
  const isMoved = wanted.cross === "touch" && marketPx !== undefined && takes(side, asked, marketPx);
  const px = isMoved ? behind(side, marketPx, instrument.tickSize) : asked;
  if (isMoved && !isPositive(px)) return no(`no price of ${instId} below ${marketPx} is left to rest at`);
  if (px !== "" && !isPositive(px)) return no(`px ${wanted.px} is below one tick of ${instrument.tickSize}`);
  const sizing = ordType !== "market" ? "priced" : isBounded ? "bounded" : "aimed";
  const sized = sizeOf(wanted, instrument, profile, px === "" ? marketPx : px, sizing);
  if (!sized.ok) return sized;
  return { ok: true, spec: { instId, side, ordType, px, sz: sized.sz, reduceOnly }, baseQty: sized.baseQty };
};

/** A refusal that the first quote of the product may end; `purpose` says what the quote is needed for. */
export const unquoted = (instId: string, purpose: string) =>
  ({ reason: `no quote of ${instId} is known yet to ${purpose}`, isUnquoted: true }) as const;

type Sized = { readonly ok: true; readonly sz: string; readonly baseQty: string } | Unspecified;

/** Orders of so many lots may differ from their price by half a lot, 0.05 %, and still come out exact. */
const exactLotsMax = "1000";
const aimBelow = "0.9995";

/** Of the quantity asked about last: a strategy's orders are mostly of one size. */
const paidFor = { lotSize: "", qty: "", sum: "" };

/**
 * What a market order of this quantity is given to spend: half a lot more than it costs at the price it is likely to
 * meet, so that a tick to either side changes nothing. Of a large order less than half a lot is too little room: it
 * stays below what is wanted.
 */
const amountFor = (qty: string, lotSize: string, px: string): string => {
  if (paidFor.lotSize !== lotSize || paidFor.qty !== qty) {
    const aimed = compare(qty, mul(lotSize, exactLotsMax)) > 0 ? toStep(mul(qty, aimBelow), lotSize, "down") : qty;
    Object.assign(paidFor, { lotSize, qty, sum: add(aimed, mul(lotSize, "0.5")) });
  }
  return mul(paidFor.sum, px);
};

/** By so much the price may fall short of the quote before a bounded order executes more than its quantity. */
const boundedPart = "0.98";

/** What a market order of at most this quantity is given to spend. */
const boundedAmount = (qty: string, lotSize: string, px: string): string => {
  const half = mul(lotSize, "0.5");
  const aimed = toStep(sub(mul(add(qty, lotSize), boundedPart), half), lotSize, "down");
  return mul(add(aimed, half), px);
};

/** What an order is given to spend, by how surely it meets its price. */
const amountsOf = {
  priced: (qty: string, _: string, px: string): string => mul(qty, px),
  aimed: amountFor,
  bounded: boundedAmount,
};
type Sizing = keyof typeof amountsOf;

/** Contracts in steps of the lot, where a lot is a finite part of a contract; whole ones otherwise. */
const contractsOf = (qty: string, lotSize: string, contract: string): string => {
  const step = div(lotSize, contract, quotePlaces);
  return equal(mul(step, contract), lotSize) ? div(qty, contract, quotePlaces) : div(qty, contract, 0);
};

/** Whole lots of a size, and the reason where they are too few. */
type Lots = { readonly ok: true; readonly qty: string } | { readonly ok: false; readonly reason: string };

const lotsOf = (size: string, { lotSize, minSize }: InstrumentRecord, instId: string): Lots => {
  const qty = toStep(size, lotSize, "down");
  if (!isPositive(qty)) return { ok: false, reason: `the size is below one lot of ${lotSize} ${instId.split("-")[0]}` };
  if (minSize !== undefined && compare(qty, minSize) < 0)
    return { ok: false, reason: `the size ${qty} is below the minimum of ${minSize}` };
  return { ok: true, qty };
};

const sizeOf = (
  wanted: WantedOrder,
  instrument: InstrumentRecord,
  profile: Profile,
  px: string | undefined,
  sizing: Sizing,
): Sized => {
  const given =
    (wanted.qty === undefined ? 0 : 1) + (wanted.notional === undefined ? 0 : 1) + (wanted.sz === undefined ? 0 : 1);
  if (given !== 1) return { ok: false, reason: `give exactly one of qty, notional and sz, not ${sizesOf(wanted)}` };
  const unit = profile.order.szUnit[instTypeOf(wanted.instId)];
  const { lotSize } = instrument;
  const contract = instrument.contractValue ?? "1";
  if (px === undefined) {
    // Only a market order without any quote comes here: what needs no price can still be said.
    if (wanted.sz !== undefined) return { ok: true, sz: plain(wanted.sz), baseQty: "" };
    if (wanted.notional !== undefined && unit === "quote_notional")
      return { ok: true, sz: plain(wanted.notional), baseQty: "" };
    if (wanted.qty !== undefined && unit === "base")
      return { ok: true, sz: toStep(wanted.qty, lotSize, "down"), baseQty: wanted.qty };
    return { ok: false, ...unquoted(wanted.instId, "turn the size into the service's unit") };
  }
  const lots = lotsOf(wanted.qty ?? baseOf(wanted, unit, px, contract), instrument, wanted.instId);
  if (!lots.ok) return lots;
  const { qty } = lots;
  if (wanted.sz !== undefined) return { ok: true, sz: plain(wanted.sz), baseQty: qty };
  switch (unit) {
    case "quote_notional":
      // An amount of quote is passed on as wanted; a quantity becomes the exact amount it costs.
      if (wanted.notional !== undefined) return { ok: true, sz: plain(wanted.notional), baseQty: qty };
      return { ok: true, sz: amountsOf[sizing](qty, lotSize, px), baseQty: qty };
    case "base":
      return { ok: true, sz: qty, baseQty: qty };
    case "contracts": {
      const count = contractsOf(qty, lotSize, contract);
      if (!isPositive(count)) return { ok: false, reason: `the size ${qty} is below one contract of ${contract}` };
      return { ok: true, sz: count, baseQty: mul(count, contract) };
    }
  }
};

const sizesOf = (wanted: WantedOrder): string =>
  (["qty", "notional", "sz"] as const).filter((name) => wanted[name] !== undefined).join(" and ") || "none";

const baseOf = (
  wanted: WantedOrder,
  unit: "quote_notional" | "base" | "contracts",
  px: string,
  contract: string,
): string => {
  if (wanted.notional !== undefined) return div(wanted.notional, px, quotePlaces);
  const sz = wanted.sz as string;
  return unit === "base" ? sz : unit === "contracts" ? mul(sz, contract) : div(sz, px, quotePlaces);
};
