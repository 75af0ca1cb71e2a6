/** Slips that would otherwise go unnoticed until they cost money. */
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { backtest } from "../../../src/backtest.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { createEngine, type WantedOrder } from "../../../src/index.ts";
import { createOrders } from "../../../src/orders/manual-orders.ts";
import { takeWanted } from "../../../src/orders/wanted-set.ts";
import { strategy } from "../../support/harness/backtest.ts";
import { createRig } from "../../support/harness/orders.ts";

const order = { slot: "a", instId: "BTC-USDT-SWAP", side: "buy", px: "1", notional: "100" };

describe("A user's mistake", () => {
  it("in the name of an order's field ends the strategy and names the field", () => {
    expect(() => takeWanted("mine", [{ ...order, keepWthin: "5" }])).toThrow(
      /order "a" with the unknown field "keepWthin"\. Did you mean "keepWithin"\?/,
    );
    expect(() => takeWanted("mine", [{ ...order, price: "5" }])).toThrow(
      /order "a" with the unknown field "price"\. Did you mean "px"\?$/,
    );
    expect(
      takeWanted("mine", [{ ...order, keepWithin: "5", reduceOnly: true, round: 1, tag: "t" }]).orders,
    ).toHaveLength(1);
  });

  it.each([
    [{ sde: "buy" }, /unknown condition "sde"\. Did you mean "side"\?/],
    [{ side: "byu" }, /side "byu" is neither/],
  ])("in a cancel's conditions cancels nothing: %j", (where, message) => {
    const rig = createRig({});
    const orders = createOrders(rig.orderManager, "mine", rig.clock);
    expect(() => orders.cancel(where as never)).toThrow(message);
  });

  it.each([
    [{ order: { szUnit: { SPOTT: "base" } } }, /szUnit: unknown key "SPOTT"\. Did you mean "SPOT"\?/],
    [{ order: { szUnit: { SPOT: "bse" } } }, /szUnit\.SPOT: "bse" is not one of .*Did you mean "base"\?/],
    [{ order: { feeSign: "x" } }, /feeSign: "x" is not one of/],
  ])("in a word of the profile is refused: %j", (overrides, message) => {
    expect(() => createContract(overrides as never)).toThrow(message);
  });

  it("in half of a pair keeps the other half", () => {
    expect(createContract({ order: { szUnit: { SPOT: "base" } } } as never).profile.order.szUnit).toEqual({
      SPOT: "base",
      SWAP: "quote_notional",
    });
  });

  it("in the kind of service says which command to use, instead of waiting for ever", () => {
    const idle = strategy("idle", { wanted: () => concat(of([] as WantedOrder[]), NEVER) });
    expect(() => createEngine({ service: backtest({ fixture: "test/fixtures/demo" }), strategies: [idle] })).toThrow(
      /sluice backtest.*paper/,
    );
  });
});
