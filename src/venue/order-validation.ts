/**
 * Order validation: reads a request to trade into an order in ticks and lots, or returns the reason for its rejection.
 *
 * Invariants: nothing is changed here but the new order; checks run in a fixed order (product, words, client id, price,
 * size, position), and the first that fails gives the code.
 * Not here: funds and crossing (order-entry.ts).
 */
import type { OrdType, SzUnit } from "../contract/profile.ts";
import type { PlaceBody } from "../contract/schemas.ts";
import type { Account, Order, Sign } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { baseOf, type Product, worthOf } from "./instrument.ts";
import { offersFor } from "./matching-engine.ts";
import { type Amount, one, readAmount, spell, spellAgain } from "./money.ts";
import { isOpen, leftOf, timeText } from "./order.ts";
import type { Offer } from "./order-book-side.ts";
import type { Refusal } from "./responses.ts";
import { openingLotsOf, reducibleLots } from "./settlement.ts";

const countMax = BigInt(Number.MAX_SAFE_INTEGER);
const knownTypes: readonly string[] = ["limit", "market", "post_only", "ioc", "fok"] satisfies readonly OrdType[];

const untradable = ({ profile }: Exchange, instId: string): Refusal => ({
  code: profile.answers.instrumentCode,
  msg: `${instId} is not tradable.`,
});

export const tradable = (exchange: Exchange, instId: string): Market | Refusal => {
  const market = exchange.markets.get(instId);
  return market?.listed ? market : untradable(exchange, instId);
};

/** Why a client id cannot be used, if it cannot. */
export const clientIdProblem = (
  { profile, clOrdIdPattern }: Exchange,
  account: Account,
  clOrdId: string,
): Refusal | undefined => {
  const { duplicateClOrdId } = profile.order;
  if (clOrdId === "") return undefined;
  if (!clOrdIdPattern.test(clOrdId)) {
    return { code: profile.answers.parameterCode, msg: `clOrdId does not match ${profile.order.clOrdIdPattern}.` };
  }
  const known = account.byClOrdId.get(clOrdId);
  if (
    known === undefined ||
    duplicateClOrdId === "accepted" ||
    (duplicateClOrdId === "refused_while_open" && !isOpen(known))
  )
    return undefined;
  return { code: profile.answers.duplicateCode, msg: "clOrdId is already in use." };
};

const badWord = ({ profile }: Exchange, msg: string): Refusal => ({ code: profile.answers.parameterCode, msg });

const wordProblem = (
  exchange: Exchange,
  { side, ordType, px, reduceOnly }: PlaceBody,
  product: Product,
): Refusal | undefined => {
  const { sides, ordTypes } = exchange.profile.order;
  if (!sides.includes(side) || (side !== "buy" && side !== "sell"))
    return badWord(exchange, `side is one of ${sides.join(", ")}.`);
  if (!ordTypes.includes(ordType) || !knownTypes.includes(ordType))
    return badWord(exchange, `ordType is one of ${ordTypes.join(", ")}.`);
  if (ordType !== "market" && px === undefined) return badWord(exchange, `px is required for ${ordType} orders.`);
  if (reduceOnly === true && product.instType === "SPOT") return badWord(exchange, "reduceOnly is for contracts.");
  return undefined;
};

export const readPrice = ({ profile }: Exchange, product: Product, text: string | undefined): number | Refusal => {
  const px = readAmount(text);
  const ticks = px === undefined || px <= 0n || px % product.tickRule !== 0n ? 0n : px / product.tick;
  if (ticks > 0n && ticks <= countMax) return Number(ticks);
  return { code: profile.answers.priceCode, msg: `px is a positive multiple of ${spell(product.tickRule)}.` };
};

/**
 * Lots of base currency behind a size; sizes in base or contracts must come out as whole lots, amounts of money are cut
 * to them.
 */
const readLots = (product: Product, unit: SzUnit, sz: Amount, px: number): bigint | undefined => {
  const { lot, lotRule } = product;
  if (unit === "quote_notional") {
    const lots = sz / worthOf(product, px, 1);
    return lotRule === lot ? lots : lots - (lots % (lotRule / lot));
  }
  const scaled = unit === "base" ? sz * one : sz * product.contractValue;
  return scaled % (lotRule * one) === 0n ? scaled / (lot * one) : undefined;
};

const badSize = ({ profile }: Exchange, msg: string): Refusal => ({ code: profile.answers.sizeCode, msg });

/** Gives the order its lots, or its budget where money is to be spent at any price of the book. */
const sizeProblem = (exchange: Exchange, order: Order, offers: readonly Offer[]): Refusal | undefined => {
  const { product, unit, sz, px } = order;
  if (sz <= 0n) return badSize(exchange, "sz is a positive decimal with at most 18 fraction digits.");
  const budgeted = unit === "quote_notional" && px === 0;
  const probe = budgeted ? (offers[0]?.px ?? 0) : px;
  if (budgeted) {
    order.lots = Number.MAX_SAFE_INTEGER;
    order.budget = sz;
    // Without a price to judge by, an amount of money cannot be too small yet.
    if (probe === 0) return undefined;
  }
  const lots = readLots(product, unit, sz, probe);
  if (lots === undefined)
    return badSize(exchange, `sz is not a multiple of the lot (${spell(product.lotRule)} ${product.base}).`);
  if (lots === 0n || lots > countMax || Number(lots) < product.minLots)
    return badSize(exchange, `sz is too small or too large; the minimum is ${spell(product.minBase)} ${product.base}.`);
  if (!budgeted) order.lots = Number(lots);
  return undefined;
};

