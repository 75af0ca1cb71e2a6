/**
 * Money of another quote currency in the run's.
 *
 * Invariants: cut at the 18th place, unless both are one currency: then nothing is rounded.
 * Not here: rates (backtest/conversion.ts).
 */
import { instTypeOf } from "../contract/inst-id.ts";
import { mulDiv } from "./proportion.ts";

/** An amount of a quote currency in the run's, at a rate; the same where they are one. */
export const inCurrency = (amount: string, rate: string): string => (rate === "1" ? amount : mulDiv(amount, rate));

/** At what an instrument is valued: its price, and what its quote currency is in the run's. */
export interface Mark {
  readonly px: string;
  readonly rate: string;
}

/** Price in the currency that positions of an instrument are kept in, and what that is in the run's. */
export const keptAt = (instId: string, { px, rate }: Mark): Mark =>
  instTypeOf(instId) === "SPOT" ? { px: inCurrency(px, rate), rate: "1" } : { px, rate };
