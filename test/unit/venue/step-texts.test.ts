/** Texts made from whole numbers are those made from bigints, to the last digit. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { Order } from "../../../src/venue/account.ts";
import { createProduct } from "../../../src/venue/instrument.ts";
import { one, readAmount, spell, spellAgain, spellSteps, stepOf } from "../../../src/venue/money.ts";
import { orderRecordOf } from "../../../src/venue/order.ts";

const safe = Number.MAX_SAFE_INTEGER;

/** A count and a step whose product lies around the largest number that is exact. */
const nearBound = fc
  .tuple(fc.integer({ min: 1, max: 1_000_000 }), fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 18 }))
  .map(([count, off, zeros]) => ({
    count,
    amount: (BigInt(Math.floor(safe / count)) + BigInt(off)) * 10n ** BigInt(zeros),
  }));
const anywhere = fc.record({ count: fc.maxSafeNat(), amount: fc.bigInt({ min: 1n, max: 10n ** 27n }) });
const realistic = fc.record({
  count: fc.nat({ max: 100_000_000 }),
  amount: fc
    .tuple(fc.integer({ min: 1, max: 9_999 }), fc.integer({ min: 0, max: 20 }))
    .map(([digits, zeros]) => BigInt(digits) * 10n ** BigInt(zeros)),
});

describe("Text of a number of steps", () => {
  it("is the text of the amount", () => {
    fc.assert(
      fc.property(fc.oneof(nearBound, anywhere, realistic), ({ count, amount }) => {
        expect(spellSteps(count, stepOf(amount))).toBe(spell(BigInt(count) * amount));
      }),
      { numRuns: 5_000 },
    );
  });

  it.each([
    // 321 × 28059810762433 = 2^53 + 1, which no float holds.
    [321, 28_059_810_762_433n, "0.009007199254740993"],
    [safe, 1n, "0.009007199254740991"],
    [1, 9_007_199_254_740_993n, "0.009007199254740993"],
    [safe, one, "9007199254740991"],
    [0, one, "0"],
  ])("is exact at the bound of numbers: %d × %s", (count, amount, text) => {
    expect(spellSteps(count, stepOf(amount))).toBe(text);
  });
});

describe("Text that is spelled again", () => {
  it("is the shortest text of its value, however it was written", () => {
    const digits = fc.stringMatching(/^\d{1,12}$/);
    const fraction = fc.stringMatching(/^\d{0,18}$/);
    fc.assert(
      fc.property(digits, fraction, fc.constantFrom("", "-"), (whole, rest, sign) => {
        const text = `${sign}${whole}${rest === "" ? "" : `.${rest}`}`;
        const value = readAmount(text) ?? 0n;
        expect(spellAgain(value, text)).toBe(spell(value));
      }),
      { numRuns: 2_000 },
    );
  });
});

const averageUnit = 10n ** 6n;
const steps = ["0.1", "0.001", "0.5", "0.00000001", "1", "25", "0.0000000000001"];

describe("The record of an order with executions", () => {
  it.each(["quote_notional", "base", "contracts"] as const)(
    "has the average and the sum of its fills, cut as bigints are: %s",
    (unit) => {
      const { profile } = createContract({ order: { szUnit: { SPOT: "base", SWAP: unit } } });
      const fill = fc.record({
        px: fc.oneof(fc.constantFrom(600_000, 600_001), fc.integer({ min: 1, max: 2 ** 40 })),
        lots: fc.integer({ min: 1, max: 2 ** 20 }),
      });
      const products = fc.record({
        tickSize: fc.constantFrom(...steps),
        lotSize: fc.constantFrom("1", "0.00001", "0.001", "10"),
        contractValue: fc.constantFrom("1", "0.01", "100"),
      });
      fc.assert(
        fc.property(products, fc.array(fill, { minLength: 1, maxLength: 3 }), (listing, fills) => {
          const product = createProduct({ instId: "BTC-USDT-SWAP", ...listing });
          const order = {
            product,
            unit,
            sign: 1,
            px: 0,
            szText: "1",
            cost: 0n,
            state: "filled",
            done: 0,
            paidPx: 0,
            value: 0n,
          } as unknown as Order;
          for (const { px, lots } of fills) {
            order.paidPx = order.done === 0 || order.paidPx === px ? px : Number.NaN;
            order.done += lots;
            order.value += BigInt(px) * BigInt(lots) * product.cell;
          }
          const base = BigInt(order.done) * product.lot;
          const filled = { quote_notional: order.value, base, contracts: (base * one) / product.contractValue }[unit];
          const average = ((order.value * one) / base / averageUnit) * averageUnit;
          expect(orderRecordOf(order, profile)).toMatchObject({ avgPx: spell(average), accFillSz: spell(filled) });
        }),
        { numRuns: 1_000 },
      );
    },
  );
});
