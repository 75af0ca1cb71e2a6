/** Page data on its way into a browser: what arrives is what was sent. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { unpack } from "../../../plugins/report-html/client/unpack.ts";
import { packed } from "../../../plugins/report-html/packing.ts";
import type { PageData } from "../../../plugins/ui-kit/page-data.ts";

/** Only what is asked about: the layout does not know what columns are of. */
const sent = async (value: unknown): Promise<unknown> => unpack(packed(value as PageData));

describe("Packed page data", () => {
  it("arrives as it was, columns and words", async () => {
    const value = {
      name: "a<b>&\u2028",
      none: Float64Array.of(),
      whole: Float64Array.of(0, -1, 1, 2 ** 50, -(2 ** 50)),
      prices: Float64Array.of(60_000.05, 60_000.1, 0.00000001),
      inner: [{ at: Float64Array.of(0.001, 86_400_000.123), text: ["x", ""] }],
    };
    expect(await sent(value)).toEqual(value);
  });

  it("keeps decimals of up to nine digits, whatever their order and sign", async () => {
    const decimals = fc.array(
      fc
        .tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 6 }))
        .map(([whole, digits]) => whole / 10 ** digits),
    );
    await fc.assert(
      fc.asyncProperty(decimals, async (values) => {
        const { column } = (await sent({ column: Float64Array.from(values) })) as { readonly column: Float64Array };
        expect([...column]).toEqual(values.map((value) => value + 0));
      }),
    );
  });

  it("is small: a million regular prices take less than two bytes each", () => {
    const count = 1_000_000;
    const at = Float64Array.from({ length: count }, (_, index) => index * 100);
    const close = Float64Array.from({ length: count }, (_, index) => 600_000 + Math.round(100 * Math.sin(index / 50)));
    expect(packed({ at, close } as unknown as PageData).length).toBeLessThan(2 * count);
  });
});
