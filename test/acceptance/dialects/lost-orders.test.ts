/** Lost, spoiled and doubled answers to placements and cancels, whatever is spoken on the wire: one order is wanted, one order there is. */
import { describe, it } from "vitest";
import type { FaultPlan } from "../../../src/venue/server/faults.ts";
import { instId, traded, variants } from "../../support/harness/dialect-trading.ts";

const patience = { timeout: 45_000, interval: 10 };
/** Lost requests are not among them: that an order is nowhere takes a minute to prove, and is tested on the virtual clock. */
const kinds = ["drop_response", "truncated", "html", "json", "duplicate"] as const;

/** What a fault of the kind needs to be told. */
const parts: Partial<Record<(typeof kinds)[number], object>> = { json: { status: 200, body: {} }, html: { status: 502 } };

const rule = (kind: (typeof kinds)[number], endpoint: string) => ({ kind, endpoint, count: 2, ...parts[kind] });
const cases = Object.keys(variants).flatMap((name) => kinds.map((kind) => [name, kind] as const));

describe("An order at", () => {
  // Beside each other, as each waits for answers that do not come.
  it.concurrent.for(cases)(
    "%s whose placement and cancel meet %s is there once, and then gone",
    async ([name, kind], { expect, onTestFinished }) => {
      const t = await traded(name, onTestFinished, { http: [rule(kind, "placeOrder"), rule(kind, "cancelBatch")] } as FaultPlan);
      t.quote(599_990, 600_010);
      await t.engine.start();
      t.quote(599_990, 600_010);
      t.wanted$.next([{ slot: "bid", instId, side: "buy", px: "59000", qty: "0.025" }]);
      const open = () => t.orders().filter(({ state }) => state === "live");
      const phases = () => t.updates.map(({ phase }) => phase);
      await expect.poll(() => phases().at(-1), patience).toMatch(/acked|live/);
      expect(open()).toEqual([{ side: "buy", ordType: "limit", px: "59000", size: "0.025", state: "live", avgPx: "", filled: "0" }]);
      t.wanted$.next([]);
      await expect.poll(() => phases().at(-1), patience).toBe("canceled");
      expect(t.orders().map(({ state }) => state)).toEqual(["canceled"]);
      expect(t.money()).toMatchObject({ equity: "100000", positions: 0, balances: [{ available: "100000" }] });
    },
  );
});
