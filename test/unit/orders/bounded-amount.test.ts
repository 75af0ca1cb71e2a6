/** Market orders that are sized by an amount and may not execute more than their quantity, whatever the price does on the way. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import { compare, div, mul, sub, toStep } from "../../../src/decimal.ts";
import { spell } from "../../../src/decimal-value.ts";
import { specify } from "../../../src/orders/wanted-order.ts";
import { swap } from "../../support/harness/orders.ts";

describe("A market order that may not execute more than its quantity", () => {
  const { profile } = createContract();
  const instrument = { instId: swap, tickSize: "0.1", lotSize: "0.001" };

  it.each([1, 2, 9, 10, 24, 25, 100, 999, 1_000, 1_001, 20_000, 1_000_000])(
    "stays within %i lots while the price moves by 2 %%",
    (lots) => {
      const qty = mul(String(lots), "0.001");
      const wanted = { slot: "x", instId: swap, side: "sell", ordType: "market", qty } as const;
      const made = specify(wanted, instrument, profile, "60000", { sizing: "bounded" });
      if (!made.ok) throw new Error(made.reason);
      expect(made.baseQty === undefined ? undefined : spell(made.baseQty)).toBe(qty);
      const executed = (px: string): string => toStep(div(made.spec.sz, px, 12), "0.001", "down");
      expect(compare(executed("58800.1"), qty)).not.toBe(1);
      // At its own price it leaves no more than 2 % and a lot.
      expect(compare(sub(qty, executed("60000")), toStep(mul(qty, "0.02"), "0.001", "up"))).not.toBe(1);
    },
  );
});

it.each([
  ["60000.04", "60000.0", true],
  ["60000.04", "60000.1", false],
  ["60000.14", "60000.1", true],
  ["60000.04", "", false],
])("An order wanted at %s is converted if only %s is of interest: %s", (px, onlyAt, isConverted) => {
  const wanted = { slot: "x", instId: swap, side: "buy", px, qty: "1" } as const;
  const { profile } = createContract();
  const instrument = { instId: swap, tickSize: "0.1", lotSize: "0.001" };
  const whole = specify(wanted, instrument, profile, undefined);
  const made = specify(wanted, instrument, profile, undefined, { onlyAt });
  expect(made).toEqual(isConverted ? whole : expect.objectContaining({ ok: false }));
});
