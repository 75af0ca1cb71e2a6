/**
 * Shares of amounts: products and quotients in one step, cut once.
 *
 * Invariants: exact up to the cut towards zero, however long the product; arguments are decimal text that was checked
 * before.
 */
import { div } from "../decimal.ts";

const places = 18;
const unit = `1${"0".repeat(places)}`;

interface Digits {
  readonly digits: bigint;
  readonly fraction: bigint;
}

/** `a × b ÷ c`, cut at the 18th place. */
export const mulDiv = (a: string, b: string, c = "1"): string => {
  const [x, y, z] = [digitsOf(a), digitsOf(b), digitsOf(c)];
  const shift = BigInt(places) + z.fraction - x.fraction - y.fraction;
  const [up, down] = shift < 0n ? [1n, 10n ** -shift] : [10n ** shift, 1n];
  return div(String((x.digits * y.digits * up) / (z.digits * down)), unit, places);
};

const digitsOf = (text: string): Digits => {
  const dot = text.indexOf(".");
  if (dot < 0) return { digits: BigInt(text), fraction: 0n };
  return { digits: BigInt(text.slice(0, dot) + text.slice(dot + 1)), fraction: BigInt(text.length - dot - 1) };
};
