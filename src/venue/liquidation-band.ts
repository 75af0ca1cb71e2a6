/**
 * Safe price band: the prices of a product between which no position in it can be liquidated.
 *
 * Invariants: while everything displayed, printed and published stays strictly inside a band, no review finds a
 * position short, as long as nothing but prices changes; a few ticks at its edges are given away, which covers every
 * rounding on the way.
 * Not here: reviews (liquidation.ts), who relies on it (backtest/skip-ahead.ts).
 */
import type { Account, Position } from "./account.ts";
import type { Exchange, Market } from "./exchange.ts";
import { modeOf } from "./margin.ts";
import { type Amount, one } from "./money.ts";
import { bestDisplayed } from "./order-book-side.ts";

/** Prices strictly between the two, in ticks. */
export interface Band {
  readonly above: number;
  readonly below: number;
}

const anyPrice: Band = { above: Number.NEGATIVE_INFINITY, below: Number.POSITIVE_INFINITY };
const spareTicks = 3;
const unit = Number(one);
/** Smallest useful worth of a tick: below it, rounding errors cannot be estimated from the tick. */
const leastWorth = 1_000 * unit;

/** Margin of the position, without its profit; undefined where other positions share it. */
const behind = (exchange: Exchange, account: Account, { product }: Market, position: Position): Amount | undefined => {
  if (modeOf(account, product.instId) === "isolated") return position.margin;
  let stands = account.purses.get(product.quote)?.total ?? 0n;
  const { held } = account;
  for (let index = 0; index < held.length; index++) {
    const other = held[index] as Position;
    if (other === position || exchange.marketOf(other.instId).product.quote !== product.quote) continue;
    if (modeOf(account, other.instId) === "cross") return undefined;
    stands -= other.margin;
  }
  return stands;
};

/**
 * Solves margin + profit = maintenance for the price, by the signed worth of a tick: in numbers, whose rounding is far
 * below a tick where prices can be.
 */
const bandOf = ({ base, entry }: Position, margin: Amount, tick: Amount, maintenance: Amount): Band | undefined => {
  const perTick = Number(tick) * Number(base);
  if (Math.abs(perTick) < leastWorth) return undefined;
  const long = perTick > 0;
  const rate = Number(maintenance) / unit;
  const worth = (Number(entry) - Number(margin)) / (long ? 1 - rate : 1 + rate);
  const edge = Math.trunc((worth / perTick) * unit);
  return long
    ? { above: edge + spareTicks, below: Number.POSITIVE_INFINITY }
    : { above: Number.NEGATIVE_INFINITY, below: edge - spareTicks };
};

/** Returns true if the price is inside the band. A price that is not known counts as inside. */
const isInside = (px: number | undefined, { above, below }: Band): boolean =>
  px === undefined || (px > above && px < below);

/** True if bid, ask, last price and mark are all inside now. */
const holdsNow = ({ book, mark, product }: Market, band: Band): boolean => {
  const bid = bestDisplayed(book.bids);
  const ask = bestDisplayed(book.asks);
  const last = book.lastPx > 0 ? book.lastPx : undefined;
  const marked = mark > 0n ? Number(mark / product.tick) : undefined;
  const known = (bid !== undefined && ask !== undefined) || last !== undefined;
  if (!known) return false;
  return isInside(bid, band) && isInside(ask, band) && isInside(last, band) && isInside(marked, band);
};

/** Undefined if no band can be guaranteed: several positions share their margin, or one is at the edge. */
export const safeBand = (exchange: Exchange, market: Market): Band | undefined => {
  const { margins, users } = exchange;
  const { instId, tick } = market.product;
  let band = anyPrice;
  if (!margins.liquidates) return band;
  for (let index = 0; index < users.length; index++) {
    const account = users[index] as Account;
    const position = account.positions.get(instId);
    if (position === undefined) continue;
    const margin = behind(exchange, account, market, position);
    const own = margin === undefined ? undefined : bandOf(position, margin, tick, margins.maintenance);
    if (own === undefined) return undefined;
    band = { above: Math.max(band.above, own.above), below: Math.min(band.below, own.below) };
  }
  return band === anyPrice || holdsNow(market, band) ? band : undefined;
};
