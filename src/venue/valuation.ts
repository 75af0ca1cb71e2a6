/**
 * Value of a user's holdings in one currency, through the prices of the products that connect currencies.
 *
 * Invariants: a conversion over fewer products is preferred, and one over spot products to one over swaps, which
 * connect only currencies that something is quoted in; of equal ones the first listed is used. A conversion is one
 * exact fraction: the result is cut once, at the 18th decimal place. Holdings without a known price count as zero.
 * Not here: what a position is worth in its own currency (margin.ts).
 */
import type { Account } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { markOf, profitOf } from "./margin.ts";
import { type Amount, one } from "./money.ts";

/** A unit of one currency in another: `of` for each `per`. */
interface Rate {
  readonly of: Amount;
  readonly per: Amount;
}

/** A product that connects two currencies; `px` is 0 while none is known. */
interface Connection {
  readonly base: string;
  readonly quote: string;
  readonly px: Amount;
}

const same: Rate = { of: 1n, per: 1n };

export const converted = (amount: Amount, { of, per }: Rate): Amount => (amount * of) / per;

/** Value of one unit of `from` in `to` over the fewest connections; undefined where no price connects them. */
export const rateOver = (connections: readonly Connection[], from: string, to: string): Rate | undefined => {
  const reached = new Map<string, Rate>([[from, same]]);
  for (const [currency, { of, per }] of reached) {
    // Entries that are added during the iteration are visited later, so nearer currencies come first.
    if (currency === to) break;
    for (const { base, quote, px } of connections) {
      if (px <= 0n) continue;
      if (base === currency && !reached.has(quote)) reached.set(quote, { of: of * px, per: per * one });
      if (quote === currency && !reached.has(base)) reached.set(base, { of: of * one, per: per * px });
    }
  }
  return reached.get(to);
};

/** The same over the products of the service at their prices of now. */
export const rateAmong = (markets: ReadonlyMap<string, Market>, from: string, to: string): Rate | undefined => {
  if (from === to) return same;
  const direct = markets.get(`${from}-${to}`);
  const px = direct === undefined ? 0n : markOf(direct);
  if (px > 0n) return { of: px, per: one };
  const all = [...markets.values()];
  const over = (some: readonly Market[]): Rate | undefined =>
    rateOver(
      some.map((market) => ({ base: market.product.base, quote: market.product.quote, px: markOf(market) })),
      from,
      to,
    );
  const spot = over(all.filter(({ product }) => product.instType === "SPOT"));
  return spot ?? (all.some(({ product }) => product.quote === from) ? over(all) : undefined);
};

/** Everything a user owns; in the quote currency of the first product where none is named. */
export const equityOf = (exchange: Exchange, account: Account, named?: string): Amount => {
  const [first] = exchange.markets.values();
  const to = named ?? first?.product.quote;
  if (to === undefined) return 0n;
  let equity = 0n;
  /** Holdings in other currencies; each is converted as a whole, because a conversion is cut to its places. */
  const others = new Map<string, Amount>();
  const add = (currency: string, amount: Amount): void => {
    if (currency === to) equity += amount;
    else others.set(currency, (others.get(currency) ?? 0n) + amount);
  };
  for (const [currency, { total }] of account.purses) add(currency, total);
  for (const position of account.held) {
    const market = exchange.marketOf(position.instId);
    add(market.product.quote, profitOf(market, position));
  }
  for (const [currency, amount] of others) {
    const rate = amount === 0n ? undefined : rateAmong(exchange.markets, currency, to);
    if (rate !== undefined) equity += converted(amount, rate);
  }
  return equity;
};
