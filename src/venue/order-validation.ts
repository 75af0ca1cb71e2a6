/**
 * Reads a wish to trade into ticks and lots, or says why it is refused.
 *
 * Invariants: nothing is changed here; checks run in a fixed order (product, words, client id, price, size, position), and the
 * first that fails gives the code.
 * Not here: funds and crossing, which depend on the book (order-entry.ts).
 */
import type { OrdType } from "../contract/profile.ts";
import type { PlaceBody } from "../contract/schemas.ts";
import type { Account } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { baseOf, type Product } from "./instrument.ts";
import { offersFor } from "./matching-engine.ts";
import { type Amount, one, readAmount, spell } from "./money.ts";
import { isOpen, leftOf, type Order, type Sign, signOf } from "./order.ts";
import { isRefusal, type Refusal } from "./responses.ts";
import { openingLotsOf, reducibleLots } from "./settlement.ts";

/** An order that passed every check that needs no book. */
export type Ticket = Pick<
  Order,
  "account" | "product" | "sign" | "ordType" | "clOrdId" | "reduceOnly" | "unit" | "sz" | "px" | "lots" | "budget" | "openingLots"
>;

type Draft = Omit<Ticket, "lots" | "budget" | "openingLots">;

interface Size {
  readonly lots: number;
  readonly budget: Amount | undefined;
}

const countMax = BigInt(Number.MAX_SAFE_INTEGER);
const knownTypes: readonly string[] = ["limit", "market", "post_only", "ioc", "fok"] satisfies readonly OrdType[];

export const tradable = ({ markets, profile }: Exchange, instId: string): Market | Refusal => {
  const market = markets.get(instId);
  return market?.listed ? market : { code: profile.answers.instrumentCode, msg: `${instId} is not tradable.` };
};

const patterns = new Map<string, RegExp>();

/** Made once: it is asked for with every order. */
const patternOf = (source: string): RegExp => {
  const pattern = patterns.get(source) ?? new RegExp(source);
  patterns.set(source, pattern);
  return pattern;
};

/** Why a client id cannot be used, if it cannot. */
export const clientIdProblem = ({ profile }: Exchange, account: Account, clOrdId: string): Refusal | undefined => {
  const { clOrdIdPattern, duplicateClOrdId } = profile.order;
  if (clOrdId === "") return undefined;
  if (!patternOf(clOrdIdPattern).test(clOrdId)) {
    return { code: profile.answers.parameterCode, msg: `clOrdId does not match ${clOrdIdPattern}.` };
  }
  const known = account.byClOrdId.get(clOrdId);
  if (known === undefined || duplicateClOrdId === "accepted" || (duplicateClOrdId === "refused_while_open" && !isOpen(known)))
    return undefined;
  return { code: profile.answers.duplicateCode, msg: "clOrdId is already in use." };
};

const wordProblem = ({ profile }: Exchange, body: PlaceBody, product: Product): Refusal | undefined => {
  const wrong = (msg: string): Refusal => ({ code: profile.answers.parameterCode, msg });
  const { sides, ordTypes } = profile.order;
  if (!sides.includes(body.side) || (body.side !== "buy" && body.side !== "sell")) return wrong(`side is one of ${sides.join(", ")}.`);
  if (!ordTypes.includes(body.ordType) || !knownTypes.includes(body.ordType)) return wrong(`ordType is one of ${ordTypes.join(", ")}.`);
  if (body.ordType !== "market" && body.px === undefined) return wrong(`px is required for ${body.ordType} orders.`);
  if (body.reduceOnly === true && product.instType === "SPOT") return wrong("reduceOnly is for contracts.");
  return undefined;
};

const readPrice = ({ profile }: Exchange, product: Product, text: string | undefined): number | Refusal => {
  const px = readAmount(text);
  const ticks = px === undefined || px <= 0n || px % product.tickRule !== 0n ? 0n : px / product.tick;
  if (ticks > 0n && ticks <= countMax) return Number(ticks);
  return { code: profile.answers.priceCode, msg: `px is a positive multiple of ${spell(product.tickRule)}.` };
};

/** Lots of base currency behind a size; sizes in base or contracts must come out as whole lots, amounts of money are cut to them. */
const readLots = (product: Product, unit: Ticket["unit"], sz: Amount, px: number): bigint | undefined => {
  const step = product.lotRule / product.lot;
  if (unit === "quote_notional") {
    const lots = sz / (BigInt(px) * product.cell);
    return lots - (lots % step);
  }
  const scaled = unit === "base" ? sz * one : sz * product.contractValue;
  return scaled % (product.lotRule * one) === 0n ? scaled / (product.lot * one) : undefined;
};

