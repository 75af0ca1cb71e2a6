/** Limits that change at declared instants: which one holds for a call, and how an answer is read meanwhile. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../../src/contract/contract.ts";
import { FixedWindow } from "../../../../src/scheduler/quota/fixed-window.ts";
import { type Charge, type LayerSpec, layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { StatedLimit } from "../../../../src/scheduler/quota/learned-limit.ts";
import { createLedger, type Ledger } from "../../../../src/scheduler/quota/ledger.ts";
import { RollingWindow } from "../../../../src/scheduler/quota/rolling-window.ts";
import { fixedClock } from "../../../support/harness/fixed-clock.ts";

const never = Number.POSITIVE_INFINITY;
/** A minute of 1,200 that falls to 500 at 90 s of the service's clock, and is 800 from 200 s on. */
const layer: LayerSpec = {
  name: "uid",
  scope: "uid",
  unit: "weight",
  capacity: 1_200,
  changes: [
    { at: 200_000, capacity: 800 },
    { at: 90_000, capacity: 500 },
  ],
  windowMs: 60_000,
  anchor: "wall_clock",
  banMs: 0,
  header: { name: "used", kind: "used" },
};

describe("A limit with declared changes", () => {
  it.each([
    ["is as stated in a window that ends before the first change", 30_000, 60_000, 1_200, 90_000],
    ["falls as the window begins in which it falls", 60_000, 120_000, 500, 90_000],
    ["stays so after the change", 130_000, 180_000, 500, 200_000],
    ["rises only when the instant has passed", 199_999, 240_000, 500, 200_000],
    ["has risen at the instant", 200_000, 240_000, 800, never],
  ])("%s", (_, now, endsAt, capacity, changesAt) => {
    const limit = new StatedLimit(layer, fixedClock(0, 0));
    expect([limit.restate(now, endsAt), limit.spec.capacity, limit.changesAt]).toEqual([
      capacity !== 1_200,
      capacity,
      changesAt,
    ]);
    expect(limit.restate(now, endsAt)).toBe(false);
  });

  it("falls earlier and rises later by what the service's clock is in doubt", () => {
    const limit = new StatedLimit(layer, fixedClock(-100, 300));
    expect([limit.restate(80_000, 89_699), limit.restate(80_000, 89_700)]).toEqual([false, true]);
    expect([limit.restate(200_099, 240_000), limit.restate(200_100, 240_000)]).toEqual([false, true]);
    expect(limit.changesAt).toBe(never);
  });

  it("is the lowest of all until the first `Date` arrives", () => {
    const limit = new StatedLimit(layer, fixedClock(-never, never, false));
    expect([limit.restate(0, 60_000), limit.spec.capacity, limit.inForce(0, 10)]).toEqual([true, 500, undefined]);
  });

  it("was one limit between two instants, or it is not known which", () => {
    const limit = new StatedLimit(layer, fixedClock(-10, 10));
    expect([
      limit.inForce(0, 89_989),
      limit.inForce(0, 89_990),
      limit.inForce(90_009, 90_020),
      limit.inForce(90_010, 90_020),
      limit.inForce(300_000, 300_010),
    ]).toEqual([1_200, undefined, undefined, 500, 800]);
  });

  it("never changes where none is declared", () => {
    const { changes: _, ...plain } = layer;
    const limit = new StatedLimit(plain, fixedClock(0, 0));
    expect([limit.restate(90_000, 120_000), limit.inForce(0, 300_000), limit.changesAt]).toEqual([false, 1_200, never]);
  });
});

describe("Windows of such a limit", () => {
  it("hold what is declared, measured and on the floor, and forget what was learned of the limit before", () => {
    const gauge = new FixedWindow(layer, "u", fixedClock(0, 0));
    gauge.restate(30_000);
    expect([gauge.capacity, gauge.changesAt]).toEqual([1_200, 90_000]);
    gauge.restate(60_000);
    expect([gauge.capacity, gauge.spec.capacity]).toEqual([500, 500]);
    for (const at of [61_000, 62_000]) gauge.noteUnexplained(at, at + 10);
    expect([gauge.mode, gauge.capacity]).toEqual(["floor", 475]);
    gauge.restate(200_000);
    expect([gauge.mode, gauge.capacity]).toEqual(["floor", 760]);
  });

  it("hold no more than is declared for a window's length ahead, where they slide", () => {
    const gauge = new RollingWindow(layer, "u", 0, fixedClock(0, 0));
    gauge.restate(29_999);
    expect(gauge.capacity).toBe(1_200);
    gauge.restate(30_000);
    expect([gauge.capacity, gauge.changesAt, gauge.limitBetween(0, 10)]).toEqual([500, 90_000, 1_200]);
  });

  it("give exits way again after a part of the new limit, not of the one before, was spent at once", () => {
    const gauge = new RollingWindow(layer, "u", 0, fixedClock(0, 0));
    expect(gauge.paced(0)).toBe(never);
    gauge.begin(100, 0);
    expect(gauge.paced(0)).toBe(600);
    gauge.restate(30_000);
    gauge.begin(100, 60_000);
    expect(gauge.paced(60_000)).toBe(350);
  });
});

describe("The ledger", () => {
  const second = Date.UTC(2026, 10, 29, 8);
  const changes = [{ layer: "key", at: "2026-11-29T08:00:10Z", capacity: 6 }] as const;
  const charge: Charge = { endpoint: "getOrder", weight: 1, elements: 1, ip: "home", uid: "u", key: "k" };
  const send = (ledger: Ledger, at: number, left: number): void => {
    const ticket = ledger.spend(charge, at);
    const headers = { date: new Date(at).toUTCString(), "x-ratelimit-key-remaining": String(left) };
    ledger.settle(ticket, { status: 200, headers: { ...headers, "x-ratelimit-uid-weight-used": "1" } }, at + 10);
  };
  /** A ledger that knows the service's clock to 20 ms. */
  const warm = (): Ledger => {
    const layers = layersOf(createContract({ limits: { changes } }));
    const ledger = createLedger({ layers, startedAt: second, quietMs: 0, clock: { dateSlackMs: 0, driftPpm: 0 } });
    send(ledger, second + 2_990, 9);
    send(ledger, second + 3_001, 9);
    return ledger;
  };
  const granted = (ledger: Ledger, at: number): number => {
    let count = 0;
    while (count < 20 && ledger.ask(charge, "emergency", at).granted) {
      ledger.spend(charge, at);
      count++;
    }
    return count;
  };

  it("grants what is declared to hold in a second: ten before the change, six from then on", () => {
    expect([granted(warm(), second + 8_500), granted(warm(), second + 10_500)]).toEqual([10, 6]);
  });

  it.each([
    ["by the limit that was in force", 10_500, 4],
    ["not at all where the limit changed on the way", 9_995, 1],
  ])("reads what remains %s", (_, afterMs, expected) => {
    const ledger = warm();
    const at = second + afterMs;
    ledger.ask(charge, "exit", at);
    send(ledger, at, 2);
    const key = ledger.state(at + 10).find(({ layer: name }) => name === "key");
    expect(key?.used).toBe(expected);
  });
});
