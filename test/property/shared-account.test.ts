/**
 * Three strategies on one account, in any order of entries and exits, over a road that loses and delays calls and through books that
 * are thin: no exit opens or turns the position of its own strategy, and with exits alone wanted in the end everybody is flat.
 *
 * The service's own fills, in their order and summed up by strategy, say what each holds.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { add, compare, isZero, neg, sum } from "../../src/decimal.ts";
import type { WantedOrder } from "../../src/orders/wanted-order.ts";
import { type Fault, lostAnswer, lostRequest, type Rig, ready, swap } from "../support/harness/orders.ts";

type Side = "buy" | "sell";
const other = (side: Side): Side => (side === "buy" ? "sell" : "buy");

const kinds = [
  "nothing",
  "enter",
  "enter deep",
  "exit",
  "exit too much",
  "take profit",
  "both",
  "enter and protect",
  "two targets",
] as const;
type Kind = (typeof kinds)[number];

const entry = (side: Side, round: number, over: Partial<WantedOrder> = {}): WantedOrder => ({
  slot: "in",
  instId: swap,
  side,
  ordType: "market",
  qty: "0.01",
  round,
  ...over,
});
const exit = (side: Side, round: number, over: Partial<WantedOrder> = {}): WantedOrder => ({
  ...entry(other(side), round),
  slot: "out",
  reduceOnly: true,
  ...over,
});
const target = (side: Side, round: number, over: Partial<WantedOrder> = {}): WantedOrder =>
  exit(side, round, { slot: "target", ordType: "limit", px: side === "buy" ? "60030" : "59970", ...over });

const setOf = (kind: Kind, side: Side, round: number): readonly WantedOrder[] => {
  const deep = entry(side, round, { slot: "deep", ordType: "limit", px: side === "buy" ? "59980" : "60020" });
  switch (kind) {
    case "nothing":
      return [];
    case "enter":
      return [entry(side, round)];
    case "enter deep":
      return [deep];
    case "exit":
      return [exit(side, round)];
    case "exit too much":
      return [exit(side, round, { qty: "0.05" })];
    case "take profit":
      return [target(side, round)];
    case "both":
      return [target(side, round), exit(side, round, { qty: "0.004" })];
    case "enter and protect":
      return [deep, target(side, round), exit(side, round, { qty: "0.007" })];
    case "two targets":
      return [target(side, round, { qty: "0.006" }), target(side, round, { slot: "target2", qty: "0.006" })];
  }
};

const late: Fault = { outMs: 12_000 };
const faults: Readonly<Record<string, Fault>> = { request: lostRequest, answer: lostAnswer, late };
const names = ["a", "b", "c"] as const;

const step = fc.record({
  who: fc.constantFrom(...names),
  kind: fc.constantFrom(...kinds),
  ms: fc.constantFrom(0, 20, 45, 90, 400, 400, 3_000),
  mid: fc.integer({ min: -40, max: 40 }),
  lots: fc.constantFrom(3, 7, 100_000),
  fault: fc.constantFrom(undefined, undefined, undefined, "request", "answer", "late"),
  at: fc.constantFrom("placeOrder" as const, "cancelBatch" as const),
});

const show = (rig: Rig, mid: number, lots: number): void => {
  rig.venue.quote(swap, 600_000 + mid * 10, lots, 600_001 + mid * 10, lots, rig.clock.now());
};
const account = (rig: Rig): string =>
  rig.venue.truth("ann").positions.find(({ instId }) => instId === swap)?.pos ?? "0";

/** What each strategy holds by the service's fills; an exit that takes more is a failure. */
const books = (rig: Rig) => {
  const held = new Map<string, string>(names.map((name) => [name, "0"]));
  const orders = new Map<string, { readonly strategy: string; readonly isExit: boolean }>();
  const faults: string[] = [];
  let exits = 0;
  rig.orderManager.listen(({ clOrdId, strategy, spec }) => {
    if (spec !== undefined && !orders.has(clOrdId)) orders.set(clOrdId, { strategy, isExit: spec.reduceOnly });
  });
  rig.venue.onFill(({ clOrdId, side, qty }) => {
    const order = orders.get(clOrdId);
    if (order === undefined) throw new Error(`a fill of ${clOrdId}, which nobody sent`);
    const before = held.get(order.strategy) ?? "0";
    const after = add(before, side === "buy" ? qty : neg(qty));
    held.set(order.strategy, after);
    if (!order.isExit) return;
    exits++;
    const against = side === "sell" ? before : neg(before);
    if (compare(qty, against) > 0) faults.push(`${order.strategy} held ${before} when an exit did ${side} ${qty}`);
  });
  const netted = (): number =>
    rig.places().filter((body) => orders.get(body.clOrdId)?.isExit === true && !("reduceOnly" in body)).length;
  return { held, faults, exits: () => exits, netted };
};

describe("Exits of strategies that share an account", () => {
  it.each(["quote_notional", "base"] as const)("reduce what is their own, by sizes in %s", (unit) => {
    let executed = 0;
    let netted = 0;
    const sides = fc.tuple(
      fc.constantFrom<Side>("buy", "sell"),
      fc.constantFrom<Side>("buy", "sell"),
      fc.constantFrom<Side>("buy", "sell"),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 6, maxLength: 20 }), sides, fc.boolean(), (steps, directions, push) => {
        const rig = ready({ push, profile: { order: { szUnit: { SPOT: unit, SWAP: unit } } } });
        const { held, faults: wrong, exits, netted: withoutFlag } = books(rig);
        const side = (who: string): Side => directions[names.indexOf(who as "a")] as Side;
        show(rig, 0, 100_000);
        // Each has traded once: what it holds is known from then on.
        for (const who of names) rig.orderManager.want(who, [entry(side(who), -1, { qty: "0.002" })]);
        rig.run(3_000);
        for (const [round, { who, kind, ms, mid, lots, fault, at }] of steps.entries()) {
          if (fault !== undefined) rig.next(at, faults[fault] as Fault);
          rig.setMarketPx(`${60_000 + mid}`);
          show(rig, mid, lots);
          rig.orderManager.want(who, setOf(kind, side(who), round));
          rig.run(ms);
          expect(wrong).toEqual([]);
          expect(sum([...held.values(), neg(account(rig))])).toBe("0");
        }
        rig.setMarketPx("60000");
        for (const who of names) rig.orderManager.want(who, [exit(side(who), 1_000, { qty: "5" })]);
        for (let second = 0; second < 400; second++) {
          show(rig, 0, 100_000);
          rig.run(1_000);
        }
        expect(wrong).toEqual([]);
        for (const who of names) {
          expect(`${who} ${rig.orderManager.positions.of(who, swap).qty} ${held.get(who)}`).toBe(`${who} 0 0`);
        }
        expect(isZero(account(rig))).toBe(true);
        expect(rig.resting()).toEqual([]);
        executed += exits();
        netted += withoutFlag();
      }),
      { numRuns: 80 },
    );
    expect(executed).toBeGreaterThan(netted);
    expect(netted).toBeGreaterThan(100);
  });
});