/** The lots of a priced size, or why it cannot be. */
export const lotsOf = (
  exchange: Exchange,
  { product, unit }: Pick<Order, "product" | "unit">,
  sz: Amount,
  px: number,
): number | Refusal => {
  const lots = sz <= 0n ? undefined : readLots(product, unit, sz, px);
  const code = exchange.profile.answers.sizeCode;
  if (lots === undefined)
    return { code, msg: `sz is not a positive multiple of the lot (${spell(product.lotRule)} ${product.base}).` };
  if (lots > 0n && lots <= countMax && lots * product.lot >= product.minBase) return Number(lots);
  return { code, msg: `sz is too small or too large; the minimum is ${spell(product.minBase)} ${product.base}.` };
};

/** Lots that a new reducing order may take, in addition to those promised to earlier ones. */
const unpromisedLots = (account: Account, product: Product, sign: Sign): number => {
  const { open } = account;
  let lots = reducibleLots(account, product, sign);
  for (let index = 0; index < open.length && lots > 0; index++) {
    const order = open[index] as Order;
    if (order.reduceOnly && order.product.instId === product.instId && order.sign === sign) lots -= leftOf(order);
  }
  return lots;
};

/** Limits a reducing order to the position; false where there is none. */
const fitsPosition = (order: Order): boolean => {
  order.lots = Math.min(order.lots, unpromisedLots(order.account, order.product, order.sign));
  return order.lots > 0;
};

type Draft = Pick<
  Order,
  "account" | "product" | "sign" | "ordType" | "clOrdId" | "reduceOnly" | "unit" | "sz" | "szText" | "px"
>;

/** Written out, because putting objects together costs more than matching the order. */
const orderOf = (
  { account, product, sign, ordType, clOrdId, reduceOnly, unit, sz, szText, px }: Draft,
  lots: number,
  at: number,
  createdText: string,
): Order => ({
  seq: -1,
  ordId: "",
  clOrdId,
  account,
  product,
  sign,
  ordType,
  reduceOnly,
  unit,
  sz,
  szText,
  px,
  lots,
  budget: undefined,
  openingLots: 0,
  createdAt: at,
  createdText,
  updatedAt: at,
  state: "live",
  done: 0,
  paidPx: 0,
  pxText: undefined,
  valueText: undefined,
  feeText: undefined,
  value: 0n,
  cost: 0n,
  hold: 0n,
  purse: undefined,
  ahead: 0,
  behind: 0,
  touched: false,
});

/** An order that passed every check of its own, and what it would meet in the book. */
export interface Entry {
  readonly market: Market;
  readonly order: Order;
  readonly offers: readonly Offer[];
}

export const readOrder = (
  exchange: Exchange,
  account: Account,
  body: PlaceBody,
  at: number,
  szUnit?: SzUnit,
): Entry | Refusal => {
  const market = exchange.markets.get(body.instId);
  if (market === undefined || !market.listed) return untradable(exchange, body.instId);
  const { product, book } = market;
  const clOrdId = body.clOrdId ?? "";
  const problem = wordProblem(exchange, body, product) ?? clientIdProblem(exchange, account, clOrdId);
  if (problem !== undefined) return problem;
  const ordType = body.ordType as OrdType;
  const px = ordType === "market" ? 0 : readPrice(exchange, product, body.px);
  if (typeof px !== "number") return px;
  const unit = szUnit ?? exchange.profile.order.szUnit[product.instType];
  const sz = readAmount(body.sz) ?? 0n;
  const szText = spellAgain(sz, body.sz);
  const sign = body.side === "buy" ? 1 : -1;
  const draft = {
    account,
    product,
    sign,
    ordType,
    clOrdId,
    reduceOnly: body.reduceOnly === true,
    unit,
    sz,
    szText,
    px,
  } as const;
  const order = orderOf(draft, 0, at, timeText(at, exchange.profile));
  const offers = offersFor(book, order);
  const misfit = sizeProblem(exchange, order, offers);
  if (misfit !== undefined) return misfit;
  if (!order.reduceOnly) order.openingLots = openingLotsOf(account, product, sign, order.lots);
  else if (!fitsPosition(order))
    return { code: exchange.profile.answers.positionCode, msg: "There is no position to reduce." };
  return { market, order, offers };
};

/** Market order over the whole position, for every unit of `sz`. */
export const closingOrder = (
  exchange: Exchange,
  account: Account,
  market: Market,
  clOrdId: string,
  at: number,
): Entry | Refusal => {
  const { profile } = exchange;
  const { product, book } = market;
  const position = account.positions.get(product.instId);
  if (position === undefined)
    return { code: profile.answers.positionCode, msg: `There is no position in ${product.instId}.` };
  const sign: Sign = position.base > 0n ? -1 : 1;
  const ordType = "market";
  const lots = reducibleLots(account, product, sign);
  const unit = profile.order.szUnit[product.instType];
  const base = baseOf(product, lots);
  const offers = offersFor(book, { account, sign, px: 0, ordType });
  const worth = worthOf(product, offers[0]?.px ?? book.lastPx, lots);
  const sz = unit === "quote_notional" ? worth : unit === "base" ? base : (base * one) / product.contractValue;
  return {
    market,
    order: orderOf(
      { account, product, sign, ordType, clOrdId, reduceOnly: true, unit, sz, szText: spell(sz), px: 0 },
      lots,
      at,
      timeText(at, profile),
    ),
    offers,
  };
};
