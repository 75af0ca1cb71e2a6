/**
 * Liquidation of positions that are short of maintenance margin: their orders are canceled, they are closed, and the
 * fund of liquidations takes its fee and pays what the account cannot.
 *
 * Invariants: an isolated position falls by its own margin and takes nothing else with it; cross positions of a
 * currency fall one at a time, the largest loss first, until what is left is enough; what the book does not take is
 * closed at the mark, on the tick that is worse for the account; users' money, fees, funding and the fund keep their
 * sum. The closing order is in the user's history like any other, without a client id. After a shortfall was covered,
 * neither margin nor purse is below zero.
 */
import { type Account, type Order, purseOf } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { baseOf } from "./instrument.ts";
import {
  crossEquity,
  crossPositions,
  isCrossShort,
  maintenanceOf,
  markOf,
  modeOf,
  profitOf,
  type Standing,
  worthNow,
} from "./margin.ts";
import { take } from "./matching-engine.ts";
import { type Amount, cut, larger, one, spell } from "./money.ts";
import { isOpen, leftOf, sideOf } from "./order.ts";
import { closingOrder } from "./order-validation.ts";
import { isRefusal } from "./responses.ts";
import { payCurrencyOf } from "./settlement.ts";
import type { Liquidation } from "./venue-events.ts";

const withdraw = ({ account, exchange, at }: Case, fits: (order: Order) => boolean): void => {
  for (const order of account.open.filter(fits)) exchange.finish(order, "canceled", at);
};

interface Case {
  readonly exchange: Exchange;
  readonly account: Account;
  readonly at: number;
}

/** Ticks at the mark, rounded against the account that trades at them. */
const ticksAtMark = (market: Market, sign: Order["sign"]): number => {
  const { tick } = market.product;
  const mark = markOf(market);
  return Math.max(1, Number(sign === 1 ? (mark + tick - 1n) / tick : mark / tick));
};

/** Closes the whole position; the order is complete afterwards. */
const close = ({ exchange, account, at }: Case, market: Market): Order | undefined => {
  const entry = closingOrder(exchange, account, market, "", at);
  if (isRefusal(entry)) return undefined;
  const { order, offers } = entry;
  exchange.register(order);
  if (market.listed) take(market.book, order, offers, at);
  if (isOpen(order)) market.book.onFill(order, ticksAtMark(market, order.sign), leftOf(order), "taker", at);
  return order;
};

/** Amount that the fund pays so that the loss is at most the margin of the position, or of all of them. */
const coveredBy = (
  { exchange, account }: Case,
  quote: string,
  lost: Amount,
  mode: "cross" | "isolated",
  behind: Amount,
): Amount => {
  if (!exchange.margins.covers) return 0n;
  if (mode === "isolated") return lost > behind ? lost - behind : 0n;
  const left = crossPositions(exchange, account, quote);
  return left.length > 0 ? 0n : larger(0n, -crossEquity(exchange, account, quote, left));
};

const liquidate = (on: Case, { instId, market, position }: Omit<Standing, "profit">): void => {
  const { exchange, account, at } = on;
  const { quote } = market.product;
  const mode = modeOf(account, instId);
  // All cross positions share the purse, and so do the orders that set some of it aside.
  if (mode === "cross") withdraw(on, ({ product, sign }) => payCurrencyOf(product, sign) === quote);
  else withdraw(on, ({ product }) => product.instId === instId);
  const purse = purseOf(account, quote);
  const before = purse.total;
  const behind = position.margin;
  const order = close(on, market);
  if (order === undefined) return;
  const fee = cut(order.value, exchange.margins.liquidationFee, one);
  purse.total -= fee;
  const covered = coveredBy(on, quote, before - purse.total, mode, behind);
  purse.total += covered;
  exchange.fund.set(quote, (exchange.fund.get(quote) ?? 0n) + fee - covered);
  const { uid } = account;
  const liquidation: Liquidation = {
    uid,
    instId,
    ordId: order.ordId,
    side: sideOf(order.sign),
    qty: spell(baseOf(market.product, order.done)),
    value: spell(order.value),
    fee: spell(fee),
    covered: spell(covered),
    at,
  };
  exchange.events.tell({ kind: "liquidation", liquidation });
};

const reviewCross = (on: Case, currency: string): void => {
  while (isCrossShort(on.exchange, on.account, currency)) {
    const priced = crossPositions(on.exchange, on.account, currency).filter(({ market }) => markOf(market) > 0n);
    if (priced.length === 0) return;
    liquidate(
      on,
      priced.reduce((worst, one) => (one.profit < worst.profit ? one : worst)),
    );
  }
};

const reviewIsolated = (on: Case, market: Market): void => {
  const { instId } = market.product;
  const position = on.account.positions.get(instId);
  if (position === undefined || worthNow(market, position.base) === undefined) return;
  if (position.margin + profitOf(market, position) < maintenanceOf(on.exchange, market, position))
    liquidate(on, { instId, market, position });
};

/** Next multiple of the interval, such as a full second, so that it does not depend on earlier reviews. */
const nextLook = (everyMs: number, at: number): number => (everyMs > 0 ? (Math.floor(at / everyMs) + 1) * everyMs : at);

/** Reviews every user with a position in the product; sets the instant of the next review. */
export const review = (exchange: Exchange, market: Market, at: number): void => {
  const { instId, quote } = market.product;
  let held = false;
  const { users } = exchange;
  for (let index = 0; index < users.length; index++) {
    const account = users[index] as Account;
    if (!account.positions.has(instId)) continue;
    held = true;
    if (!exchange.margins.liquidates) continue;
    const on = { exchange, account, at };
    if (modeOf(account, instId) === "cross") reviewCross(on, quote);
    else reviewIsolated(on, market);
  }
  market.lookAt =
    held && exchange.margins.liquidates ? nextLook(exchange.margins.lookMs, at) : Number.POSITIVE_INFINITY;
};
