/**
 * Funding of swaps: at an instant, position value times rate moves between those who are long and those who are short.
 *
 * Invariants: longs pay a positive rate and receive a negative one, shorts the reverse; each payment is cut towards
 * zero at the 18th place, so equal positions on two sides pay each other exactly; a position is worth its mark, and
 * while no price is known nothing is charged. What users do not pay each other goes to or comes from the market
 * outside.
 * Not here: when funding falls due and at which rate (the recording, or its player).
 */
import { type Account, purseOf } from "./account.ts";
import type { Exchange } from "./exchange.ts";
import { markOf, modeOf, worthNow } from "./margin.ts";
import { type Amount, cut, one, spell } from "./money.ts";
import { setMargin } from "./settlement.ts";
import type { Funding } from "./venue-events.ts";

const pay = ({ profile }: Exchange, account: Account, instId: string, quote: string, amount: Amount): void => {
  purseOf(account, quote).total -= amount;
  if (profile.margin.fundingFrom === "margin" && modeOf(account, instId) === "isolated") {
    const position = account.positions.get(instId);
    if (position !== undefined) position.extra -= amount;
  }
};

export const chargeFunding = (exchange: Exchange, instId: string, rate: Amount, at: number): Funding | undefined => {
  const market = exchange.marketOf(instId);
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
