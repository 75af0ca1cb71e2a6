/** What one strategy holds is closed to the last digit, in its own name, whatever others hold of the same instrument. */
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { createContract } from "../../../src/contract/contract.ts";
import type { Profile } from "../../../src/contract/profile.ts";
import type { PositionEnding, PositionFilter } from "../../../src/host/context.ts";
import { type Event, isSluiceError } from "../../../src/index.ts";
import type { Quote } from "../../../src/market/market-data.ts";
import type { WantedOrder } from "../../../src/orders/wanted-order.ts";
import { createVenue } from "../../../src/venue/venue.ts";
import { begun, keys, pass, resting, stop, type World, worldOf } from "../../support/harness/engine.ts";

const swap = "BTC-USDT-SWAP";
const spot = "BTC-USDT";
const other = "ETH-USDT-SWAP";
type Unit = Profile["order"]["szUnit"]["SPOT"];

const market = (instId: string, side: "buy" | "sell", qty: string, slot = `${instId} ${side}`): WantedOrder => ({
  slot,
  instId,
  side,
  ordType: "market",
  qty,
});
const quoteOf = (instId: string, bid: number, at: number): Quote => {
  const [bidPx, askPx, mid] = [String(bid), String(bid + 0.1), String(bid + 0.05)];
  return {
    instId,
    at,
    bidPx,
    bidQty: "10",
    askPx,
    askQty: "10",
    mid,
    bidFloat: bid,
    askFloat: bid + 0.1,
    midFloat: bid + 0.05,
  };
};

/** Two swaps and a spot pair, all around 60,000. */
const worldWith = (unit: Unit, one: readonly WantedOrder[], two?: readonly WantedOrder[]): World => {
  const profile = { order: { szUnit: { SPOT: unit, SWAP: unit } } };
  const world = worldOf(profile);
  const { clock } = world;
  world.venue = createVenue({
    contract: createContract(profile),
    instruments: [swap, spot, other].map((instId) => ({ instId, tickSize: "0.1", lotSize: "0.001" })),
    users: [{ uid: "main", keys, balances: { USDT: "100000", BTC: "1" } }],
    fees: { SPOT: { makerBps: "2", takerBps: "5" }, SWAP: { makerBps: "2", takerBps: "5" } },
    enforceLimits: true,
  });
  for (const instId of [swap, spot, other]) world.venue.quote(instId, 600_000, 10_000, 600_001, 10_000, clock.now());
  world.quotes$ = concat(of(...[swap, spot, other].map((instId) => quoteOf(instId, 60_000, clock.now()))), NEVER);
  world.wanted$ = concat(of(one), NEVER);
  if (two !== undefined) world.second$ = concat(of(two), NEVER);
  return world;
};

const heldAt = ({ venue }: World, instId = swap): string =>
  venue.truth("main").positions.find((one) => one.instId === instId)?.pos ?? "0";
const balanceOf = ({ venue }: World, currency: string): string | undefined =>
  venue.truth("main").balances.find((one) => one.currency === currency)?.balance;
const begin = async (world: World) => {
  const life = await begun(world);
  await pass(world, 20_000);
  const holdings = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      life.engine
        .strategies()
        .flatMap(({ name, positions }) =>
          [...positions.values()].map(({ instId, qty }) => [`${name} ${instId}`, qty] as const),
        ),
    );
  const modes = (): readonly string[] => life.engine.strategies().map(({ mode }) => mode);
  const close = (which: PositionFilter) => {
    const endings: PositionEnding[] = [];
    const state = { done: false };
    life.engine
      .closePositions("enough", which)
      .subscribe({ next: (ending) => endings.push(ending), complete: () => (state.done = true) });
    return { endings, state };
  };
  return { life, holdings, modes, close };
};
const refusedFor = (run: () => unknown): string => {
  try {
    run();
  } catch (error) {
    if (isSluiceError(error)) return error.message;
    throw error;
  }
  return "";
};
const closings = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === "action.sent" && event.endpoint === "closePosition" ? ["call"] : []));

