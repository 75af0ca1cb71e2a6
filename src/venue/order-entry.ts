/**
 * Trading operations: place, cancel in batches, close a position, set leverage.
 *
 * Invariants: an operation is applied completely or not at all; every accepted order gets the next id; the highest cost
 * of an order is frozen before it is matched. A contract order that only reduces is never refused for lack of funds, so
 * that a position can always be closed.
 * Not here: form (request-handler.ts), reading of sizes and prices (order-validation.ts).
 */

import type { SzUnit } from "../contract/profile.ts";
import type * as schemas from "../contract/schemas.ts";
import { activeIn, type CancelBody, type Infer, type PlaceBody } from "../contract/schemas.ts";
import type { Account, Order } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { ratesFor } from "./fee-tiers.ts";
import { baseOf, worthOf } from "./instrument.ts";
import { freeOf, modeOf } from "./margin.ts";
import { isSilentAt } from "./market-silence.ts";
import { offersFor, rest, take } from "./matching-engine.ts";
import { type Amount, cover, one, type Rates, readAmount, spell } from "./money.ts";
import { clientIdProblem, closingOrder, type Entry, readOrder, tradable } from "./order-validation.ts";
import { type Answer, badRequest, done, isRefusal, type Refusal, refused } from "./responses.ts";
import { changeTerms, holdFor, orderHold, payCurrencyOf, setHold } from "./settlement.ts";

interface Plan {
  readonly lots: number;
  readonly value: Amount;
}

/** Executions that the book would give the order right now. */
const planOf = ({ order, offers }: Entry): Plan => {
  const { product, budget } = order;
  let lots = 0;
  let value = 0n;
  for (const offer of offers) {
    const affordable =
      budget === undefined ? order.lots - lots : Number((budget - value) / worthOf(product, offer.px, 1));
    const count = Math.min(offer.lots, affordable, order.lots - lots);
    if (count <= 0) break;
    lots += count;
    value += worthOf(product, offer.px, count);
  }
  return { lots, value };
};

/** Highest cost of a market order: it has no price of its own, so the book's prices are taken. */
const marketHold = ({ account, product, sign, lots, budget, openingLots }: Order, plan: Plan, rates: Rates): Amount => {
  if (product.instType === "SPOT" && sign === -1) return baseOf(product, budget === undefined ? lots : plan.lots);
  const opening = openingLots >= plan.lots ? plan.value : cover(plan.value, BigInt(openingLots), BigInt(plan.lots));
  return holdFor(account, product, sign, rates, plan.value, opening);
};

/**
 * An order that would take while the recording has no price: one without a price waits, one with a price rests, others
 * end.
 */
const hold = (exchange: Exchange, { market, order }: Entry, at: number): void => {
  if (order.ordType === "market") market.waiting.push(order);
  else if (order.ordType === "limit") rest(market.book, order);
  else exchange.finish(order, "canceled", at);
};

/** Executes market orders that waited for a price. They continue to wait if their side has no price yet. */
export const reopen = (exchange: Exchange, market: Market, at: number): void => {
  for (const order of market.waiting.splice(0)) {
    if (!activeIn[order.state]) continue;
    const offers = offersFor(market.book, order);
    if (offers.length === 0) {
      market.waiting.push(order);
      continue;
    }
    const satisfied = take(market.book, order, offers, at);
    if (order.done > 0) market.waited++;
    if (activeIn[order.state]) exchange.finish(order, satisfied && order.done > 0 ? "filled" : "canceled", at);
  }
};

/** Brings an order that passed all checks to the book. */
const execute = (exchange: Exchange, entry: Entry, plan: Plan, at: number): void => {
  const { market, order, offers } = entry;
  const { book } = market;
  if (plan.lots > 0 && order.ordType !== "post_only" && isSilentAt(market.silences, at)) {
    hold(exchange, entry, at);
    return;
  }
  // A post-only order that would take gets here only if the service accepts and then cancels it.
  if ((order.ordType === "fok" && plan.lots < order.lots) || (order.ordType === "post_only" && plan.lots > 0)) {
    exchange.finish(order, "canceled", at);
    return;
  }
  const satisfied = order.ordType === "post_only" ? false : take(book, order, offers, at);
  if (!activeIn[order.state]) return;
  if (order.ordType === "limit" || order.ordType === "post_only") rest(book, order);
  // A budget is used up when its rest pays for no further lot.
  else exchange.finish(order, order.ordType === "market" && satisfied && order.done > 0 ? "filled" : "canceled", at);
};

