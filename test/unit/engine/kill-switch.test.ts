/** How long a halt takes to get every order off the market, on virtual time against the embedded service and its limits. */
import { BehaviorSubject } from "rxjs";
import { describe, expect, it } from "vitest";
import { begun, far, pass, stop, type World, worldOf } from "../../support/harness/engine.ts";

const count = 200;
const minuteMs = 60_000;

const rungs = (below: number) =>
  Array.from({ length: count }, (_, index) => far(`slot-${index}`, String(20_000 + index - below)));

/** A world in which two hundred contract orders rest, `intoMs` after a window of the service has begun. */
const crowded = async (intoMs: number) => {
  const world = worldOf();
  world.orders = { openPerStrategy: count, openInAll: 2 * count };
  const moved$ = new BehaviorSubject(rungs(0));
  world.wanted$ = moved$;
  const { engine } = await begun(world);
  await pass(world, 6 * minuteMs);
  expect(live(world)).toHaveLength(count);
  await pass(world, minuteMs - (world.clock.now() % minuteMs) + intoMs);
  return { world, engine, moved$ };
};

const live = ({ venue }: World) => venue.truth("main").orders.filter(({ state }) => state === "live");

/** Halts, and gives the time until the service has executed the last cancel, in milliseconds. */
const haltIn = async ({ world, engine }: Awaited<ReturnType<typeof crowded>>): Promise<number> => {
  const haltedAt = world.clock.now();
  let goneAt = Number.POSITIVE_INFINITY;
  world.venue.onOrder(() => {
    goneAt = world.clock.now();
  });
  engine.halt("everything must go").subscribe();
  await pass(world, 2 * minuteMs);
  expect(live(world)).toEqual([]);
  await stop(world, engine);
  return goneAt - haltedAt;
};

describe("A halt with two hundred open contract orders", () => {
  it.each([100, 30_000, 59_900])("cancels all of them within two seconds, %i ms into a window", async (intoMs) => {
    expect(await haltIn(await crowded(intoMs))).toBeLessThanOrEqual(2_000);
  });

  it.each([100, 30_000, 59_000])(
    "cancels all of them within sixty-two seconds when somebody else has used up the minute, %i ms into it",
    async (intoMs) => {
      const crowd = await crowded(intoMs);
      const { world } = crowd;
      for (let spent = 0; spent < 1_200; spent += 5) world.venue.spendElsewhere("main", 5, world.clock.now());
      const tookMs = await haltIn(crowd);
      expect(tookMs).toBeGreaterThan(minuteMs - intoMs - 1_000);
      expect(tookMs).toBeLessThanOrEqual(62_000);
    },
  );

  it("cancels all of them within two seconds while the strategy spends everything ordinary work may", async () => {
    const crowd = await crowded(100);
    const { world } = crowd;
    for (let step = 1; step <= 20; step++) {
      crowd.moved$.next(rungs(step));
      await pass(world, 1_000);
    }
    expect(await haltIn(crowd)).toBeLessThanOrEqual(2_000);
  });
});