describe.each<Unit>(["base", "quote_notional"])("Closing what one strategy holds, sizes in %s", (unit) => {
  it("leaves exactly what the other holds on the opposite side, and lets it trade on", async () => {
    const world = worldWith(unit, [market(swap, "buy", "0.3")], [market(swap, "sell", "0.112")]);
    const { life, holdings, modes, close } = await begin(world);
    expect([heldAt(world), holdings()]).toEqual(["0.188", { [`one ${swap}`]: "0.3", [`two ${swap}`]: "-0.112" }]);
    const { endings, state } = close({ strategy: "one" });
    await pass(world, 20_000);
    expect(endings).toEqual([
      { kind: "closed", uid: "main", instId: swap, pos: "0.3", left: "0", reason: "", strategy: "one" },
    ]);
    expect([heldAt(world), holdings()]).toEqual(["-0.112", { [`one ${swap}`]: "0", [`two ${swap}`]: "-0.112" }]);
    expect([state.done, modes(), closings(life.events)]).toEqual([true, ["halted", "active"], []]);
    // The other one's, too: a short is bought back.
    const second = close({ strategy: "two" });
    await pass(world, 20_000);
    expect([second.endings.map(({ kind, pos }) => [kind, pos]), heldAt(world)]).toEqual([[["closed", "-0.112"]], "0"]);
    await stop(world, life.engine);
  });

  it("sells a spot holding to the last lot and nothing of what the account held before", async () => {
    const world = worldWith(unit, [market(spot, "buy", "0.137")], [market(spot, "buy", "0.05")]);
    const { life, holdings, close } = await begin(world);
    expect([balanceOf(world, "BTC"), holdings()]).toEqual([
      "1.187",
      { [`one ${spot}`]: "0.137", [`two ${spot}`]: "0.05" },
    ]);
    const { endings } = close({ strategy: "one", instId: spot });
    await pass(world, 30_000);
    expect(endings.map(({ kind, pos, left }) => [kind, pos, left])).toEqual([["closed", "0.137", "0"]]);
    expect([balanceOf(world, "BTC"), holdings()]).toEqual(["1.05", { [`one ${spot}`]: "0", [`two ${spot}`]: "0.05" }]);
    await stop(world, life.engine);
  });

  it("closes one instrument of a strategy and keeps its others, although all trading is halted", async () => {
    const world = worldWith(unit, [market(swap, "buy", "0.1"), market(other, "sell", "0.2")]);
    const { life, holdings, close } = await begin(world);
    life.engine.halt("a pause").subscribe();
    await pass(world, 1_000);
    const { endings, state } = close({ strategy: "one", instId: other });
    await pass(world, 20_000);
    expect([endings.map(({ instId, kind }) => [instId, kind]), state.done]).toEqual([[[other, "closed"]], true]);
    expect([heldAt(world), heldAt(world, other), holdings()]).toEqual([
      "0.1",
      "0",
      { [`one ${swap}`]: "0.1", [`one ${other}`]: "0" },
    ]);
    await stop(world, life.engine);
  });
});

