/**
 * What a wanted order becomes in the service's terms is worked out again whenever that may have changed.
 */
import { expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { InstrumentRecord } from "../../../src/contract/schemas.ts";
import { Specifications } from "../../../src/orders/specifications.ts";
import { bid, ready, swap } from "../../support/harness/orders.ts";

const listed: InstrumentRecord = {
  instId: swap,
  instType: "SWAP",
  baseCurrency: "BTC",
  quoteCurrency: "USDT",
  settleCurrency: "USDT",
  tickSize: "0.1",
  lotSize: "0.001",
  minSize: "0.001",
  contractValue: "1",
  maxLeverage: "100",
  state: "live",
} as InstrumentRecord;

const rigged = () => {
  const now = { instrument: listed, px: "60000" };
  const specifications = new Specifications({
    contract: createContract(),
    instruments: () => new Map([[swap, now.instrument]]),
    marketPx: () => now.px,
    prices: {},
  });
  const pxOf = (wanted: ReturnType<typeof bid>): string => {
    const specified = specifications.compare(wanted);
    return specified.ok ? specified.spec.px : specified.reason;
  };
  return { now, specifications, pxOf };
};

it("The same wanted order becomes the same by the same instrument, and is known when it is placed", () => {
  const { specifications } = rigged();
  const wanted = bid({ px: "59000.17" });
  expect(specifications.known(wanted, listed, undefined)).toBeUndefined();
  const specified = specifications.compare(wanted);
  expect(specified).toMatchObject({ ok: true, spec: { px: "59000.1" } });
  expect(specifications.compare(wanted)).toBe(specified);
  expect(specifications.known(wanted, listed, undefined)).toBe(specified);
  expect(specifications.known(bid({ px: "59000.17" }), listed, undefined)).toBeUndefined();
});

it("Rules that changed meanwhile are those that count", () => {
  const { now, specifications, pxOf } = rigged();
  const wanted = bid({ px: "59000.17" });
  expect(pxOf(wanted)).toBe("59000.1");
  now.instrument = { ...listed, tickSize: "1" };
  expect(specifications.known(wanted, now.instrument, undefined)).toBeUndefined();
  expect(pxOf(wanted)).toBe("59000");
});

it("A price that moved meanwhile is the one that counts where the order rests behind it", () => {
  const { now, pxOf } = rigged();
  const wanted = bid({ px: "60010", ordType: "post_only", cross: "touch" });
  expect(pxOf(wanted)).toBe("59999.9");
  now.px = "60005";
  expect(pxOf(wanted)).toBe("60004.9");
});

it("A replaced order is placed by the rules that hold once its predecessor is canceled", () => {
  const rig = ready();
  rig.want(bid());
  rig.run();
  rig.want(bid({ px: "59000.1" }));
  rig.run();
  expect(rig.places().map(({ px }) => px)).toEqual(["60000", "59000.1"]);
});

it("The number of open orders is passed on when it changes, and not with every change of an order", () => {
  const rig = ready();
  rig.want(bid());
  rig.run();
  rig.want();
  rig.run();
  expect(rig.phases("bid")).toContain("canceling");
  expect(rig.openCounts.filter((count, index, all) => count === all[index - 1])).toEqual([]);
  expect(rig.openCounts.at(-1)).toBe(0);
});
