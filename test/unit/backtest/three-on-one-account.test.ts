/** Three strategies of different kinds on one account for an hour: each exit closes its own strategy's position, and none is rejected. */
import { combineLatest, filter, map, type Observable, scan } from "rxjs";
import { describe, expect, it } from "vitest";
import { abs, compare, isZero } from "../../../src/decimal.ts";
import { add, type Strategy, sub } from "../../../src/index.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { type Context, recorder, run, strategy, swap } from "../../support/harness/backtest.ts";

const eth = "ETH-USDT-SWAP";
const barMs = 10_000;

type Direction = "up" | "down" | "flat";

/** A strategy that is long, short or flat as its signal says: market entries, and reduce-only exits at the market. */
const swinging = (
  name: string,
  legs: readonly { readonly instId: string; readonly qty: string; readonly against?: true }[],
  of: Signal,
): Strategy =>
  strategy(name, {
    wanted: (context) =>
      of(context).pipe(
        scan(
          ({ now, last, round }, signal) =>
            signal === now
              ? { now, last, round }
              : { now: signal, last: now === "flat" ? last : now, round: round + 1 },
          { now: "flat" as Direction, last: "flat" as Direction, round: 0 },
        ),
        map(({ now, last, round }) =>
          legs.flatMap(({ instId, qty, against }): WantedOrder[] => {
            const isExit = now === "flat";
            const way = isExit ? last : now;
            if (way === "flat") return [];
            const buys = ((way === "up") === (against !== true)) === !isExit;
            const order = {
              slot: `${instId} ${isExit ? "out" : "in"}`,
              instId,
              side: buys ? "buy" : "sell",
              ordType: "market",
              qty,
              round,
            } as const;
            return [isExit ? { ...order, reduceOnly: true } : order];
          }),
        ),
      ),
  });

type Signal = (context: Context) => Observable<Direction>;

const closes = ({ market }: Context, instId: string) =>
  market.candles(instId, barMs).pipe(map(({ closeFloat }) => closeFloat));
const latest = (length: number) => (values: readonly number[], value: number) => [...values, value].slice(-length);

/** Standard deviations of the newest value from the mean of all. */
const score = (values: readonly number[]): number => {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviation = Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
  return deviation === 0 ? 0 : ((values.at(-1) as number) - mean) / deviation;
};
/** In beyond `far` against the movement, out again within `near` or beyond the mean. */
const reverting =
  (far: number, near: number) =>
  (now: Direction, z: number): Direction => {
    if (now === "flat") return z > far ? "down" : z < -far ? "up" : "flat";
    return (now === "down" ? z : -z) < near ? "flat" : now;
  };

const spread: Signal = (context) =>
  combineLatest([closes(context, swap), closes(context, eth)]).pipe(
    map(([a, b]) => Math.log(a / b)),
    scan(latest(20), []),
    filter(({ length }) => length === 20),
    scan((now, values) => reverting(1.2, 0.4)(now, score(values)), "flat" as Direction),
  );

const strength: Signal = (context) =>
  closes(context, swap).pipe(
    scan(latest(15), []),
    filter(({ length }) => length === 15),
    map((values) => {
      const moves = values.slice(1).map((value, index) => value - (values[index] as number));
      const ups = moves.reduce((sum, move) => sum + Math.max(move, 0), 0);
      const all = moves.reduce((sum, move) => sum + Math.abs(move), 0);
      return all === 0 ? 50 : (100 * ups) / all;
    }),
    scan((now, rsi) => reverting(18, 4)(now, rsi - 50), "flat" as Direction),
  );

const maker = strategy("maker", {
  wanted: ({ market }) =>
    market.quotes(swap).pipe(
      map(({ bidPx, askPx }) => [
        { slot: "bid", instId: swap, side: "buy" as const, px: sub(bidPx, "4"), qty: "0.004", keepWithin: "12" },
        { slot: "ask", instId: swap, side: "sell" as const, px: add(askPx, "4"), qty: "0.004", keepWithin: "12" },
      ]),
    ),
});

const qtyOf: Readonly<Record<string, string>> = {
  [`pairs ${swap}`]: "0.02",
  [`pairs ${eth}`]: "0.3",
  [`rsi ${swap}`]: "0.03",
};

describe("A pairs strategy beside one that follows momentum and a market maker", () => {
  it("is flat after each of its exits, and no exit of anybody is rejected", async () => {
    const { events, plugin } = recorder();
    const pairs = swinging(
      "pairs",
      [
        { instId: swap, qty: "0.02" },
        { instId: eth, qty: "0.3", against: true },
      ],
      spread,
    );
    const rsi = swinging("rsi", [{ instId: swap, qty: "0.03" }], strength);
    await run("test/fixtures/demo", [pairs, rsi, maker], { plugins: [plugin] });
    expect(
      events.flatMap((event) => (event.type === "order.changed" && event.phase === "rejected" ? [event.reason] : [])),
    ).toEqual([]);
    for (const [name, qty] of Object.entries(qtyOf)) {
      let held = "0";
      let exits = 0;
      let wasExit = true;
      for (const event of events) {
        if (event.type !== "fill" || `${event.strategy} ${event.instId}` !== name) continue;
        const isExit = event.slot.endsWith("out");
        // An entry finds nothing left by the exit before it.
        if (wasExit && !isExit) expect(held).toBe("0");
        const before = held;
        held = event.side === "buy" ? add(held, event.qty) : sub(held, event.qty);
        if (isExit) expect(sub(abs(before), abs(held))).toBe(event.qty);
        expect(compare(abs(held), qty)).not.toBe(1);
        if (isExit && isZero(held)) exits++;
        wasExit = isExit;
      }
      expect(exits).toBeGreaterThan(10);
    }
  });
});