describe("Closing what one strategy holds", () => {
  it("cancels its resting orders first, and those of others stay", async () => {
    const rest = (slot: string, px: string): WantedOrder => ({ slot, instId: swap, side: "buy", px, qty: "0.01" });
    const world = worldWith("base", [market(swap, "buy", "0.1"), rest("a", "30000")], [rest("b", "29000")]);
    const { life, close } = await begin(world);
    expect(resting(world)).toEqual(["29000", "30000"]);
    close({ strategy: "one" });
    await pass(world, 10_000);
    expect([heldAt(world), resting(world)]).toEqual(["0", ["29000"]]);
    await stop(world, life.engine);
  });

  it("goes on while the book takes only a part, and says what is left when its time is over", async () => {
    const world = worldWith("base", [market(swap, "buy", "0.1")]);
    const { life, close } = await begin(world);
    world.venue.quote(swap, 600_000, 30, 600_001, 30, world.clock.now());
    const { endings, state } = close({ strategy: "one" });
    await pass(world, 130_000);
    expect(endings).toEqual([
      expect.objectContaining({
        kind: "left",
        pos: "0.1",
        left: heldAt(world),
        strategy: "one",
        reason: expect.stringMatching(/.{10}/),
      }),
    ]);
    expect([heldAt(world), state.done]).toEqual(["0.07", true]);
    await stop(world, life.engine);
  });

  it("closes once although the answer was lost", async () => {
    const world = worldWith("base", [market(swap, "buy", "0.1")]);
    const { life, close, holdings } = await begin(world);
    world.lose = ({ endpoint }) => (endpoint === "placeOrder" ? "answer" : undefined);
    const { endings } = close({ strategy: "one" });
    await pass(world, 60_000);
    expect([heldAt(world), holdings(), endings.map(({ kind }) => kind)]).toEqual([
      "0",
      { [`one ${swap}`]: "0" },
      ["closed"],
    ]);
    await stop(world, life.engine);
  });

  it("ends when the strategy is resumed, and says what it holds", async () => {
    const world = worldWith("base", [market(swap, "buy", "0.1")]);
    const { life, close } = await begin(world);
    world.venue.quote(swap, 600_000, 30, 600_001, 30, world.clock.now());
    const { endings } = close({ strategy: "one" });
    await pass(world, 2_000);
    life.engine.resume("go on", { strategy: "one" });
    await pass(world, 5_000);
    expect(endings).toEqual([
      expect.objectContaining({ kind: "left", left: "0.07", reason: expect.stringContaining("resumed") }),
    ]);
    await stop(world, life.engine);
  });

  it("refuses what is unclear, and halts nothing for it", async () => {
    const world = worldWith("base", [market(swap, "buy", "0.1"), market(spot, "buy", "0.05")]);
    const { life, close, modes } = await begin(world);
    expect(refusedFor(() => close({ strategy: "won" }))).toMatch(/no strategy is named "won"/);
    expect(refusedFor(() => close({ strategie: "one" } as PositionFilter))).toMatch(
      /unknown condition "strategie".*Nothing was closed/,
    );
    expect(refusedFor(() => close({ instId: "BTC-USDT-SWP" }))).toMatch(/no instrument "BTC-USDT-SWP"/);
    expect(refusedFor(() => close({ instId: spot }))).toMatch(/is spot.*holding is to be closed: one/);
    expect(refusedFor(() => close({ instId: other, strategy: "one" }))).toMatch(/"one" holds no ETH-USDT-SWAP/);
    await pass(world, 5_000);
    expect([heldAt(world), modes()]).toEqual(["0.1", ["active"]]);
    await stop(world, life.engine);
  });
});

describe("Closing the account's position of one instrument", () => {
  it("closes the net of all strategies by one call, halts those that trade it, and leaves the rest alone", async () => {
    const world = worldWith(
      "base",
      [market(swap, "buy", "0.3"), market(other, "buy", "0.2")],
      [market(swap, "sell", "0.1")],
    );
    const { life, holdings, modes, close } = await begin(world);
    const { endings, state } = close({ instId: swap });
    await pass(world, 10_000);
    expect(endings).toEqual([{ kind: "closed", uid: "main", instId: swap, pos: "0.2", left: "0", reason: "" }]);
    expect([heldAt(world), heldAt(world, other), closings(life.events)]).toEqual(["0", "0.2", ["call"]]);
    expect(holdings()).toEqual({ [`one ${swap}`]: "0", [`one ${other}`]: "0.2", [`two ${swap}`]: "0" });
    expect([state.done, modes()]).toEqual([true, ["halted", "halted"]]);
    await stop(world, life.engine);
  });

  it("lets strategies trade that have nothing to do with it", async () => {
    const world = worldWith("base", [market(swap, "buy", "0.3")], [market(other, "sell", "0.1")]);
    const { life, modes, close } = await begin(world);
    close({ instId: swap });
    await pass(world, 10_000);
    expect([heldAt(world), heldAt(world, other), modes()]).toEqual(["0", "-0.1", ["halted", "active"]]);
    await stop(world, life.engine);
  });

  it("closes nothing where the holdings of strategies cancel out, and names them", async () => {
    const world = worldWith("base", [market(swap, "buy", "0.1")], [market(swap, "sell", "0.1")]);
    const { life, holdings, close } = await begin(world);
    const { endings } = close({ instId: swap });
    await pass(world, 10_000);
    expect(endings).toEqual([
      expect.objectContaining({ kind: "left", instId: swap, reason: expect.stringContaining("one 0.1, two -0.1") }),
    ]);
    expect([holdings(), closings(life.events)]).toEqual([{ [`one ${swap}`]: "0.1", [`two ${swap}`]: "-0.1" }, []]);
    await stop(world, life.engine);
  });
});
