/** What a strategy sees of its own position while it trades: at once, as a stream, and nothing of another strategy's. */

import { NEVER, Subject } from "rxjs";
import { expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { equityStream, positionsOf } from "../../../src/engine/strategy-streams.ts";
import type { Position } from "../../../src/index.ts";
import { Positions } from "../../../src/orders/positions.ts";
import { builtOrder } from "../../support/built-orders.ts";

import { swap } from "../../support/harness/orders.ts";

const setup = () => {
  const clock = createVirtualClock(0);
  const prices = new Subject<string>();
  let mark = "100";
  prices.subscribe((px) => {
    mark = px;
  });
  const profile = createContract({ order: { szUnit: { SPOT: "base", SWAP: "base" } } }).profile;
  const positions = new Positions({ profile, instruments: () => new Map(), marketPx: () => mark });
  const bought = (strategy: string, accFillSz: string): void => {
    const spec = { instId: swap, side: "buy", ordType: "market", px: "", sz: "2", reduceOnly: false } as const;
    const wanted = { slot: "x", instId: swap, side: "buy", qty: "2" } as const;
    const order = builtOrder({
      strategy,
      slot: "x",
      clOrdId: `${strategy}${accFillSz}`,
      wanted,
      spec,
      phase: "filled",
      record: { avgPx: "100", accFillSz, fee: "-0.1" },
    });
    const fill = positions.take(order, strategy);
    if (fill !== undefined) positions.tell(strategy);
  };
  return { clock, positions, bought, prices };
};

it("Streams of a strategy give the state first, one value a fill, and its profit as prices change, once a second", () => {
  const { clock, positions, bought, prices } = setup();
  const own = positionsOf(positions, "s", clock, () => prices, NEVER);
  const seen: (string | undefined)[] = [];
  const profits: (string | undefined)[] = [];
  const all: (string | undefined)[] = [];
  own.positions$.subscribe((map: ReadonlyMap<string, Position>) => seen.push(map.get(swap)?.qty));
  own.equity$.subscribe((map) => profits.push(map.get("USDT")));
  const ending = equityStream(clock, positions, () => prices).subscribe((map) => all.push(map.get("USDT")));
  bought("s", "2");
  expect(own.position(swap)).toMatchObject({ qty: "2", avgPx: "100", markPx: "100", fees: "0.1", profit: "-0.1" });
  bought("t", "1");
  expect(own.position(swap).qty).toBe("2");
  clock.advanceTo(5_000);
  for (const px of ["101", "101.5"]) prices.next(px);
  clock.advanceTo(5_000);
  for (const px of ["103", "102"]) prices.next(px);
  clock.advanceTo(5_999);
  expect(profits).toEqual([undefined, "-0.1", "2.9"]);
  clock.advanceTo(6_000);
  prices.next("102");
  clock.advanceTo(10_000);
  expect(seen).toEqual([undefined, "2"]);
  expect(profits).toEqual([undefined, "-0.1", "2.9", "3.9"]);
  expect(all).toEqual([undefined, "-0.1", "-0.2", "4.3", "5.8"]);
  ending.unsubscribe();
});

it("A stream of profit sets no timer and follows no price while nothing is held, or no price changes", () => {
  const { clock, positions, bought, prices } = setup();
  const ending = equityStream(clock, positions, () => prices.asObservable()).subscribe();
  expect(clock.pending).toBe(0);
  bought("s", "2");
  expect(clock.pending).toBe(0);
  prices.next("101");
  prices.next("102");
  expect(clock.pending).toBe(1);
  ending.unsubscribe();
  expect(clock.pending).toBe(0);
});
