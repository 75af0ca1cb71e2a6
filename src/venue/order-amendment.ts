/**
 * The act of changing an order that rests: another price, another size, or both.
 *
 * Invariants: a change is applied completely or not at all; the id stays; an order that is only made smaller keeps its
 * place in the queue, any other change takes a new one, and may take from the book as it arrives; a size that is
 * executed already ends the order as filled.
 * Not here: new orders (order-entry.ts), reading of sizes and prices (order-validation.ts).
 */
import type { AmendBody } from "../contract/schemas.ts";
import type { Account, Order } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { ratesFor } from "./fee-tiers.ts";
import { freeOf } from "./margin.ts";
import { offersFor, remove, rest, take } from "./matching-engine.ts";
import { readAmount, spell } from "./money.ts";
import { isOpen } from "./order.ts";
import { resultOf } from "./order-entry.ts";
import { lotsOf, readPrice, tradable } from "./order-validation.ts";
import { type Answer, done, isRefusal, type Refusal, refused } from "./responses.ts";
import { openingLotsOf, orderHold, payCurrencyOf, setHold } from "./settlement.ts";

export const amend = (exchange: Exchange, account: Account, body: AmendBody, at: number): Answer => {
  const { profile } = exchange;
  const { instId, ordId, clOrdId = "" } = body;
  const order = ordId === undefined ? account.byClOrdId.get(clOrdId) : account.byOrdId.get(ordId);
  const refusal =
    order === undefined || order.product.instId !== instId ? gone(exchange) : changeOrder(exchange, order, body, at);
  if (refusal !== undefined) return refused(profile, refusal, [resultOf(exchange, ordId ?? "", clOrdId, refusal)]);
  return done(profile, [resultOf(exchange, order?.ordId ?? "", order?.clOrdId ?? "")]);
};

const gone = ({ profile }: Exchange): Refusal => ({
  code: profile.answers.notCancelableCode,
  msg: "The order does not exist or is already complete.",
});

const changeOrder = (exchange: Exchange, order: Order, body: AmendBody, at: number): Refusal | undefined => {
  const { answers } = exchange.profile;
  if (!isOpen(order)) return gone(exchange);
  if (body.px === undefined && body.sz === undefined)
    return { code: answers.parameterCode, msg: "px or sz is required." };
  if (order.reduceOnly) return { code: answers.parameterCode, msg: "An order that only reduces is not changed." };
  const market = tradable(exchange, body.instId);
  if (isRefusal(market)) return market;
  const px = body.px === undefined ? order.px : readPrice(exchange, order.product, body.px);
  if (typeof px !== "number") return px;
  const sz = body.sz === undefined ? order.sz : (readAmount(body.sz) ?? 0n);
  const lots = lotsOf(exchange, order, sz, px);
  if (typeof lots !== "number") return lots;
  const szText = body.sz === undefined ? order.szText : spell(sz);
  if (lots > order.done) return reshape(exchange, market, order, { px, sz, szText, lots }, at);
  order.sz = sz;
  order.szText = szText;
  exchange.finish(order, order.done > 0 ? "filled" : "canceled", at);
  return undefined;
};

type Shape = Pick<Order, "px" | "sz" | "szText" | "lots">;

/** Gives the order another shape if its user can pay for it. */
const reshape = (exchange: Exchange, { book }: Market, order: Order, next: Shape, at: number): Refusal | undefined => {
  const { account, product, sign } = order;
  const keepsPlace = next.px === order.px && next.lots <= order.lots;
  const openingLots = Math.min(openingLotsOf(account, product, sign, next.lots - order.done, order), next.lots);
  const rates = ratesFor(exchange.schedules[product.instType], account, product.instType, at);
  const hold = orderHold({ ...order, ...next, openingLots }, rates);
  const currency = payCurrencyOf(product, sign);
  const more = hold - order.hold;
  const free = freeOf(exchange, account, currency);
  if (more > 0n && more > free) {
    const msg = `The change needs ${spell(more)} ${currency} more; ${spell(free)} is available.`;
    return { code: exchange.profile.answers.fundsCode, msg };
  }
  // The book finds an order by its price.
  if (!keepsPlace) remove(book, order);
  Object.assign(order, next, { openingLots });
  setHold(order, hold);
  exchange.changed(order, at);
  if (keepsPlace) return undefined;
  const offers = offersFor(book, order);
  // As on arrival, where the service accepts such an order and cancels it.
  if (order.ordType === "post_only" && offers.length > 0) exchange.finish(order, "canceled", at);
  else {
    take(book, order, offers, at);
    if (isOpen(order)) rest(book, order);
  }
  return undefined;
};
