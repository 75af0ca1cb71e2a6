/**
 * Market data objects that strategies receive from a live market, made from decimal text.
 *
 * Invariants: frozen, in the shortest exact spelling, with the fields and their order of a recorded market's.
 */
import { add, approximate, mul, plain } from "../../decimal.ts";
import type { Quote, Trade } from "../../market/market-data.ts";

export const tradeOf = (instId: string, at: number, side: "buy" | "sell", price: string, qty: string): Trade => {
  const px = plain(price);
  return Object.freeze({ instId, at, side, px, qty, pxFloat: approximate(px), qtyFloat: approximate(qty) });
};

export interface Best {
  readonly px: string;
  readonly qty: string;
}

export const quoteOf = (instId: string, at: number, bid: Best, ask: Best): Quote => {
  const mid = mul(add(bid.px, ask.px), "0.5");
  const [bidFloat, askFloat, midFloat] = [bid.px, ask.px, mid].map(approximate) as [number, number, number];
  return Object.freeze({
    instId,
    at,
    bidPx: bid.px,
    bidQty: bid.qty,
    askPx: ask.px,
    askQty: ask.qty,
    mid,
    bidFloat,
    askFloat,
    midFloat,
  });
};
