/**
 * Funding of swaps: at an instant, position value times rate moves between those who are long and those who are short.
 *
 * Invariants: longs pay a positive rate and receive a negative one, shorts the reverse; each payment is cut towards zero at the
 * 18th place, so equal positions on two sides pay each other exactly; a position is worth its mark, and while no price is known
 * nothing is charged. What users do not pay each other goes to or comes from the market outside.
 * Not here: when funding falls due and at which rate (the recording, or whoever turns the clock).
 */
import type { Account } from "./account.ts";
import { purseOf } from "./account.ts";
import type { Exchange } from "./exchange.ts";
import { marketOf } from "./exchange.ts";
import { markOf, modeOf, worthNow } from "./margin.ts";
import { type Amount, cut, one, spell } from "./money.ts";
import { setMargin } from "./settlement.ts";

/** One instant of funding of one product. Decimal text throughout. */
export interface Funding {
  readonly instId: string;
  readonly at: number;
  readonly rate: string;
  /** The mark at which positions were valued. */
  readonly px: string;
  /** What each user with a position held, in base currency: positive long, negative short. */
  readonly held: Readonly<Record<string, string>>;
  /** What each of them paid, in the quote currency; negative where it received. */
  readonly paid: Readonly<Record<string, string>>;
}

const pay = ({ profile }: Exchange, account: Account, instId: string, quote: string, amount: Amount): void => {
  purseOf(account, quote).total -= amount;
  if (profile.margin.fundingFrom === "margin" && modeOf(account, instId) === "isolated") {
    const position = account.positions.get(instId);
    if (position !== undefined) position.extra -= amount;
  }
};

export const chargeFunding = (exchange: Exchange, instId: string, rate: Amount, at: number): Funding | undefined => {
  const market = marketOf(exchange, instId);
  const { product } = market;
  if (product.instType !== "SWAP" || markOf(market) === 0n) return undefined;
  const held: Record<string, string> = {};
  const paid: Record<string, string> = {};
  for (const account of exchange.accounts.values()) {
    const position = account.positions.get(instId);
    if (position === undefined) continue;
    const amount = cut(worthNow(market, position.base) ?? 0n, rate, one);
    pay(exchange, account, instId, product.quote, amount);
    setMargin(account, product, position);
    held[account.uid] = spell(position.base);
    paid[account.uid] = spell(amount);
  }
  return { instId, at, rate: spell(rate), px: spell(markOf(market)), held, paid };
};
