/** Everything held is closed, once each, and said to be so only when a reading shows it. */
import { concat, firstValueFrom, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { add, mul, neg, sub } from "../../../src/decimal.ts";
import type { PositionEnding } from "../../../src/host/context.ts";
import type { Engine, Event } from "../../../src/index.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { begun, crash, far, pass, resting, stop, venueOf, type World, worldOf } from "../../support/harness/engine.ts";

const swap = "BTC-USDT-SWAP";
const buy = (qty: string): WantedOrder => ({ slot: "in", instId: swap, side: "buy", px: "60001", qty });
const quoted = (world: World, bid: number, qty = 100_000): void => {
  world.venue.quote(swap, bid * 10, qty, bid * 10 + 10, qty, world.clock.now());
};
const positionIn = ({ venue }: World): string =>
  venue.truth("main").positions.find(({ instId }) => instId === swap)?.pos ?? "0";
const usdtIn = ({ venue }: World): string =>
  venue.truth("main").balances.find(({ currency }) => currency === "USDT")?.balance ?? "";
const told = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type.startsWith("position.") ? [event.type] : []));
const details = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === "anomaly" && event.what === "position" ? [event.detail] : []));
const closes = (world: World): { count: number } => {
  const sent = { count: 0 };
  const { lose } = world;
  world.lose = (request) => {
    if (request.endpoint === "closePosition") sent.count++;
    return lose(request);
  };
  return sent;
};
const closing = (engine: Engine) => {
  const endings: PositionEnding[] = [];
  const state = { done: false };
  engine
    .closePositions("enough")
    .subscribe({ next: (ending) => endings.push(ending), complete: () => (state.done = true) });
  return { endings, state };
};

/** A tenth of a bitcoin held, and an order resting far below. */
const holding = async () => {
  const world = worldOf();
  quoted(world, 60_000);
  world.wanted$ = concat(of([buy("0.1"), far("rests", "30000")]), NEVER);
  const life = await begun(world);
  await pass(world, 20_000);
  expect(positionIn(world)).toBe("0.1");
  expect(resting(world)).toEqual(["30000"]);
  return { world, life };
};

