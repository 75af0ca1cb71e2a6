/**
 * The objects strategies receive from a live market, made from decimal text.
 *
 * Invariants: frozen, in the shortest exact spelling, with the fields and their order of a recorded market's.
 */
import { add, approximate, mul, plain } from "../../decimal.ts";
import type { Candle, Quote, Trade } from "../../market/market-data.ts";

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

/** A bar in decimal text, as bars are built and told. */
export interface TextBar {
  readonly open: string;
  readonly high: string;
  readonly low: string;
  readonly close: string;
  readonly volume: string;
}

export const candleOf = (instId: string, at: number, barMs: number, bar: TextBar): Candle => {
  const [open, high, low, close, volume] = [bar.open, bar.high, bar.low, bar.close, bar.volume].map(plain) as [
    string,
    string,
    string,
    string,
    string,
  ];
  const [openFloat, highFloat, lowFloat, closeFloat] = [open, high, low, close].map(approximate) as [number, number, number, number];
  return Object.freeze({ instId, at, openedAt: at - barMs, open, high, low, close, volume, openFloat, highFloat, lowFloat, closeFloat });
};
