/**
 * Value and margin of positions: marks, open profit, maintenance, and the rest for new orders.
 *
 * Invariants: balance = available + frozen, exactly; a position is worth its mark price where one is published, else
 * the middle of the book, else the latest print, and its entry value while none is known; nothing is changed here.
 * Isolated: the position's own margin covers it. Cross: the purse of its quote currency, less what isolated
 * positions have set aside, covers all cross positions together.
 * Not here: the liquidation of a position that is short (liquidation.ts), when margin is set aside (settlement.ts).
 */
import type { MarginMode } from "../contract/profile.ts";
import type { BalanceRecord } from "../contract/schemas.ts";
import type { Account, Position } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { doubleMark } from "./matching-engine.ts";
import { type Amount, cover, magnitude, one, spell } from "./money.ts";

export const modeOf = (account: Account, instId: string): MarginMode =>
  account.marginModes.get(instId) ?? account.modeDefault;

/** The price of a market, exact; 0 while none is known. */
export const markOf = ({ mark, book, product }: Market): Amount =>
  mark > 0n ? mark : (BigInt(doubleMark(book)) * product.tick) / 2n;

const two = 2n * one;

/** Value of a quantity of base, with its sign; undefined while no price is known. */
export const worthNow = ({ mark, book, product }: Market, base: Amount): Amount | undefined => {
  if (mark > 0n) return (mark * base) / one;
  const double = BigInt(doubleMark(book));
  return double === 0n ? undefined : (double * product.tick * base) / two;
};

/** Open profit of a position by the mark; zero while no price is known. */
export const profitOf = (market: Market, { base, entry }: Position): Amount => {
  const worth = worthNow(market, base);
  return worth === undefined ? 0n : worth - entry;
};

/** Maintenance margin of a position. */
export const maintenanceOf = ({ margins }: Exchange, market: Market, { base, entry }: Position): Amount =>
  cover(magnitude(worthNow(market, base) ?? entry), margins.maintenance, one);

export interface Standing {
  readonly instId: string;
  readonly market: Market;
  readonly position: Position;
  readonly profit: Amount;
}

/** The cross positions of a currency, in the order in which they were opened. */
export const crossPositions = (exchange: Exchange, account: Account, currency: string): Standing[] => {
  const found: Standing[] = [];
  for (const position of account.held) {
    const { instId } = position;
    const market = exchange.marketOf(instId);
    if (market.product.quote !== currency || modeOf(account, instId) !== "cross") continue;
    found.push({ instId, market, position, profit: profitOf(market, position) });
  }
  return found;
};

/**
 * Margin of the cross positions of a currency: the purse with their profit, less what belongs to isolated
 * positions.
 */
export const crossEquity = (
  exchange: Exchange,
  account: Account,
  currency: string,
  standings: readonly Standing[],
): Amount => {
  let equity = account.purses.get(currency)?.total ?? 0n;
  for (const { profit } of standings) equity += profit;
  for (const { instId, margin } of account.held) {
    if (modeOf(account, instId) === "isolated" && exchange.marketOf(instId).product.quote === currency)
      equity -= margin;
  }
  return equity;
};

/** More than numbers can lose to rounding of all that is added up. */
const roundingShare = 1e-9;
const unit = Number(one);

/**
 * Returns true if cross positions of a currency are short. Computed with numbers, which is faster than with exact
 * amounts, so it also returns true if the result is so close that rounding could matter.
 */
const mayBeShort = ({ margins, markets }: Exchange, account: Account, currency: string): boolean => {
  const { held, marginModes, modeDefault } = account;
  const maintenance = Number(margins.maintenance) / unit;
  let spare = Number(account.purses.get(currency)?.total ?? 0n);
  let size = Math.abs(spare);
  for (let index = 0; index < held.length; index++) {
    const { instId, base, entry, margin } = held[index] as Position;
    const market = markets.get(instId);
    if (market?.product.quote !== currency) continue;
    if ((marginModes.get(instId) ?? modeDefault) === "isolated") {
      spare -= Number(margin);
      size += Number(margin);
      continue;
    }
    const { mark, book, product } = market;
    const cost = Number(entry);
    const px = mark > 0n ? Number(mark) : (doubleMark(book) * Number(product.tick)) / 2;
    const worth = px === 0 ? cost : (px * Number(base)) / unit;
    spare += worth - cost - Math.abs(worth) * maintenance;
    size += Math.abs(worth) + Math.abs(cost);
  }
  return spare <= size * roundingShare;
};

/** True if cross positions of a currency are short of maintenance margin. */
export const isCrossShort = (exchange: Exchange, account: Account, currency: string): boolean => {
  if (!mayBeShort(exchange, account, currency)) return false;
  const { held } = account;
  let spare = account.purses.get(currency)?.total ?? 0n;
  for (let index = 0; index < held.length; index++) {
    const { instId, base, entry, margin } = held[index] as Position;
    const market = exchange.marketOf(instId);
    if (market.product.quote !== currency) continue;
    if (modeOf(account, instId) === "isolated") spare -= margin;
    else {
      const worth = worthNow(market, base) ?? entry;
      spare += worth - entry - cover(magnitude(worth), exchange.margins.maintenance, one);
    }
  }
  return spare < 0n;
};

/** Sum of the open losses of cross positions. */
const openLossOf = (exchange: Exchange, account: Account, currency: string): Amount => {
  const { held } = account;
  let profit = 0n;
  for (let index = 0; index < held.length; index++) {
    const position = held[index] as Position;
    const market = exchange.marketOf(position.instId);
    if (market.product.quote === currency && modeOf(account, position.instId) === "cross")
      profit += profitOf(market, position);
  }
  return profit < 0n ? -profit : 0n;
};

/** Amount that new orders may use. */
export const freeOf = (exchange: Exchange, account: Account, currency: string): Amount => {
  const purse = account.purses.get(currency);
  const available = purse === undefined ? 0n : purse.total - purse.frozen;
  return account.held.length === 0 || !exchange.margins.countsLoss
    ? available
    : available - openLossOf(exchange, account, currency);
};

export const balanceRecordsOf = (exchange: Exchange, account: Account, only?: string): BalanceRecord[] =>
  [...account.purses]
    .filter(([currency]) => only === undefined || currency === only)
    .map(([currency, { total }]) => {
      const available = freeOf(exchange, account, currency);
      return { currency, balance: spell(total), available: spell(available), frozen: spell(total - available) };
    });

/**
 * Mark at which the position would fall short, everything else unchanged; undefined where there is none.
 * Long: margin + base × px - entry = rate × base × px; short alike with the other sign.
 */
export const liquidationPx = (
  exchange: Exchange,
  account: Account,
  instId: string,
  position: Position,
): Amount | undefined => {
  const { margins } = exchange;
  const { product } = exchange.marketOf(instId);
  let behind = position.margin;
  if (modeOf(account, instId) === "cross") {
    const others = crossPositions(exchange, account, product.quote).filter(
      (standing) => standing.position !== position,
    );
    behind = crossEquity(exchange, account, product.quote, others);
    for (const { market, position: other } of others) behind -= maintenanceOf(exchange, market, other);
  }
  const long = position.base > 0n;
  const size = magnitude(position.base);
  const value = long ? position.entry - behind : behind - position.entry;
  const px = (value * one * one) / (size * (long ? one - margins.maintenance : one + margins.maintenance));
  return px > 0n && margins.liquidates ? px : undefined;
};