describe("Closing positions", () => {
  it("halts, cancels, closes by one call and says so after a reading", async () => {
    const { world, life } = await holding();
    const sent = closes(world);
    const { endings, state } = closing(life.engine);
    await pass(world, 5_000);
    expect(endings).toEqual([{ kind: "closed", uid: "main", instId: swap, pos: "0.1", left: "0", reason: "" }]);
    expect(state.done).toBe(true);
    expect([positionIn(world), resting(world), sent.count]).toEqual(["0", [], 1]);
    expect(told(life.events)).toEqual(["position.closing", "position.closed"]);
    const order = life.events.flatMap((event) =>
      event.type === "action.sent" && event.class !== "read" ? [`${event.class} ${event.endpoint}`] : [],
    );
    expect(order.slice(-5)).toEqual([
      "emergency cancelBatch",
      "close positions",
      "close closePosition",
      "close positions",
      // What it executed at and cost; nothing is pushed here.
      "close getOrder",
    ]);
    await stop(world, life.engine);
  });

  it("books what the close executed at and cost to the strategy, so that its profit is what the balance lost", async () => {
    const { world, life } = await holding();
    closing(life.engine);
    await pass(world, 5_000);
    // 0.1 bought at 60,001 and sold at 60,000, at five basis points each: 3.00005 and 3.
    const after = { qty: "0", realised: "-0.1", fees: "6.00005", profit: "-6.10005" };
    const fills = life.events.flatMap((event) => (event.type === "fill" ? [event] : []));
    expect(
      fills.map(({ strategy, side, px, qty, cost, position }) => [strategy, side, px, qty, cost, position]),
    ).toEqual([
      [expect.any(String), "buy", "60001", "0.1", "3.00005", "0.1"],
      [fills[0]?.strategy, "sell", "60000", "0.1", "3", "0"],
    ]);
    const position = world.position(swap);
    expect(position).toMatchObject(after);
    expect(position.profit).toBe(sub(usdtIn(world), "100000"));
    await stop(world, life.engine);
  });

  /** The service tells nothing of the order that the close makes until a history is read. */
  const untold = async (world: World, engine: Engine): Promise<void> => {
    const { lose } = world;
    world.lose = (request) => (request.endpoint === "getOrder" ? "answer" : lose(request));
    // Between mark and bid: the stand-in is not what it executes at.
    world.venue.mark(swap, 599_000, 0, world.clock.now());
    closing(engine);
    await pass(world, 40_000);
  };

  it("corrects the price that stood in when the record comes with a later read, with its fee, for this run and the next", async () => {
    const { world, life } = await holding();
    await untold(world, life.engine);
    expect(positionIn(world)).toBe("0");
    expect(world.position(swap)).toMatchObject({ qty: "0", realised: "-10.1", fees: "3.00005" });
    expect(details(life.events)).toEqual([
      `${swap}: 0.1 of one counts as closed at 59900 and without a fee: which order closed it is not known`,
    ]);
    life.engine.account.history$.subscribe();
    await pass(world, 40_000);
    const after = { qty: "0", realised: "-0.1", fees: "6.00005", profit: "-6.10005" };
    expect(world.position(swap)).toMatchObject(after);
    expect(world.position(swap).profit).toBe(sub(usdtIn(world), "100000"));
    expect(details(life.events).slice(1)).toEqual([
      `${swap}: 0.1 of one was closed at 60000 for a fee of 3, as is known now, and not at 59900`,
    ]);
    // Sums of the fills are what is held and what it earned.
    const sums = { qty: "0", cash: "0" };
    for (const event of life.events) {
      if (event.type !== "fill") continue;
      const signed = event.side === "buy" ? event.qty : neg(event.qty);
      sums.qty = add(sums.qty, signed);
      sums.cash = sub(sub(sums.cash, mul(signed, event.px)), event.cost);
    }
    expect(sums).toEqual({ qty: "0", cash: "-6.10005" });
    await pass(world, 100_000);
    expect(details(life.events)).toHaveLength(2);
    await stop(world, life.engine);
    world.wanted$ = concat(of([]), NEVER);
    const second = await begun(world);
    expect(world.position(swap)).toMatchObject(after);
    await stop(world, second.engine);
  });

  it("corrects each strategy's part, also where they held against each other", async () => {
    const world = worldOf();
    quoted(world, 60_000);
    world.wanted$ = concat(of([buy("0.1")]), NEVER);
    world.second$ = concat(of([{ slot: "in", instId: swap, side: "sell", px: "59990", qty: "0.04" } as const]), NEVER);
    const life = await begun(world);
    await pass(world, 20_000);
    expect(positionIn(world)).toBe("0.06");
    await untold(world, life.engine);
    expect(positionIn(world)).toBe("0");
    life.engine.account.history$.subscribe();
    await pass(world, 40_000);
    // What it has lost is what all of them have lost.
    const equity = await firstValueFrom(life.engine.account.equity$);
    expect(equity.get("USDT")).toBe(sub(usdtIn(world), "100000"));
    expect(details(life.events).slice(2)).toEqual([
      expect.stringContaining("0.1 of one was closed at 60000 for a fee of "),
      expect.stringContaining("0.04 of two was closed at 60000 for a fee of "),
    ]);
    await stop(world, life.engine);
  });

  it("books each part at its own price where the book takes it piece by piece", async () => {
    const { world, life } = await holding();
    quoted(world, 60_000, 30);
    closing(life.engine);
    await pass(world, 3_500);
    expect(positionIn(world)).toBe("0.07");
    quoted(world, 59_990);
    await pass(world, 10_000);
    // 0.03 at 60,000 and 0.07 at 59,990: 0.03 and 0.77 below 60,001; fees 3.00005, 0.9 and 2.09965.
    expect(world.position(swap)).toMatchObject({ qty: "0", realised: "-0.8", fees: "5.9997", profit: "-6.7997" });
    await stop(world, life.engine);
  });

  it("has nothing to do where nothing is held", async () => {
    const world = worldOf();
    world.wanted$ = NEVER;
    const life = await begun(world);
    const sent = closes(world);
    const { endings, state } = closing(life.engine);
    await pass(world, 5_000);
    expect([endings, state.done, sent.count]).toEqual([[], true, 0]);
    await stop(world, life.engine);
  });

  it("looks before it closes again when an answer was lost, and does not where that was enough", async () => {
    const { world, life } = await holding();
    world.lose = ({ endpoint }) => (endpoint === "closePosition" ? "answer" : undefined);
    const sent = closes(world);
    const { endings } = closing(life.engine);
    await pass(world, 30_000);
    expect([endings.map(({ kind }) => kind), sent.count, positionIn(world)]).toEqual([["closed"], 1, "0"]);
    await stop(world, life.engine);
  });

  it("closes again when the call never arrived, but not before it cannot arrive any more", async () => {
    const { world, life } = await holding();
    let lost = 0;
    world.lose = ({ endpoint }) => (endpoint === "closePosition" && lost++ === 0 ? "request" : undefined);
    const sent = closes(world);
    const { endings } = closing(life.engine);
    // Three seconds until nobody answers any more, and ten in which it could still come.
    await pass(world, 12_000);
    expect(sent.count).toBe(1);
    await pass(world, 8_000);
    expect([endings.map(({ kind }) => kind), sent.count, positionIn(world)]).toEqual([["closed"], 2, "0"]);
    await stop(world, life.engine);
  });

  it("refuses a resume while close calls may be under way, as exits would close the same again, and allows it afterwards", async () => {
    const { world, life } = await holding();
    world.lose = ({ endpoint }) => (endpoint === "closePosition" ? "request" : undefined);
    const first = closing(life.engine);
    await pass(world, 2_000);
    const resume = (): void => life.engine.resume("go on");
    const mode = (): string | undefined =>
      life.events.flatMap((event) => (event.type === "mode.changed" ? [event.mode] : [])).at(-1);
    expect(resume).toThrow(/being closed/);
    const second = closing(life.engine);
    world.lose = () => undefined;
    await pass(world, 30_000);
    expect([first.state.done, second.state.done, positionIn(world), mode()]).toEqual([true, true, "0", "halted"]);
    resume();
    expect(mode()).toBe("active");
    await stop(world, life.engine);
  });

  it("goes on while the book takes only a part, and tells what is left when its time is over", async () => {
    const { world, life } = await holding();
    quoted(world, 60_000, 30);
    const sent = closes(world);
    const { endings, state } = closing(life.engine);
    await pass(world, 30_000);
    expect(positionIn(world)).toBe("0.07");
    quoted(world, 59_999, 30);
    await pass(world, 30_000);
    expect(positionIn(world)).toBe("0.04");
    await pass(world, 120_000);
    expect(endings).toEqual([
      { kind: "left", uid: "main", instId: swap, pos: "0.1", left: "0.04", reason: "the book did not take all of it" },
    ]);
    expect([state.done, told(life.events).at(-1)]).toEqual([true, "position.left"]);
    // 0.03 sold at 60,000 and 0.03 at 59,999: fees 3.00005, 0.9 and 0.899985.
    expect(world.position(swap)).toMatchObject({ qty: "0.04", realised: "-0.09", fees: "4.800035" });
    // After one, two, four and eight seconds, and then every fifteen.
    expect(sent.count).toBe(11);
    await stop(world, life.engine);
  });

  it("says that it does not know where the positions cannot be read, and closes nothing blindly", async () => {
    const { world, life } = await holding();
    world.lose = ({ endpoint }) => (endpoint === "positions" ? "answer" : undefined);
    const sent = closes(world);
    const { endings, state } = closing(life.engine);
    await pass(world, 200_000);
    expect(endings).toEqual([
      expect.objectContaining({
        kind: "unknown",
        instId: "",
        reason: expect.stringMatching(/^the positions could not be read \(.+\)$/),
      }),
    ]);
    expect([state.done, sent.count, positionIn(world)]).toEqual([true, 0, "0.1"]);
    await stop(world, life.engine);
  });

  it("takes what was held off the limits, in this life and the next", async () => {
    const world = worldOf();
    quoted(world, 60_000);
    world.orders = { positionPerStrategy: "7000", lossPerStrategy: "1000" };
    world.wanted$ = concat(of([buy("0.1")]), NEVER);
    const first = await begun(world);
    await pass(world, 20_000);
    closing(first.engine);
    await pass(world, 5_000);
    expect(positionIn(world)).toBe("0");
    await stop(world, first.engine);
    world.journal = { resume: true };
    world.wanted$ = concat(of([buy("0.1")]), NEVER);
    const second = await begun(world);
    await pass(world, 20_000);
    expect(second.events.filter(({ type }) => type === "order.refused" || type === "strategy.reducing")).toEqual([]);
    expect(positionIn(world)).toBe("0.1");
    await crash(world, second);
  });
});

