/** The door to the ledger of this process: leave is spent as it is granted, and every ending reaches the ledger. */
import { describe, expect, it } from "vitest";
import type { Charge } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger, type Ledger } from "../../../../src/scheduler/quota/ledger.ts";
import type { QuotaPort } from "../../../../src/scheduler/quota/port.ts";

const charge: Charge = { endpoint: "cancelBatch", weight: 1, elements: 1, ip: "home", uid: "u", key: "k" };
const ledgerOf = (): Ledger => {
  const layers = [
    {
      name: "own",
      scope: "uid",
      unit: "elements",
      capacity: 10,
      windowMs: 1_000,
      anchor: "sliding",
      banMs: 0,
    } as const,
  ];
  const ledger = createLedger({ layers, startedAt: 0, quietMs: 0, reserve: { keySlots: 0 }, clock: { driftPpm: 0 } });
  ledger.settle(
    ledger.spend({ ...charge, ip: "elsewhere" }, 0),
    { status: 200, headers: { date: "Mon, 05 Jan 2026 08:00:00 GMT" } },
    0,
  );
  return ledger;
};
const used = (ledger: Ledger, at: number): number => ledger.state(at)[0]?.used ?? -1;

describe("The quota port", () => {
  it("spends what it grants, as many elements as there is room for", () => {
    const ledger = ledgerOf();
    const port: QuotaPort = ledger;
    const lease = port.reserve([charge], "exit", 2_000, 7);
    expect(lease).toMatchObject({ granted: true, elements: 7, charge, expiresAt: Number.POSITIVE_INFINITY });
    expect(used(ledger, 2_000)).toBe(7);
    expect(port.reserve([charge], "exit", 2_000, 7)).toMatchObject({ granted: true, elements: 3 });
    // Only the bare minimum is asked for of a full layer, and nothing is spent on a no.
    expect(port.reserve([charge], "exit", 2_000, 7)).toMatchObject({ granted: false, why: "used", layer: "own" });
    expect(used(ledger, 2_000)).toBe(10);
  });

  it("tells the ledger of each ending", () => {
    const ledger = ledgerOf();
    const port: QuotaPort = ledger;
    const take = (elements: number) => {
      const lease = port.reserve([charge], "exit", 2_000, elements);
      if (lease instanceof Promise || !lease.granted) throw new Error("There was room.");
      return lease;
    };
    const [settled, lost, released, refused] = [take(1), take(2), take(3), take(4)];
    port.release(released);
    expect(used(ledger, 2_000)).toBe(7);
    expect(port.settle(settled, { status: 200, headers: {} }, 2_100)).toBeUndefined();
    port.lose(lost, 2_200);
    expect([used(ledger, 3_099), used(ledger, 3_100), used(ledger, 3_200)]).toEqual([7, 6, 4]);
    expect(port.settle(refused, { status: 429, headers: {} }, 3_300)).toBeGreaterThanOrEqual(3_300);
    expect([used(ledger, 4_299), used(ledger, 4_300)]).toEqual([4, 0]);
  });
});
