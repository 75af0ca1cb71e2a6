/** What a config can say about quota, seen in what leaves. */
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { constant, paper } from "../../../src/backtest.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { type Config, createEngine, type Event } from "../../../src/index.ts";
import { far, strategy, swap } from "../../support/harness/backtest.ts";

const placedAt = async (quota: NonNullable<Config["quota"]>, orders: number): Promise<number[]> => {
  const clock = createVirtualClock(1_700_000_000_000);
  const wanted = Array.from({ length: orders }, (_, index) => far(`s${index}`, "30000"));
  const engine = createEngine({
    service: paper({ clock, instruments: [swap], latency: constant(10) }),
    strategies: [strategy("many", { wanted: () => concat(of(wanted), NEVER) })],
    quota,
  });
  const sent: number[] = [];
  engine.events$.subscribe((event: Event) => {
    if (event.type === "action.sent" && event.endpoint === "placeOrder") sent.push(event.at);
  });
  const start = engine.start();
  const until = clock.now() + 120_000;
  await letPromisesSettle();
  while (clock.step(until)) await letPromisesSettle();
  await start;
  await engine.stop();
  return sent.map((at) => at - (sent[0] as number));
};

describe("Quota settings of a config", () => {
  it("may state other layers: two placements in any two seconds, wherever they begin", async () => {
    const layer = {
      name: "places",
      scope: "uid",
      unit: "requests",
      capacity: 2,
      windowMs: 2_000,
      anchor: "sliding",
      endpoints: ["placeOrder"],
      banMs: 0,
    } as const;
    const after = await placedAt({ layers: [layer], keySlots: 0 }, 6);
    expect(after).toHaveLength(6);
    for (let index = 2; index < after.length; index++)
      expect((after[index] as number) - (after[index - 2] as number)).toBeGreaterThanOrEqual(2_000);
    const free = await placedAt({}, 6);
    expect(free[5]).toBeLessThan(4_000);
  });

  it("may give a strategy a budget of weight a minute", async () => {
    const after = await placedAt({ budgets: { many: 30 } }, 5);
    expect(after.filter((ms) => ms < 1_000)).toHaveLength(3);
    expect(after).toHaveLength(5);
  });

  it.each([
    [
      "a budget for nobody",
      { budgets: { mny: 30 } },
      /quota\.budgets: no strategy is named "mny".*Did you mean "many"/s,
    ],
    [
      "a layer with a misspelt field",
      {
        layers: [{ name: "a", scope: "uid", unit: "requests", capacity: 1, windowMs: 1, anchor: "sliding", banMS: 0 }],
      },
      /banMS.*Did you mean "banMs"/s,
    ],
  ])("refuses %s", async (_, quota, message) => {
    await expect(placedAt(quota as never, 1)).rejects.toThrow(message);
  });
});
