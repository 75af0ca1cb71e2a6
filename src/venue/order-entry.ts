/**
 * The acts of trading: place, cancel in batches, close a position, set leverage.
 *
 * Invariants: an act is applied completely or not at all; every accepted order gets the next id; what an order may cost is frozen
 * before it meets the book. A contract order that only reduces is never refused for funds: the way out stays open.
 * Not here: form (request-handler.ts), reading of sizes and prices (order-validation.ts).
 */

import type * as schemas from "../contract/schemas.ts";
import type { CancelBody, Infer, PlaceBody } from "../contract/schemas.ts";
import type { Account } from "./account.ts";
import { type Exchange, finish, marketOf, newOrder, register } from "./exchange.ts";
import { ratesFor } from "./fee-tiers.ts";
import { baseOf, worthOf } from "./instrument.ts";
import { freeOf, modeOf } from "./margin.ts";
import { offersFor, rest, take } from "./matching-engine.ts";
import { type Amount, cover, one, readAmount, spell } from "./money.ts";
import { isOpen, type Order } from "./order.ts";
import { clientIdProblem, closingTicket, readTicket, type Ticket, tradable } from "./order-validation.ts";
import { type Answer, badRequest, done, isRefusal, type Refusal, refused } from "./responses.ts";
import { changeTerms, holdFor, orderHold, payCurrencyOf, type Rates, setHold } from "./settlement.ts";

interface Plan {
  readonly lots: number;
  readonly value: Amount;
}

/** What the book would give the order right now. */
const planOf = (exchange: Exchange, ticket: Ticket): Plan => {
  const { product, budget } = ticket;
  let lots = 0;
  let value = 0n;
  for (const offer of offersFor(marketOf(exchange, product.instId).book, ticket)) {
    const affordable = budget === undefined ? ticket.lots - lots : Number((budget - value) / (BigInt(offer.px) * product.cell));
    const count = Math.min(offer.lots, affordable, ticket.lots - lots);
    if (count <= 0) break;
    lots += count;
    value += worthOf(product, offer.px, count);
  }
  return { lots, value };
};

/** What a market order may cost: it has no price of its own, so the book's prices are taken. */
const marketHold = (ticket: Ticket, plan: Plan, rates: Rates): Amount => {
  const { account, product, sign, budget } = ticket;
  if (product.instType === "SPOT" && sign === -1) return baseOf(product, budget === undefined ? ticket.lots : plan.lots);
  const opening = plan.lots === 0 ? 0n : cover(plan.value, BigInt(Math.min(plan.lots, ticket.openingLots)), BigInt(plan.lots));
  return holdFor(account, product, sign, rates, plan.value, opening);
};

/** Brings an order that passed all checks to the book. */
const execute = (exchange: Exchange, order: Order, plan: Plan, at: number): void => {
  const { book } = marketOf(exchange, order.product.instId);
  if (order.ordType === "fok" && plan.lots < order.lots) {
    finish(exchange, order, "canceled", at);
    return;
  }
  const satisfied = order.ordType === "post_only" ? false : take(book, order, at);
  if (!isOpen(order)) return;
  if (order.ordType === "limit" || order.ordType === "post_only") rest(book, order);
  // A budget is used up when the rest of it pays for no further lot.
  else finish(exchange, order, order.ordType === "market" && satisfied && order.done > 0 ? "filled" : "canceled", at);
};

const enter = (exchange: Exchange, ticket: Ticket, at: number): Order | Refusal => {
  const { answers } = exchange.profile;
  const { account, product, sign } = ticket;
  const plan = planOf(exchange, ticket);
  if (ticket.ordType === "post_only" && plan.lots > 0) return { code: answers.postOnlyCode, msg: "A post-only order would have taken." };
  const order = newOrder(exchange, ticket, at);
  const rates = ratesFor(exchange.schedules[product.instType], account, product.instType, at);
  const hold = ticket.ordType === "market" ? marketHold(ticket, plan, rates) : orderHold(order, rates);
  const currency = payCurrencyOf(product, sign);
  const reduces = product.instType === "SWAP" && Math.min(ticket.openingLots, ticket.budget === undefined ? ticket.lots : plan.lots) === 0;
  const free = reduces ? hold : freeOf(exchange, account, currency);
  if (hold > free) return { code: answers.fundsCode, msg: `The order needs ${spell(hold)} ${currency}; ${spell(free)} is available.` };
  register(exchange, order);
  setHold(order, hold);
  execute(exchange, order, plan, at);
  return order;
};

const resultOf = ({ profile }: Exchange, ordId: string, clOrdId: string, refusal?: Refusal): Readonly<Record<string, string>> => {
  const code = refusal?.code ?? "0";
  const msg = refusal?.msg ?? "";
  return profile.cancelBatch.resultFields === "sCode" ? { ordId, clOrdId, sCode: code, sMsg: msg } : { ordId, clOrdId, code, msg };
};

