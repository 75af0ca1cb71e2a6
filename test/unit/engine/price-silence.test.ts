/** A stop in real trading whose price does not come: reported after five seconds, and looked after by the mark price meanwhile. */
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import type { Event } from "../../../src/index.ts";
import type { Protect } from "../../../src/orders/protection/protect.ts";
import { begun, pass, stop, type World, worldOf } from "../../support/harness/engine.ts";
import { swap } from "../../support/harness/orders.ts";

const position = ({ venue }: World): string =>
  venue.truth("main").positions.find(({ instId }) => instId === swap)?.pos ?? "0";

/** An engine that has just bought 0.02 at 60000 with this protection; the market data is silent from now on. */
const held = async (protect: Protect, isReadable: () => boolean = () => true) => {
  const world = worldOf();
  world.watchful = true;
  world.spoil = (request, answer) =>
    request.endpoint === "positions" && !isReadable() ? { status: 503, headers: {}, body: "" } : answer;
  const entry = { slot: "long", instId: swap, side: "buy", ordType: "market", qty: "0.02", protect } as const;
  world.wanted$ = concat(of([entry]), NEVER);
  world.show(60_000);
  const life = await begun(world);
  await pass(world, 3_000);
  expect(position(world)).toBe("0.02");
  world.show(60_000);
  return { world, life, from: world.clock.now() };
};
/** A price at the service that no market data tells. */
const moved = ({ venue, clock }: World, px: number): void =>
  venue.quote(swap, px * 10, 1_000, px * 10 + 1, 1_000, clock.now());
const reports = ({ events }: { readonly events: readonly Event[] }, from: number) =>
  events.flatMap((event) =>
    event.type === "position.unprotected"
      ? [`${event.at - from} ${event.reason}`]
      : event.type === "position.protected"
        ? [`${event.at - from} protected`]
        : [],
  );

describe("A stop without a price", () => {
  it("is reported after five seconds, and acts on the mark price of the positions", async () => {
    const { world, life, from } = await held({ stopLoss: "59000" });
    await pass(world, 4_900);
    expect(reports(life, from)).toEqual([]);
    await pass(world, 1_000);
    expect(reports(life, from)).toEqual([
      "5000 no best price of BTC-USDT-SWAP has come for 5 s",
      expect.stringContaining("protected"),
    ]);
    moved(world, 58_900);
    await pass(world, 6_000);
    expect(position(world)).toBe("0");
    await stop(world, life.engine);
  });

  it("is reported once, as long as positions cannot be read either", async () => {
    let isReadable = false;
    const { world, life, from } = await held({ stopLoss: "59000" }, () => isReadable);
    await pass(world, 60_000);
    expect(reports(life, from)).toEqual(["5000 no best price of BTC-USDT-SWAP has come for 5 s"]);
    moved(world, 58_900);
    isReadable = true;
    await pass(world, 8_000);
    expect(position(world)).toBe("0");
    await stop(world, life.engine);
  });

  it("ends the reads with the first quote, and fills the next silence before it is reported", async () => {
    const { world, life, from } = await held({ stopLoss: "59000" });
    const reads = (): number =>
      life.events.filter((event) => event.type === "action.sent" && event.endpoint === "positions").length;
    await pass(world, 20_000);
    const silent = reads();
    expect(silent).toBeGreaterThan(2);
    for (let second = 0; second < 30; second++) {
      world.show(60_000);
      await pass(world, 1_000);
    }
    expect(reads()).toBe(silent);
    await pass(world, 60_000);
    expect(reads()).toBeGreaterThan(silent + 10);
    expect(reports(life, from)).toHaveLength(2);
    await stop(world, life.engine);
  });

  it.each<"mark" | "last">(["mark", "last"])("is reported with the trigger %s as well", async (trigger) => {
    let isReadable = true;
    const { world, life } = await held({ stopLoss: "59000", trigger }, () => isReadable);
    await pass(world, 20_000);
    const from = world.clock.now();
    isReadable = false;
    await pass(world, 10_000);
    const [told = "", ...rest] = reports(life, from).filter((text) => !text.startsWith("-"));
    expect(rest).toEqual([]);
    expect(told).toMatch(`no ${trigger} price of BTC-USDT-SWAP has come for 5 s`);
    moved(world, 58_900);
    isReadable = true;
    await pass(world, 10_000);
    expect(position(world)).toBe("0");
    await stop(world, life.engine);
  });
});

describe("While the service answers with a long Retry-After", () => {
  const paused = { status: 503, headers: { "retry-after": "3600" }, body: "" };

  it.each<Protect>([{ stopLoss: "59000", trigger: "mark" }, { stopLoss: "59000" }])(
    "the mark price is read every half minute for a stop that depends on it: %o",
    async (protect) => {
      const { world, life } = await held(protect);
      await pass(world, 20_000);
      let isPaused = true;
      world.spoil = (_, answer) => (isPaused ? paused : answer);
      const from = world.clock.now();
      const reads = (): number =>
        life.events.filter((e) => e.type === "action.sent" && e.endpoint === "positions" && e.at > from + 10_000)
          .length;
      await pass(world, 190_000);
      expect(reads()).toBeGreaterThanOrEqual(4);
      expect(reads()).toBeLessThanOrEqual(7);
      moved(world, 58_900);
      isPaused = false;
      await pass(world, 70_000);
      expect(position(world)).toBe("0");
      await stop(world, life.engine);
    },
  );

  it("no such read leaves for a stop whose price comes from the market data", async () => {
    const { world, life } = await held({ stopLoss: "59000" });
    world.spoil = () => paused;
    const from = world.clock.now();
    for (let second = 0; second < 100; second++) {
      world.show(60_000);
      await pass(world, 1_000);
    }
    const urgent = life.events.filter((e) => e.type === "action.sent" && e.class === "close" && e.at > from);
    expect(urgent).toEqual([]);
    await stop(world, life.engine);
  });
});
