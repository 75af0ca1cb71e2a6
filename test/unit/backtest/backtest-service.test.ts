import { firstValueFrom, NEVER, take } from "rxjs";
import { describe, expect, it } from "vitest";
import { constant, paper } from "../../../src/backtest.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createEngine } from "../../../src/index.ts";
import { calm, stored, strategy, swap } from "../../support/harness/backtest.ts";

describe("The paper service", () => {
  it("plays a fixture from now on: quotes come when they are due, and the end is an end", async () => {
    const clock = createVirtualClock(5_000_000_000);
    const seen: string[] = [];
    const note = (what: string) => seen.push(what);
    const eyes = strategy("eyes", {
      wanted: ({ market, now }) => {
        market
          .quotes(swap)
          .pipe(take(2))
          .subscribe(({ at }) => note(`quote ${now() - at}`));
        market.quotes(swap).subscribe({ complete: () => note("end") });
        return NEVER;
      },
    });
    const engine = createEngine({
      service: paper({ clock, fixture: stored(calm(10)), latency: constant(5) }),
      strategies: [eyes],
    });
    const start = engine.start();
    const until = clock.now() + 20_000;
    await letPromisesSettle();
    while (clock.step(until)) await letPromisesSettle();
    await start;
    expect(seen).toEqual(["quote 0", "quote 0", "end"]);
    await engine.stop();
  });

  it("runs on the machine's clock, in real time", async () => {
    const engine = createEngine({
      service: paper({ instruments: [swap], latency: constant(1) }),
      strategies: [strategy("idle", { run: ({ market }) => market.quotes(swap) })],
    });
    await engine.start();
    const { value } = await firstValueFrom(engine.instruments$);
    expect([...value.keys()]).toEqual([swap]);
    await engine.stop();
  });

  it("a generated market trades what it was told to", async () => {
    const clock = createVirtualClock(0);
    const engine = createEngine({
      service: paper({ clock, instruments: ["SOL-USDT-SWAP", "SOL-USDT"] }),
      strategies: [strategy("idle", { run: ({ market }) => market.trades("SOL-USDT") })],
    });
    const start = engine.start();
    await letPromisesSettle();
    while (clock.step(5_000)) await letPromisesSettle();
    await start;
    expect([...(await firstValueFrom(engine.instruments$)).value.keys()]).toEqual(["SOL-USDT-SWAP", "SOL-USDT"]);
    await engine.stop();
  });

  it("closes bars at their end, whether or not anything is delivered then", async () => {
    const clock = createVirtualClock(0);
    const late: number[] = [];
    const eyes = strategy("eyes", {
      wanted: ({ market, now }) => {
        market.candles(swap, 1_000).subscribe(({ at }) => late.push(now() - at));
        return NEVER;
      },
    });
    const engine = createEngine({ service: paper({ clock, instruments: [swap] }), strategies: [eyes] });
    const start = engine.start();
    await letPromisesSettle();
    while (clock.step(60_000)) await letPromisesSettle();
    await start;
    expect(late.length).toBeGreaterThan(10);
    expect(new Set(late)).toEqual(new Set([0]));
    await engine.stop();
  });
});