/** A mode named by an order holds for the product, where nothing is open yet that has the other one. */
const modeProblem = ({ profile }: Exchange, account: Account, { instId, mgnMode }: PlaceBody): Refusal | undefined => {
  const mode = modeOf(account, instId);
  if (mgnMode === undefined || mgnMode === mode) return undefined;
  const open = account.positions.has(instId) || [...account.open].some(({ product }) => product.instId === instId);
  return open ? { code: profile.answers.parameterCode, msg: `mgnMode is ${mode} while there is a position or an order.` } : undefined;
};

export const place = (exchange: Exchange, account: Account, body: PlaceBody, at: number): Answer => {
  const ticket = modeProblem(exchange, account, body) ?? readTicket(exchange, account, body);
  if (!isRefusal(ticket) && body.mgnMode !== undefined) account.marginModes.set(body.instId, body.mgnMode);
  const order = isRefusal(ticket) ? ticket : enter(exchange, ticket, at);
  if (isRefusal(order)) return refused(exchange.profile, order, [resultOf(exchange, "", body.clOrdId ?? "", order)]);
  return done(exchange.profile, [resultOf(exchange, order.ordId, order.clOrdId)]);
};

type CancelElement = CancelBody[number];

const cancelOne = (exchange: Exchange, account: Account, element: CancelElement, at: number): Readonly<Record<string, string>> => {
  const { answers, capabilities } = exchange.profile;
  const { instId, ordId, clOrdId } = element;
  const order = ordId === undefined ? account.byClOrdId.get(clOrdId ?? "") : account.byOrdId.get(ordId);
  const refuse = (code: string, msg: string) => resultOf(exchange, ordId ?? "", clOrdId ?? "", { code, msg });
  if (ordId === undefined && clOrdId === undefined) return refuse(answers.parameterCode, "ordId or clOrdId is required.");
  const spot = order === undefined ? !instId.endsWith("-SWAP") : order.product.instType === "SPOT";
  if (spot && !capabilities.cancelSpot) return refuse(answers.notContractCode, "Batch cancel takes contract orders only.");
  if (order === undefined || order.product.instId !== instId || !isOpen(order)) {
    return refuse(answers.notCancelableCode, "The order does not exist or is already complete.");
  }
  finish(exchange, order, "canceled", at);
  return resultOf(exchange, order.ordId, order.clOrdId);
};

export const cancelBatch = (exchange: Exchange, account: Account, body: CancelBody, at: number): Answer => {
  const { profile } = exchange;
  const { elementsMax, oneIdKind, envelopeCodeWhenMixed, envelopeCodeWhenAllFailed } = profile.cancelBatch;
  if (body.length > elementsMax) return badRequest(profile, `At most ${elementsMax} orders per call, got ${body.length}.`);
  const kinds = new Set(body.flatMap(({ ordId, clOrdId }) => (ordId !== undefined ? "ordId" : clOrdId !== undefined ? "clOrdId" : [])));
  if (oneIdKind && kinds.size > 1) return badRequest(profile, "Use either ordId or clOrdId in all elements of a call.");
  const results = body.map((element) => cancelOne(exchange, account, element, at));
  const bad = results.filter((result) => (result["sCode"] ?? result["code"]) !== "0").length;
  return done(profile, results, bad === 0 ? "0" : bad === results.length ? envelopeCodeWhenAllFailed : envelopeCodeWhenMixed);
};

export const closePosition = (exchange: Exchange, account: Account, body: Infer<typeof schemas.closeBody>, at: number): Answer => {
  const { profile } = exchange;
  const clOrdId = body.clOrdId ?? "";
  const market = tradable(exchange, body.instId);
  if (isRefusal(market)) return refused(profile, market);
  const ticket = clientIdProblem(exchange, account, clOrdId) ?? closingTicket(exchange, account, market, clOrdId);
  const order = isRefusal(ticket) ? ticket : enter(exchange, ticket, at);
  if (isRefusal(order)) return refused(profile, order);
  return done(profile, [{ instId: body.instId, clOrdId }]);
};

export const setLeverage = (exchange: Exchange, account: Account, body: Infer<typeof schemas.leverageBody>, at: number): Answer => {
  const { profile } = exchange;
  const { answers } = profile;
  const market = tradable(exchange, body.instId);
  if (isRefusal(market)) return refused(profile, market);
  const { product } = market;
  if (product.instType === "SPOT") return refused(profile, { code: answers.parameterCode, msg: "Leverage exists for contracts only." });
  const lever = readAmount(body.lever);
  if (lever === undefined || lever < one || lever > product.maxLeverage) {
    return refused(profile, { code: answers.leverageCode, msg: `lever is between 1 and ${spell(product.maxLeverage)}.` });
  }
  const mode = body.mgnMode ?? modeOf(account, product.instId);
  const rates = ratesFor(exchange.schedules.SWAP, account, "SWAP", at);
  if (!changeTerms(account, product, { leverage: lever, mode }, rates, () => freeOf(exchange, account, product.quote))) {
    return refused(profile, { code: answers.fundsCode, msg: "The margin this leverage needs is not available." });
  }
  market.lookAt = at;
  return done(profile, [{ instId: product.instId, lever: spell(lever), mgnMode: mode }]);
};
