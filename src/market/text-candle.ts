/**
 * A bar in decimal text and the object strategies receive of it.
 *
 * Invariants: frozen, in the shortest exact spelling, with the fields and their order of a recorded market's.
 */
import { approximate, plain } from "../decimal.ts";
import type { Candle } from "./market-data.ts";

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
