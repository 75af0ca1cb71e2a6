/** Amounts of the embedded service as text: read and spelled to the last digit, whichever way is taken. */
import fc from "fast-check";
import { expect, it } from "vitest";
import { readAmount, spell } from "../../../src/venue/money.ts";

/** Digits and fraction places, around every bound at which another way of reading or spelling begins. */
const amount = fc.record({
  digits: fc.oneof(
    fc.bigInt(-(10n ** 6n), 10n ** 6n),
    fc.bigInt(2n ** 53n - 50n, 2n ** 53n + 50n),
    fc.bigInt(-(10n ** 17n), 10n ** 17n),
    fc.bigInt(-(10n ** 25n), 10n ** 25n),
  ),
  places: fc.integer({ min: 0, max: 18 }),
});
const textOf = (digits: bigint, places: number): string => {
  const text = String(digits < 0n ? -digits : digits).padStart(places + 1, "0");
  const fraction = places === 0 ? "" : `.${text.slice(-places)}`;
  return `${digits < 0n ? "-" : ""}${text.slice(0, text.length - places)}${fraction}`;
};
const shortest = (text: string): string => (text.includes(".") ? text.replace(/\.?0+$/, "") : text);

it("An amount is read and spelled to the last digit", () => {
  fc.assert(
    fc.property(amount, ({ digits, places }) => {
      const text = textOf(digits, places);
      const units = digits * 10n ** BigInt(18 - places);
      expect(readAmount(text)).toBe(units);
      expect(spell(units)).toBe(digits === 0n ? "0" : shortest(text));
    }),
    { seed: 1, numRuns: 1_000 },
  );
});

it.each(["", ".5", "5.", "1e3", "+1", " 1", "0x1", "1.2.3", "-", "0.1234567890123456789"])(
  "%j is no amount",
  (text) => {
    expect(readAmount(text)).toBeUndefined();
  },
);

it("Zeros behind the eighteenth place say nothing", () => {
  expect(readAmount("0.1000000000000000000000")).toBe(10n ** 17n);
});
