/**
 * Shares of amounts: products and quotients in one step, cut once.
 *
 * Invariants: exact up to the cut towards zero, however long the product; arguments are decimal text that was checked
 * before.
 */
import { read, spell } from "../decimal-value.ts";

const places = 18;

/** `a × b ÷ c`, cut at the 18th place. */
export const mulDiv = (a: string, b: string, c = "1"): string => {
  const [x, y, z] = [read(a), read(b), read(c)];
  const shift = BigInt(places + z.places - x.places - y.places);
  const [up, down] = shift < 0n ? [1n, 10n ** -shift] : [10n ** shift, 1n];
  return spell({ units: (BigInt(x.units) * BigInt(y.units) * up) / (BigInt(z.units) * down), places });
};
