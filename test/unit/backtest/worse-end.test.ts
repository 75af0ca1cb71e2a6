/** Which end of a bar is worse for an account, and a pessimistic path against the shortest over random bars and positions. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isLowWorse } from "../../../src/backtest/worse-end.ts";
import type { PathExit } from "../../../src/client/service-port.ts";
import { createContract } from "../../../src/contract/contract.ts";
import { type Decimal, read, spell } from "../../../src/decimal-value.ts";
import type { Protect } from "../../../src/index.ts";
import { exitOf } from "../../../src/orders/protection/protect.ts";
import { Protection } from "../../../src/orders/protection/protection.ts";

const instId = "BTC-USDT-SWAP";
const tick = read("1");
const { profile } = createContract();
const text = (px: Decimal | undefined): string | undefined => (px === undefined ? undefined : spell(px));

type BarAhead = Parameters<typeof isLowWorse>[0];

const held = (entry: "buy" | "sell", protect: Protect, qty = "1"): PathExit => {
  const name = { strategy: "s", name: "one", instId, scope: "order", exitSlot: "one.exit" } as const;
  const protection = new Protection(name, exitOf(entry), protect, profile);
  protection.entered({ clOrdId: "a", filled: read(qty), value: read(String(100 * Number(qty))) });
  protection.see({ px: "100", low: "100", high: "100", since: 0 }, tick);
  return {
    side: protection.side,
    qty,
    stopPx: text(protection.currentStop(tick)?.px),
    takeProfitPx: text(protection.takeProfitPx(tick)),
    exitOn: (path) => protection.exitOn(path, tick),
  };
};

const bar = (rest: Partial<BarAhead> = {}): BarAhead => ({
  px: "100",
  low: "90",
  high: "110",
  close: "100",
  bidPx: undefined,
  askPx: undefined,
  ...rest,
});

describe("The worse end of a bar", () => {
  it.each<[string, BarAhead, readonly PathExit[], "low" | "high" | undefined]>([
    ["nothing is held and nothing rests", bar(), [], undefined],
    ["only a buy rests", bar({ bidPx: "95" }), [], "high"],
    ["only a sell rests", bar({ askPx: "105" }), [], "low"],
    ["orders rest on both sides", bar({ bidPx: "95", askPx: "105" }), [], undefined],
    ["orders rest beyond the bar", bar({ bidPx: "89", askPx: "105" }), [], "low"],
    ["a long has stop and target", bar(), [held("buy", { stopLoss: "92", takeProfit: "108" })], "low"],
    ["a short has stop and target", bar(), [held("sell", { stopLoss: "108", takeProfit: "92" })], "high"],
    ["a long has a target alone", bar(), [held("buy", { takeProfit: "108" })], "low"],
    ["a short has a target alone", bar(), [held("sell", { takeProfit: "92" })], "high"],
    ["a long trails, reached as it stands", bar(), [held("buy", { trailing: { by: "5" } })], "low"],
    ["a short trails, reached as it stands", bar(), [held("sell", { trailing: { by: "5" } })], "high"],
    [
      "a long trails, reached after the high alone, below the close",
      bar({ low: "97", close: "109" }),
      [held("buy", { trailing: { by: "5" } })],
      "high",
    ],
    [
      "a long's stop and target count more than a buy that rests",
      bar({ bidPx: "95" }),
      [held("buy", { stopLoss: "92", takeProfit: "108" })],
      "low",
    ],
    [
      "a long with a stop has an exit and a second entry that rest",
      bar({ bidPx: "91", askPx: "108", close: "95" }),
      [held("buy", { stopLoss: "92" })],
      "low",
    ],
    [
      "two positions are opposite and as large",
      bar(),
      [held("buy", { stopLoss: "92", takeProfit: "108" }), held("sell", { stopLoss: "108", takeProfit: "92" })],
      undefined,
    ],
  ])("where %s", (_, ahead, exits, end) => {
    expect(isLowWorse(ahead, exits)).toBe(end === undefined ? undefined : end === "low");
  });

  it("leaves no more money than the other one, counted price by price", () => {
    const distance = fc.integer({ min: 1, max: 12 });
    const protect = fc
      .record(
        { stop: distance, profit: distance, trail: distance, entry: fc.constantFrom("buy" as const, "sell" as const) },
        { requiredKeys: ["entry"] },
      )
      .filter(({ stop, profit, trail }) => stop !== undefined || profit !== undefined || trail !== undefined);
    const position = fc.tuple(protect, fc.integer({ min: 1, max: 5 }));
    const range = fc.record({ down: fc.nat(15), up: fc.nat(15), close: fc.nat(30) });
    fc.assert(
      fc.property(fc.array(position, { minLength: 1, maxLength: 4 }), range, (positions, { down, up, close }) => {
        const [low, high] = [100 - down, 100 + up];
        const end = Math.min(high, low + close);
        const money = (path: readonly number[]): number =>
          positions.reduce((all, [one, qty]) => all + qty * stepped(one, path), 0);
        const exits = positions.map(([{ stop, profit, trail, entry }, qty]) =>
          held(
            entry,
            {
              ...(stop !== undefined && { stopLoss: { by: String(stop) } }),
              ...(profit !== undefined && { takeProfit: { by: String(profit) } }),
              ...(trail !== undefined && { trailing: { by: String(trail) } }),
            },
            String(qty),
          ),
        );
        const asked = isLowWorse(bar({ low: String(low), high: String(high), close: String(end) }), exits);
        const [lowFirst, highFirst] = [money([low, high, end]), money([high, low, end])];
        if (lowFirst !== highFirst) expect(asked).toBe(lowFirst < highFirst);
      }),
      { numRuns: 500 },
    );
  });
});

interface Distances {
  readonly stop?: number;
  readonly profit?: number;
  readonly trail?: number;
  readonly entry: "buy" | "sell";
}

/** Profit of one unit entered at 100, by walking the path tick by tick. */
const stepped = ({ stop, profit, trail, entry }: Distances, path: readonly number[]): number => {
  const sign = entry === "buy" ? 1 : -1;
  let [px, best] = [0, 0];
  for (const to of path.map((price) => sign * (price - 100))) {
    for (; ; px += Math.sign(to - px)) {
      best = Math.max(best, px);
      if (stop !== undefined && px <= -stop) return px;
      if (trail !== undefined && px <= best - trail) return px;
      if (profit !== undefined && px >= profit) return px;
      if (px === to) break;
    }
  }
  return px;
};
