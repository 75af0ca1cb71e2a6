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

/**
 * Splits an instrument id into its parts.
 *
 * @param text - anything
 * @returns the parts, or undefined where the text is no id of a spot pair or a perpetual swap
 */
export const readInstId = (text: unknown): InstId | undefined => {
  const match = typeof text === "string" ? pattern.exec(text) : null;
  if (match === null) return undefined;
  const [, base, quote, swap] = match as unknown as [string, string, string, string | undefined];
  // "BTC-SWAP" would read as a spot pair priced in SWAP; the suffix is reserved for swaps.
  if (quote === "SWAP") return undefined;
  return { instType: swap === undefined ? "SPOT" : "SWAP", base, quote };
};

/**
 * Splits an instrument id into its parts.
 *
 * @param text - such as "BTC-USDT" (spot) or "BTC-USDT-SWAP" (perpetual swap)
 * @param place - where the text was written, for the message of the error
 * @returns type, base and quote currency
 * @throws INST_ID_INVALID where the text is no id
 * @example
 * parseInstId("BTC-USDT-SWAP", "my option") // { instType: "SWAP", base: "BTC", quote: "USDT" }
 */
export const parseInstId = (text: unknown, place: string): InstId => {
  const parts = readInstId(text);
  if (parts !== undefined) return parts;
  throw new SluiceError(
    "INST_ID_INVALID",
    `${place}: ${JSON.stringify(text)} is not an instrument id. Write BASE-QUOTE (spot) or BASE-QUOTE-SWAP (perpetual swap), such as "BTC-USDT-SWAP".`,
  );
};

/**
 * Joins the parts of an instrument id. The inverse of `parseInstId`.
 *
 * @param parts - type, base and quote currency
 * @returns the id, such as "BTC-USDT-SWAP"
 */
export const formatInstId = ({ instType, base, quote }: InstId): string =>
  instType === "SWAP" ? `${base}-${quote}-SWAP` : `${base}-${quote}`;

/**
 * Type of an instrument by its id.
 *
 * @param instId - an id; it is not checked, `readInstId` does that
 * @returns `SWAP` for an id that ends with `-SWAP`, else `SPOT`
 */
export const instTypeOf = (instId: string): InstType => (instId.endsWith("-SWAP") ? "SWAP" : "SPOT");
