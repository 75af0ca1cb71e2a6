/** Limits on positions and losses go on where the last process stopped. */
import { BehaviorSubject, concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/index.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { begun, crash, pass, resting, stop, type World, worldOf } from "../../support/harness/engine.ts";

const swap = "BTC-USDT-SWAP";
/** Takes what is offered at 60,001: a hundredth of a bitcoin is worth 600.01. */
const buy = (slot: string, qty = "0.01", px = "60001"): WantedOrder => ({ slot, instId: swap, side: "buy", px, qty });
const sell = (slot: string, px: string, qty = "0.01"): WantedOrder => ({ slot, instId: swap, side: "sell", px, qty });

const positionIn = ({ venue }: World): string =>
  venue.truth("main").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
const refusals = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === "order.refused" ? [event.reason] : []));
const modes = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) =>
    event.type === "strategy.reducing" || event.type === "mode.changed" ? [event.reason] : [],
  );
const wants = (world: World, ...orders: readonly WantedOrder[]): void => {
  world.wanted$ = concat(of(orders), NEVER);
};
const quoted = (world: World, bid: number): void => {
  world.venue.quote(swap, bid * 10, 100_000, bid * 10 + 10, 100_000, world.clock.now());
};

/** A process died while its order rested at 59,000; a thousand may be held. */
const restingLow = async (): Promise<World> => {
  const world = worldOf();
  quoted(world, 60_000);
  world.orders = { positionPerStrategy: "1000" };
  wants(world, buy("low", "0.01", "59000"));
  const first = await begun(world);
  await pass(world, 20_000);
  expect(resting(world)).toEqual(["59000"]);
  await crash(world, first);
  return world;
};

describe("A position limit after a restart", () => {
  it("counts what an earlier life bought, and a way out passes", async () => {
    const world = worldOf();
    quoted(world, 60_000);
    world.orders = { positionPerStrategy: "1000" };
    wants(world, buy("first"));
    const first = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.01");
    await crash(world, first);
    wants(world, buy("second"), sell("out", "60500"));
    const second = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.01");
    expect(refusals(second.events)).toEqual([
      expect.stringMatching(/the strategy's position .* more than 1000; a size of up to 0\.00\d* would pass/),
    ]);
    expect(resting(world)).toEqual(["60500"]);
    await crash(world, second);
    world.journal = { resetRiskCounters: true };
    const third = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.02");
    expect(refusals(third.events)).toEqual([]);
    await stop(world, third.engine);
  });

  it("counts an order that was filled while no process ran, for the strategy that wanted it", async () => {
    const world = await restingLow();
    quoted(world, 58_000);
    expect(positionIn(world)).toBe("0.01");
    wants(world, buy("second", "0.01", "58001"));
    const second = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.01");
    expect(refusals(second.events)).toEqual([expect.stringContaining("positionPerStrategy")]);
    await crash(world, second);
    // Nothing is counted twice when it has been taken over once.
    wants(world, buy("small", "0.005", "58001"));
    const third = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.015");
    await stop(world, third.engine);
  });

  it("counts an order that is still open, filled in part and taken over, once", async () => {
    const world = worldOf();
    world.venue.quote(swap, 600_000, 10, 600_010, 4, world.clock.now());
    world.orders = { positionPerStrategy: "1000" };
    wants(world, buy("part"));
    const first = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.004");
    expect(resting(world)).toEqual([]);
    await crash(world, first);
    // 0.01 is promised already: another 0.006 reaches 959.984, and 0.001 on top of that would be more than 1,000.
    wants(world, buy("part"), buy("more", "0.006", "59999"), buy("most", "0.001", "59998"));
    const second = await begun(world);
    await pass(world, 20_000);
    expect(refusals(second.events)).toEqual([expect.stringContaining("positionPerStrategy")]);
    expect(resting(world)).toEqual(["59999"]);
    await stop(world, second.engine);
  });

  it("counts an order that nobody has taken over yet for the strategy that once wanted it, open and filled", async () => {
    const world = await restingLow();
    wants(world, buy("second", "0.01", "58999"));
    const second = await begun(world);
    await pass(world, 5_000);
    expect(resting(world)).toEqual(["59000"]);
    expect(refusals(second.events)).toHaveLength(1);
    quoted(world, 58_999);
    await pass(world, 60_000);
    expect(positionIn(world)).toBe("0.01");
    // What was written down and not flushed is lost with the process, and found again at the service.
    await stop(world, second.engine);
    const third = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.01");
    expect(refusals(third.events)).toHaveLength(1);
    await stop(world, third.engine);
  });
});

describe("A loss limit after a restart", () => {
  const losing = async (limit: string) => {
    const world = worldOf();
    quoted(world, 60_000);
    world.orders = { lossPerStrategy: limit };
    const wanted$ = new BehaviorSubject<readonly WantedOrder[]>([buy("in", "0.1")]);
    world.wanted$ = wanted$;
    const first = await begun(world);
    await pass(world, 20_000);
    quoted(world, 59_500);
    wanted$.next([sell("out", "59500", "0.1")]);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0");
    return { world, first };
  };

  it("goes on from what an earlier life lost", async () => {
    const { world, first } = await losing("100");
    // 501 of price on a tenth, and five basis points of 6,000.1 and of 5,950: 56.07505.
    expect(modes(first.events)).toEqual([]);
    await crash(world, first);
    const wanted$ = new BehaviorSubject<readonly WantedOrder[]>([buy("in", "0.1", "59501")]);
    world.wanted$ = wanted$;
    const second = await begun(world);
    await pass(world, 20_000);
    quoted(world, 59_000);
    wanted$.next([sell("out", "59000", "0.1")]);
    await pass(world, 20_000);
    expect(modes(second.events)).toEqual([
      expect.stringMatching(/a loss of 1\d\d\.\d+ is more than 100 \(orders\.lossPerStrategy\)/),
    ]);
    await stop(world, second.engine);
  });

  it("that was judged and resumed is not judged again for the same loss", async () => {
    const { world, first } = await losing("50");
    expect(modes(first.events)).toEqual([expect.stringContaining("lossPerStrategy")]);
    await crash(world, first);
    wants(world, buy("in", "0.01", "50000"));
    const held = await begun(world);
    await pass(world, 20_000);
    expect(resting(world)).toEqual([]);
    await crash(world, held);
    world.journal = { resume: true };
    const resumed = await begun(world);
    await pass(world, 20_000);
    expect(modes(resumed.events)).toEqual([]);
    expect(resting(world)).toEqual(["50000"]);
    await stop(world, resumed.engine);
  });
});