const readSize = ({ profile }: Exchange, { product, book }: Market, ticket: Draft): Size | Refusal => {
  const { unit, sz, px } = ticket;
  const wrong = (msg: string): Refusal => ({ code: profile.answers.sizeCode, msg });
  if (sz <= 0n) return wrong("sz is a positive decimal with at most 18 fraction digits.");
  const budgeted = unit === "quote_notional" && px === 0;
  const probe = budgeted ? (offersFor(book, ticket)[0]?.px ?? 0) : px;
  // Without a price to judge by, an amount of money cannot be too small yet.
  if (budgeted && probe === 0) return { lots: Number.MAX_SAFE_INTEGER, budget: sz };
  const lots = readLots(product, unit, sz, probe);
  if (lots === undefined) return wrong(`sz is not a multiple of the lot (${spell(product.lotRule)} ${product.base}).`);
  if (lots === 0n || lots > countMax || lots * product.lot < product.minBase) {
    return wrong(`sz is too small or too large; the minimum is ${spell(product.minBase)} ${product.base}.`);
  }
  return budgeted ? { lots: Number.MAX_SAFE_INTEGER, budget: sz } : { lots: Number(lots), budget: undefined };
};

/** Lots a new reducing order may take, beside those already promised to earlier ones. */
const unpromisedLots = (account: Account, product: Product, sign: Sign): number => {
  let lots = reducibleLots(account, product, sign);
  for (const order of account.open) {
    if (order.reduceOnly && order.product.instId === product.instId && order.sign === sign) lots -= leftOf(order);
  }
  return lots;
};

/** Written out, because putting objects together costs more than reading the order. */
const ticketOf = (draft: Draft, lots: number, budget: Amount | undefined, openingLots: number): Ticket => {
  const { account, product, sign, ordType, clOrdId, reduceOnly, unit, sz, px } = draft;
  return { account, product, sign, ordType, clOrdId, reduceOnly, unit, sz, px, lots, budget, openingLots };
};

export const readTicket = (exchange: Exchange, account: Account, body: PlaceBody): Ticket | Refusal => {
  const market = tradable(exchange, body.instId);
  if (isRefusal(market)) return market;
  const { product } = market;
  const clOrdId = body.clOrdId ?? "";
  const problem = wordProblem(exchange, body, product) ?? clientIdProblem(exchange, account, clOrdId);
  if (problem !== undefined) return problem;
  const sign = signOf(body.side);
  const ordType = body.ordType as OrdType;
  const px = ordType === "market" ? 0 : readPrice(exchange, product, body.px);
  if (typeof px !== "number") return px;
  const unit = exchange.profile.order.szUnit[product.instType];
  const reduceOnly = body.reduceOnly === true;
  const draft = { account, product, sign, ordType, clOrdId, reduceOnly, unit, sz: readAmount(body.sz) ?? 0n, px };
  const size = readSize(exchange, market, draft);
  if (isRefusal(size)) return size;
  if (!reduceOnly) return ticketOf(draft, size.lots, size.budget, openingLotsOf(account, product, sign, size.lots));
  const lots = Math.min(size.lots, unpromisedLots(account, product, sign));
  if (lots <= 0) return { code: exchange.profile.answers.positionCode, msg: "There is no position to reduce." };
  return ticketOf(draft, lots, size.budget, 0);
};

/** A market order over the whole position, whatever its size is in the unit of `sz`. */
export const closingTicket = (exchange: Exchange, account: Account, { product, book }: Market, clOrdId: string): Ticket | Refusal => {
  const { profile } = exchange;
  const position = account.positions.get(product.instId);
  if (position === undefined) return { code: profile.answers.positionCode, msg: `There is no position in ${product.instId}.` };
  const sign: Sign = position.base > 0n ? -1 : 1;
  const lots = reducibleLots(account, product, sign);
  const unit = profile.order.szUnit[product.instType];
  const base = baseOf(product, lots);
  const px = offersFor(book, { account, sign, px: 0, ordType: "market" })[0]?.px ?? book.lastPx;
  const worth = BigInt(px) * BigInt(lots) * product.cell;
  const sz = unit === "quote_notional" ? worth : unit === "base" ? base : (base * one) / product.contractValue;
  return { account, product, sign, ordType: "market", clOrdId, reduceOnly: true, unit, sz, px: 0, lots, budget: undefined, openingLots: 0 };
};