/**
 * True if the highest cost of a market order is certainly available; `free` is undefined where nothing has to be. It
 * takes at most its value and as much again: no fee is larger, and no leverage below 1. What it sets aside is given
 * back in the same event, so that it is computed only where it may be too much.
 */
const isPaidFor = ({ ordType, product, sign }: Order, { value }: Plan, free: Amount | undefined): boolean =>
  ordType === "market" &&
  value > 0n &&
  (free === undefined || 2n * value <= free) &&
  product.maxLeverage >= one &&
  (product.instType === "SWAP" || sign === 1);

/** Returns the reason why the order cannot be accepted; undefined where it has been executed. */
const enter = (exchange: Exchange, entry: Entry, at: number): Refusal | undefined => {
  const { answers } = exchange.profile;
  const { order } = entry;
  const { account, product, sign, ordType } = order;
  const plan = planOf(entry);
  if (ordType === "post_only" && plan.lots > 0 && answers.postOnlyCode !== "")
    return { code: answers.postOnlyCode, msg: "A post-only order would have taken." };
  const reduces =
    product.instType === "SWAP" &&
    Math.min(order.openingLots, order.budget === undefined ? order.lots : plan.lots) === 0;
  const currency = reduces ? "" : payCurrencyOf(product, sign);
  const free = reduces ? undefined : freeOf(exchange, account, currency);
  if (!isPaidFor(order, plan, free)) {
    const rates = ratesFor(exchange.schedules[product.instType], account, product.instType, at);
    const hold = ordType === "market" ? marketHold(order, plan, rates) : orderHold(order, rates);
    if (free !== undefined && hold > free)
      return {
        code: answers.fundsCode,
        msg: `The order needs ${spell(hold)} ${currency}; ${spell(free)} is available.`,
      };
    setHold(order, hold);
  }
  exchange.register(order);
  execute(exchange, entry, plan, at);
  return undefined;
};

export const resultOf = (
  { profile }: Exchange,
  ordId: string,
  clOrdId: string,
  refusal?: Refusal,
): Readonly<Record<string, string>> => {
  const code = refusal?.code ?? "0";
  const msg = refusal?.msg ?? "";
  return profile.cancelBatch.resultFields === "sCode"
    ? { ordId, clOrdId, sCode: code, sMsg: msg }
    : { ordId, clOrdId, code, msg };
};

/** A mode named by an order holds for the product, where nothing is open yet that has the other one. */
const modeProblem = ({ profile }: Exchange, account: Account, { instId, mgnMode }: PlaceBody): Refusal | undefined => {
  const mode = modeOf(account, instId);
  if (mgnMode === undefined || mgnMode === mode) return undefined;
  const open = account.positions.has(instId) || account.open.some(({ product }) => product.instId === instId);
  return open
    ? { code: profile.answers.parameterCode, msg: `mgnMode is ${mode} while there is a position or an order.` }
    : undefined;
};

/** `szUnit` is the unit of this order's size where it is not the profile's. */
export const place = (
  exchange: Exchange,
  account: Account,
  body: PlaceBody,
  at: number,
  { szUnit }: { readonly szUnit?: SzUnit } = {},
): Answer => {
  const entry =
    (body.mgnMode && modeProblem(exchange, account, body)) ?? readOrder(exchange, account, body, at, szUnit);
  if (isRefusal(entry)) return rejected(exchange, body, entry);
  if (body.mgnMode !== undefined) account.marginModes.set(body.instId, body.mgnMode);
  const refusal = enter(exchange, entry, at);
  if (refusal !== undefined) return rejected(exchange, body, refusal);
  return done(exchange.profile, [resultOf(exchange, entry.order.ordId, entry.order.clOrdId)]);
};

const rejected = (exchange: Exchange, { clOrdId = "" }: PlaceBody, refusal: Refusal): Answer =>
  refused(exchange.profile, refusal, [resultOf(exchange, "", clOrdId, refusal)]);

type CancelElement = CancelBody[number];

