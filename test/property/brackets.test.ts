/**
 * Any sequence of take-profits and stops, over a road that loses calls: where a stop is wanted last, nothing stays held in silence.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WantedOrder } from "../../src/orders/wanted-order.ts";
import { lostAnswer, lostRequest, type Rig, ready, swap } from "../support/harness/orders.ts";

const show = (rig: Rig, midTicks: number): void => {
  rig.venue.quote(swap, midTicks, 100_000, midTicks + 1, 100_000, rig.clock.now());
};
const position = (rig: Rig): string =>
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";

const entry: WantedOrder = { slot: "entry", instId: swap, side: "buy", ordType: "market", qty: "0.01" };
const exit = (slot: string, over: Partial<WantedOrder>): WantedOrder => ({
  slot,
  instId: swap,
  side: "sell",
  qty: "0.01",
  reduceOnly: true,
  ...over,
});
const stop = exit("sl", { ordType: "market" });

const sets: Readonly<Record<string, readonly WantedOrder[]>> = {
  nothing: [],
  "take-profit": [exit("tp", { px: "61000" })],
  "nearer take-profit": [exit("tp", { px: "60500" })],
  "half a take-profit": [exit("tp", { px: "61000", qty: "0.005" })],
  "two take-profits": [exit("tp", { px: "61000", qty: "0.006" }), exit("tp2", { px: "61500", qty: "0.004" })],
  "more than is held": [exit("tp", { px: "61000" }), exit("tp2", { px: "61500" })],
};

const step = fc.record({
  set: fc.constantFrom(...Object.keys(sets)),
  ms: fc.integer({ min: 0, max: 90 }),
  loses: fc.constantFrom(undefined, "request", "answer"),
  at: fc.constantFrom("placeOrder", "cancelBatch"),
});

describe("Bracket orders", () => {
  it("end flat once only the stop is wanted, whatever was wanted and lost before", () => {
    let waited = 0;
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 6 }), fc.boolean(), (steps, pushed) => {
        const rig = ready({ push: pushed });
        show(rig, 600_000);
        rig.want(entry);
        rig.run(3_000);
        for (const { set, ms, loses, at } of steps) {
          if (loses !== undefined) rig.next(at as "placeOrder", loses === "request" ? lostRequest : lostAnswer);
          rig.want(entry, ...(sets[set] ?? []));
          rig.run(ms);
        }
        rig.want(entry, stop);
        rig.run(2_000);
        // What was lost on the way may take the proof of absence; whoever looks at the events knows of it until then.
        if (position(rig) !== "0") waited++;
        rig.run(300_000);
        expect(position(rig)).toBe("0");
        expect(rig.resting()).toEqual([]);
        const told = rig.journalled("position.unprotected").length;
        expect(rig.journalled("position.protected").length).toBe(told);
      }),
      { numRuns: 60 },
    );
    expect(waited).toBeGreaterThan(0);
  });
});
