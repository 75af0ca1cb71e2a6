/** Market orders that a quote triggers are sized by this quote, not by the one before, whoever subscribed to the quotes first. */
import { concat, map, NEVER, of, scan, timer } from "rxjs";
import { expect, it } from "vitest";
import { defineStrategy } from "../../../src/index.ts";
import { type StrategyTest, testStrategy } from "../../../src/testing.ts";

const instId = "BTC-USDT-SWAP";
const none = { type: "object", additionalProperties: false, properties: {} } as const;
const side = "buy";

const show = (t: StrategyTest, bidPx: number): void => t.quote(instId, { bidPx: `${bidPx}`, askPx: `${bidPx + 0.1}` });
const filled = (t: StrategyTest): readonly string[] => t.fills.map(({ side: way, qty, px }) => `${way} ${qty} ${px}`);

it("A market order of a strategy that follows quotes is sized by the quote it acts on", async () => {
  const eachQuote = defineStrategy({
    name: "each-quote",
    options: none,
    wanted: ({ market }) =>
      market.quotes(instId).pipe(
        scan((count) => count + 1, 0),
        map((count) => [{ slot: `q${count}`, instId, side, ordType: "market" as const, qty: "0.01" }]),
      ),
  });
  const t = await testStrategy(eachQuote({}));
  for (const px of [60_000, 50_000, 70_000]) {
    show(t, px);
    await t.advance(1_000);
  }
  expect(filled(t)).toEqual(["buy 0.01 60000.1", "buy 0.01 50000.1", "buy 0.01 70000.1"]);
  await t.stop();
});

it("A stop is sized by the quote that triggers it, where its position was protected before any price was asked for", async () => {
  const entry = { slot: "in", instId, side, px: "60000", qty: "0.1", protect: { stopLoss: "59000" } } as const;
  const later = { slot: "more", instId, side, ordType: "market", qty: "0.01" } as const;
  const held = defineStrategy({
    name: "held",
    options: none,
    wanted: () => concat(of([entry]), timer(5_000).pipe(map(() => [entry, later])), NEVER),
  });
  const t = await testStrategy(held({}));
  show(t, 60_001);
  await t.advance(1_000);
  show(t, 59_990);
  await t.advance(10_000);
  show(t, 50_000);
  await t.advance(1_000);
  expect(filled(t)).toEqual(["buy 0.1 60000", "buy 0.01 59990.1", "sell 0.1 50000"]);
  expect(t.position(instId)).toBe("0.01");
  await t.stop();
});