const cancelOne = (
  exchange: Exchange,
  account: Account,
  element: CancelElement,
  at: number,
  unnamed?: string,
): Readonly<Record<string, string>> => {
  const { answers, capabilities } = exchange.profile;
  const { instId, ordId, clOrdId } = element;
  const order = ordId === undefined ? account.byClOrdId.get(clOrdId ?? "") : account.byOrdId.get(ordId);
  const refuse = (code: string, msg: string) => resultOf(exchange, ordId ?? "", clOrdId ?? "", { code, msg });
  if (ordId === undefined && clOrdId === undefined)
    return refuse(answers.parameterCode, "ordId or clOrdId is required.");
  const spot = order === undefined ? !instId.endsWith("-SWAP") : order.product.instType === "SPOT";
  if (spot && !capabilities.cancelSpot)
    return refuse(answers.notContractCode, "Batch cancel takes contract orders only.");
  if (order === undefined || (order.product.instId !== instId && instId !== unnamed) || !activeIn[order.state]) {
    return refuse(answers.notCancelableCode, "The order does not exist or is already complete.");
  }
  exchange.finish(order, "canceled", at);
  return resultOf(exchange, order.ordId, order.clOrdId);
};

/** True if some elements name their order by the service's id and others by the client's. */
const namesBothWays = (body: CancelBody): boolean =>
  body.length > 1 &&
  body.some(({ ordId }) => ordId !== undefined) &&
  body.some(({ ordId, clOrdId }) => ordId === undefined && clOrdId !== undefined);

export const cancelBatch = (
  exchange: Exchange,
  account: Account,
  body: CancelBody,
  at: number,
  { unnamed }: { readonly unnamed?: string } = {},
): Answer => {
  const { profile } = exchange;
  const { elementsMax, oneIdKind, envelopeCodeWhenMixed, envelopeCodeWhenAllFailed } = profile.cancelBatch;
  if (body.length > elementsMax)
    return badRequest(profile, `At most ${elementsMax} orders per call, got ${body.length}.`);
  if (oneIdKind && namesBothWays(body))
    return badRequest(profile, "Use either ordId or clOrdId in all elements of a call.");
  const results = new Array<Readonly<Record<string, string>>>(body.length);
  let bad = 0;
  for (let index = 0; index < body.length; index++) {
    const result = cancelOne(exchange, account, body[index] as CancelElement, at, unnamed);
    if ((result["sCode"] ?? result["code"]) !== "0") bad++;
    results[index] = result;
  }
  return done(
    profile,
    results,
    bad === 0 ? "0" : bad === results.length ? envelopeCodeWhenAllFailed : envelopeCodeWhenMixed,
  );
};

export const closePosition = (
  exchange: Exchange,
  account: Account,
  body: Infer<typeof schemas.closeBody>,
  at: number,
): Answer => {
  const { profile } = exchange;
  const clOrdId = body.clOrdId ?? "";
  const market = tradable(exchange, body.instId);
  if (isRefusal(market)) return refused(profile, market);
  const entry = clientIdProblem(exchange, account, clOrdId) ?? closingOrder(exchange, account, market, clOrdId, at);
  const refusal = isRefusal(entry) ? entry : enter(exchange, entry, at);
  return refusal === undefined ? done(profile, [{ instId: body.instId, clOrdId }]) : refused(profile, refusal);
};

export const setLeverage = (
  exchange: Exchange,
  account: Account,
  body: Infer<typeof schemas.leverageBody>,
  at: number,
): Answer => {
  const { profile } = exchange;
  const { answers } = profile;
  const market = tradable(exchange, body.instId);
  if (isRefusal(market)) return refused(profile, market);
  const { product } = market;
  if (product.instType === "SPOT")
    return refused(profile, { code: answers.parameterCode, msg: "Leverage exists for contracts only." });
  const lever = readAmount(body.lever);
  if (lever === undefined || lever < one || lever > product.maxLeverage) {
    return refused(profile, {
      code: answers.leverageCode,
      msg: `lever is between 1 and ${spell(product.maxLeverage)}.`,
    });
  }
  const mode = body.mgnMode ?? modeOf(account, product.instId);
  const rates = ratesFor(exchange.schedules.SWAP, account, "SWAP", at);
  if (
    !changeTerms(account, product, { leverage: lever, mode }, rates, () => freeOf(exchange, account, product.quote))
  ) {
    return refused(profile, { code: answers.fundsCode, msg: "The margin this leverage needs is not available." });
  }
  market.lookAt = at;
  return done(profile, [{ instId: product.instId, lever: spell(lever), mgnMode: mode }]);
};
