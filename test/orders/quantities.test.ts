/**
 * Quantities in base currency, in whatever unit the service counts sizes: what was wanted is what is placed.
 */
import { describe, expect, it } from "vitest";
import { ready } from "./rig.ts";

describe("orders by quantity on services that count contracts", () => {
  it("trade a tenth of a contract", () => {
    // A contract of ten coins, traded by hundredths of a coin.
    const rig = ready({ profile: { order: { szUnit: { SPOT: "base", SWAP: "contracts" } } } });
    rig.want({ slot: "b", instId: "ETH-USDT-SWAP", side: "buy", px: "3000", qty: "0.03" });
    rig.run();
    expect(rig.places().map(({ sz }) => sz)).toEqual(["0.3"]);
    expect(rig.truth().map(({ sz, state }) => `${sz} ${state}`)).toEqual(["0.3 live"]);
  });
});
