/**
 * Instrument ids: `BASE-QUOTE` for spot, `BASE-QUOTE-SWAP` for perpetual swaps settled in the quote currency.
 *
 * Invariants: parse and format are inverse; anything of neither kind is refused by value and rule.
 */
import { SluiceError } from "../errors.ts";

export type InstType = "SPOT" | "SWAP";

/** The parts of an instrument id: `BTC-USDT` is spot, `BTC-USDT-SWAP` a perpetual swap. */
interface InstId {
  readonly instType: InstType;
  readonly base: string;
  readonly quote: string;
}

const pattern = /^([A-Z0-9]{1,20})-([A-Z0-9]{1,20})(-SWAP)?$/;

/** The parts of an id, or undefined when it is of neither kind. */
export const readInstId = (text: unknown): InstId | undefined => {
  const match = typeof text === "string" ? pattern.exec(text) : null;
  if (match === null) return undefined;
  const [, base, quote, swap] = match as unknown as [string, string, string, string | undefined];
  // "BTC-SWAP" would read as a spot pair priced in SWAP; the suffix is reserved for swaps.
  if (quote === "SWAP") return undefined;
  return { instType: swap === undefined ? "SPOT" : "SWAP", base, quote };
};

/** The parts of an id, or `INST_ID_INVALID` naming the place and the value. */
export const parseInstId = (text: unknown, place: string): InstId => {
  const parts = readInstId(text);
  if (parts !== undefined) return parts;
  throw new SluiceError(
    "INST_ID_INVALID",
    `${place}: ${JSON.stringify(text)} is not an instrument id. Write BASE-QUOTE (spot) or BASE-QUOTE-SWAP (perpetual swap), such as "BTC-USDT-SWAP".`,
  );
};

/** The id of an instrument from its parts. The inverse of `parseInstId`. */
export const formatInstId = ({ instType, base, quote }: InstId): string =>
  instType === "SWAP" ? `${base}-${quote}-SWAP` : `${base}-${quote}`;

/** `SWAP` for an `instId` that ends with `-SWAP`, else `SPOT`. The `instId` is not checked; `readInstId` does that. */
export const instTypeOf = (instId: string): InstType => (instId.endsWith("-SWAP") ? "SWAP" : "SPOT");
