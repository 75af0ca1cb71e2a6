import { describe, expect, it } from "vitest";
import { constant } from "../../../src/backtest.ts";
import { definePlugin, type Event } from "../../../src/index.ts";
import bands from "../../../strategies/bands.ts";
import { candleTape, closed, run, swap } from "../../support/harness/backtest.ts";

const liveOrders = async (closes: readonly number[], options: Parameters<typeof bands>[0]) => {
  const events: Event[] = [];
  const recorder = definePlugin({
    name: "recorder",
    options: closed,
    setup: ({ events$ }) => events$.subscribe((event) => events.push(event)),
  });
  const bars = closes.map((close) => [close, close + 5, close - 5, close]);
  await run(candleTape(bars), [bands(options)], { plugins: [recorder({})], latency: constant(10) });
  return events.flatMap((event) =>
    event.type === "order.changed" && event.phase === "live" && event.reason !== "replaced"
      ? [[event.slot, event.record?.side, Number(event.record?.px), event.record?.ordType, event.record?.sz]]
      : [],
  );
};

describe("The bands strategy", () => {
  it("offers at the mean less and plus so many deviations once there are enough bars, outward to the tick", async () => {
    // Closes 60000, 60100, 60200: mean 60100, deviation of the population 81.6497, so 59936.7 and 60263.3.
    const orders = await liveOrders([600_000, 601_000, 602_000, 602_000], {
      instId: swap,
      bars: 3,
      width: 2,
      notional: "90",
    });
    expect(orders.slice(0, 2)).toEqual([
      ["buy", "buy", 59_936.7, "post_only", "90"],
      ["sell", "sell", 60_263.3, "post_only", "90"],
    ]);
  });

  it("offers nothing before that, nor while nothing moves", async () => {
    expect(await liveOrders([600_000, 601_000], { bars: 3 })).toEqual([]);
    expect(await liveOrders([600_000, 600_000, 600_000, 600_000], { bars: 3 })).toEqual([]);
  });
});
