/** A protected position after a crash: it is closed in the end, once, whatever the process was doing when it died. */
import { concat, map, NEVER, type Observable, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { after } from "../../../src/clock/clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { add, div, toStep } from "../../../src/decimal.ts";
import { recall } from "../../../src/engine/recovery.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { Event } from "../../../src/journal/events.ts";
import type { Wanted, WantedOrder } from "../../../src/orders/wanted-order.ts";
import { begun, crash, Dead, pass, stop, until, type World, worldOf } from "../../support/harness/engine.ts";
import { swap } from "../../support/harness/orders.ts";

const entry: WantedOrder = {
  slot: "long",
  instId: swap,
  side: "buy",
  px: "59999",
  qty: "0.02",
  protect: { stopLoss: "59000", takeProfit: "61500", trailing: { by: "2500" } },
};
const wants = (...set: readonly Wanted[]) => concat(of(set), NEVER);
const timer = ({ clock }: World, ms: number, set: readonly Wanted[]): Observable<readonly Wanted[]> =>
  after(clock, ms).pipe(map(() => set));
const position = ({ venue }: World): string =>
  venue.truth("main").positions.find(({ instId }) => instId === swap)?.pos ?? "0";

/** A world at 60000 whose venue notes every position the account ever had. */
const watched = (): { readonly world: World; readonly seen: string[] } => {
  const world = worldOf();
  const seen: string[] = [];
  world.venue.onFill(() => seen.push(position(world)));
  world.wanted$ = wants(entry);
  world.show(60_000);
  return { world, seen };
};

type Fill = Extract<Event, { type: "fill" }>;

const events = (life: Awaited<ReturnType<typeof begun>>, type: string): readonly object[] =>
  life.events.filter((event) => event.type === type);

describe("A protected position after a crash", () => {
  it("is protected again before the strategy says anything, and closed at its stop", async () => {
    const { world } = watched();
    const first = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    await pass(world, 30_000);
    expect(position(world)).toBe("0.02");
    await crash(world, first);
    world.wanted$ = NEVER;
    const second = await begun(world);
    await pass(world, 2_000);
    expect(events(second, "protection.armed")).toMatchObject([
      { strategy: "one", name: "long", qty: "0.02", avgPx: "59999", stopPx: "59000" },
    ]);
    world.show(59_000);
    await pass(world, 30_000);
    expect(position(world)).toBe("0");
    expect(events(second, "protection.triggered")).toMatchObject([{ kind: "stopLoss", px: "59000", late: false }]);
    await stop(world, second.engine);
  });

  it.each<["a halt" | "a full stop", boolean]>([
    ["a halt", false],
    ["a full stop", true],
  ])("of a run that ended in %s: %s leaves it without its stop", async (_, full) => {
    const { world } = watched();
    const first = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    await pass(world, 30_000);
    first.engine.halt("the watchdog tripped", { full }).subscribe();
    await pass(world, 1_000);
    await crash(world, first);
    const second = await begun(world);
    await pass(world, 2_000);
    expect(events(second, "mode.changed")).toMatchObject([{ mode: "halted", reason: "the watchdog tripped" }]);
    expect(events(second, "protection.armed")).toMatchObject([{ qty: "0.02", stopPx: "59000" }]);
    expect(events(second, "position.unprotected")).toHaveLength(full ? 1 : 0);
    world.show(58_900);
    await pass(world, 30_000);
    expect(position(world)).toBe(full ? "0.02" : "0");
    second.engine.resume("looked at it");
    await pass(world, 30_000);
    expect(position(world)).toBe("0");
    await stop(world, second.engine);
  });

  it("is closed once when an operator closes all positions and the stop is reached meanwhile", async () => {
    const { world, seen } = watched();
    const life = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    await pass(world, 30_000);
    life.engine.closePositions("enough").subscribe();
    world.show(58_900);
    await pass(world, 30_000);
    expect([position(world), seen.some((pos) => pos.startsWith("-"))]).toEqual(["0", false]);
    await stop(world, life.engine);
  });

  it("is told of at an orderly stop: nobody holds its stop from then on", async () => {
    const { world } = watched();
    const life = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    await pass(world, 30_000);
    await stop(world, life.engine);
    expect(events(life, "position.unprotected")).toMatchObject([
      { slot: "long.exit", qty: "0.02", reason: expect.stringContaining("the engine stops") },
    ]);
    expect(events(life, "position.protected")).toEqual([]);
  });

  it("without a price for five seconds is told to be unprotected, and protected again with the next one", async () => {
    const { world } = watched();
    world.watchful = true;
    world.lose = ({ endpoint }) => (endpoint === "positions" ? "answer" : undefined);
    const life = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    const armed = (): boolean => events(life, "protection.armed").length > 0;
    while (!armed()) await pass(world, 100);
    await pass(world, 4_800);
    expect(events(life, "position.unprotected")).toEqual([]);
    await pass(world, 120_000);
    expect(events(life, "position.unprotected")).toMatchObject([
      { qty: "0.02", reason: "no best price of BTC-USDT-SWAP has come for 5 s" },
    ]);
    world.show(60_000);
    expect(events(life, "position.protected")).toHaveLength(1);
    world.show(59_000);
    await pass(world, 10_000);
    expect(position(world)).toBe("0");
    await stop(world, life.engine);
  });

  it("was closed by a close call that nothing answered, beside a take-profit that cannot be canceled: it stays closed", async () => {
    const { world, seen } = watched();
    world.wanted$ = wants({
      ...entry,
      protect: { stopLoss: "59000", takeProfit: "61500", takeProfitAs: "limit" },
    });
    world.lose = ({ endpoint }) =>
      endpoint === "cancelBatch" ? "request" : endpoint === "closePosition" ? "answer" : undefined;
    const first = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    await pass(world, 30_000);
    world.show(58_999);
    await pass(world, 5_500);
    expect(position(world)).toBe("0");
    await crash(world, first);
    world.lose = () => undefined;
    world.wanted$ = NEVER;
    const second = await begun(world);
    await pass(world, 60_000);
    expect(world.position(swap).qty).toBe("0");
    expect([position(world), seen]).toEqual(["0", ["0.02", "0"]]);
    await stop(world, second.engine);
  });

  it("is closed at once when its stop was reached while no engine ran, and that is told", async () => {
    const { world } = watched();
    const first = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    await pass(world, 30_000);
    await crash(world, first);
    world.show(58_000);
    world.wanted$ = NEVER;
    const second = await begun(world);
    await pass(world, 10_000);
    expect(position(world)).toBe("0");
    expect(events(second, "protection.triggered")).toMatchObject([{ kind: "stopLoss", px: "58000", late: true }]);
    await stop(world, second.engine);
  });

  it("that its entry opened while no engine ran is protected when the entry is found executed", async () => {
    const { world } = watched();
    const first = await begun(world);
    await pass(world, 2_000);
    await crash(world, first);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    world.wanted$ = NEVER;
    const second = await begun(world);
    await pass(world, 60_000);
    expect(events(second, "protection.armed")).toMatchObject([{ qty: "0.02" }]);
    world.show(58_999);
    await pass(world, 30_000);
    expect(position(world)).toBe("0");
    await stop(world, second.engine);
  });

  it("has its trailing stop where it had come to", async () => {
    const { world } = watched();
    const first = await begun(world);
    await pass(world, 2_000);
    world.venue.trade(swap, "sell", 599_980, 50, world.clock.now());
    await pass(world, 30_000);
    world.show(61_499);
    await pass(world, 5_000);
    await crash(world, first);
    world.show(60_500);
    world.wanted$ = NEVER;
    const second = await begun(world);
    await pass(world, 5_000);
    world.show(59_000.1);
    await pass(world, 5_000);
    // The stop at 59000 was not reached; 2500 below 61499 was not either.
    expect(position(world)).toBe("0.02");
    world.show(58_999);
    await pass(world, 30_000);
    expect(events(second, "protection.triggered")).toMatchObject([{ kind: "stopLoss" }]);
    await stop(world, second.engine);
  });
});

describe("A process killed at any step between two entries and the end of the stop of the later one", () => {
  // Above the ask they are executed at once.
  const older: WantedOrder = { ...entry, slot: "older", px: "60001", qty: "0.01", protect: { stopLoss: "57000" } };
  const plain: WantedOrder = { slot: "plain", instId: swap, side: "buy", px: "60002", qty: "0.001" };
  const newer: WantedOrder = { ...entry, px: "60000", protect: { stopLoss: "59000" } };

  /** What a life does until `killAt` of its requests, answers and writes are done; how many there were. */
  const story = async (killAt: number) => {
    const { world, seen } = watched();
    world.wanted$ = concat(
      of([older]),
      timer(world, 2_000, [older, newer]),
      timer(world, 30_000, [older, newer, plain]),
      NEVER,
    );
    let steps = 0;
    world.step = () => {
      if (++steps === killAt) throw new Dead();
    };
    const first = await begun(world).catch(() => undefined);
    if (first === undefined) return { steps, world, seen, events: [] };
    const sells = async (ticks: number, lots: number): Promise<void> => {
      world.venue.trade(swap, "sell", ticks, lots, world.clock.now());
      await pass(world, 20_000);
    };
    await pass(world, 5_000);
    // Past the thousand lots in front of it eight of its twenty; the rest when the other order is done.
    await sells(600_000, 1_008);
    await pass(world, 20_000);
    await sells(599_980, 50);
    world.show(59_000);
    await pass(world, 20_000);
    if (first.isAlive()) await stop(world, first.engine);
    else await crash(world, first);
    return { steps, world, seen, events: events(first, "fill") };
  };

  /** What the service executed of the orders at a price, in base currency. */
  const executed = ({ venue }: World, px: string): string => {
    const orders = venue.truth("main").orders.filter((order) => order.px === px);
    return orders.reduce(
      (sum, { accFillSz }) => add(sum, toStep(div(accFillSz || "0", px, 12), "0.001", "nearest")),
      "0",
    );
  };

  it("leaves what the next process closes, each part at its own stop, exactly and never twice", async () => {
    const { steps: all, world: whole, events: fills } = await story(0);
    expect(fills.map((fill) => `${(fill as Fill).slot} ${(fill as Fill).qty}`)).toEqual([
      "older 0.01",
      "long 0.008",
      "plain 0.001",
      "long 0.012",
      "long.exit 0.02",
    ]);
    expect(position(whole)).toBe("0.011");
    for (let killAt = 1; killAt <= all; killAt++) {
      const { world, seen } = await story(killAt);
      world.step = () => undefined;
      world.wanted$ = NEVER;
      const second = await begun(world);
      await pass(world, 120_000);
      world.show(58_500);
      await pass(world, 120_000);
      const [left, kept] = [executed(world, "60001"), executed(world, "60002")];
      expect({ killAt, position: position(world) }).toEqual({ killAt, position: add(left, kept) });
      world.show(56_900);
      await pass(world, 120_000);
      const resting = world.venue.truth("main").orders.filter(({ state }) => state === "live");
      const turned = seen.filter((one) => one.startsWith("-"));
      expect({ killAt, position: position(world), resting: resting.length, turned }).toEqual({
        killAt,
        position: kept,
        resting: 0,
        turned: [],
      });
      await until(world, second.engine.stop());
    }
  });

  it("that an older version let pass malformed fails no start: it is told, and the others are kept", () => {
    const told: Event[] = [];
    const journal = new EventLog(
      () => 0,
      () => undefined,
    );
    journal.attach((event) => told.push(event));
    const restored: unknown[] = [];
    const orderManager = {
      inherit: () => undefined,
      restore: (kept: unknown) => restored.push(kept),
      rearm: () => undefined,
    };
    const record = { uid: "u", strategy: "one", name: "long", instId: swap, protect: { stopLoss: { percent: "1" } } };
    const wrong = { ...record, name: "wrong", protect: { stopLoss: { percent: 1 } } };
    recall(
      { accounts: { all: [{ user: { uid: "u" }, orderManager }] }, journal, clock: createVirtualClock(0) } as never,
      { life: 2, open: [], held: [], judged: [], holdings: [], protections: [wrong, record], repaired: false } as never,
    );
    expect(restored).toEqual([[record]]);
    const detail = expect.stringContaining(
      "one/wrong: the journal holds a protection of BTC-USDT-SWAP with protect.stopLoss.percent 1.",
    );
    expect(told).toMatchObject([{ type: "journal.opened" }, { type: "anomaly", what: "protection.malformed", detail }]);
  });
});