describe("Closing everything where strategies hold spot", () => {
  const profile = {
    order: { szUnit: { SPOT: "base", SWAP: "base" }, spotBuyFee: "base" },
    capabilities: { cancelSpot: true },
  } as const;
  const spot = "BTC-USDT";
  const balanceOf = (world: World, currency = "BTC"): string =>
    world.venue.truth("main").balances.find((one) => one.currency === currency)?.balance ?? "0";

  /** Two strategies hold spot, and the user some of before. */
  const held = async (qty = "0.1") => {
    const world = worldOf(profile);
    world.venue = venueOf(world.clock, "5000000000", profile, [{ instId: spot, tickSize: "0.1", lotSize: "0.00001" }]);
    world.venue.quote(spot, 600_000, 10_000_000, 600_010, 10_000_000, world.clock.now());
    quoted(world, 60_000);
    const request = { method: "POST", path: "/api/v1/trade/order", query: {}, key: "k1", ip: "elsewhere" } as const;
    const body = { instId: spot, side: "buy", ordType: "market", sz: "1" };
    world.venue.handle({ ...request, body }, world.clock.now());
    const entry = { slot: "spot", instId: spot, side: "buy", ordType: "market", qty } as const;
    world.wanted$ = concat(of([entry, buy("0.1")]), NEVER);
    world.second$ = concat(of([{ ...entry, qty: "0.2" }]), NEVER);
    const life = await begun(world);
    await pass(world, 20_000);
    expect([balanceOf(world), positionIn(world)]).toEqual(["1.29935", "0.1"]);
    return { world, life };
  };

  it("sells what they bought and nothing else, and says so of each", async () => {
    const { world, life } = await held();
    const { endings, state } = closing(life.engine);
    await pass(world, 20_000);
    expect(state.done).toBe(true);
    const told = endings.map(({ kind, instId, pos, left, strategy = "" }) =>
      [kind, instId, pos, left, strategy].join(" "),
    );
    expect(new Set(told)).toEqual(
      new Set([`closed ${spot} 0.09995 0 one`, `closed ${spot} 0.1999 0 two`, `closed ${swap} 0.1 0 `]),
    );
    expect([balanceOf(world), positionIn(world)]).toEqual(["0.9995", "0"]);
    await stop(world, life.engine);
  });

  it("sells also what only the journal knows of, and books it for the next run", async () => {
    const { world, life } = await held();
    await stop(world, life.engine);
    delete world.second$;
    world.wanted$ = NEVER;
    const next = await begun(world);
    const { endings } = closing(next.engine);
    await pass(world, 20_000);
    expect(endings.map(({ kind }) => kind)).toEqual(["closed", "closed", "closed"]);
    expect(balanceOf(world)).toBe("0.9995");
    await stop(world, next.engine);
    const last = await begun(world);
    const again = closing(last.engine);
    await pass(world, 20_000);
    expect([again.endings, again.state.done, balanceOf(world)]).toEqual([[], true, "0.9995"]);
    await stop(world, last.engine);
  });

  it("names what is less than the smallest order as left", async () => {
    const { world, life } = await held();
    world.venue.change(spot, { lotSize: "0.001" }, world.clock.now());
    await pass(world, 3_700_000);
    const { endings } = closing(life.engine);
    await pass(world, 130_000);
    expect(endings.filter(({ instId }) => instId === spot)).toMatchObject([
      { kind: "left", left: "0.00095", reason: "it is less than the smallest order" },
      { kind: "left", left: "0.0009", reason: "it is less than the smallest order" },
    ]);
    await stop(world, life.engine);
  });
});
