/** When the watchdog acts and when not, and what the engine makes of it. */
import { describe, expect, it } from "vitest";
import { engineOn, watchdogOn, world } from "./harness/watchdog.ts";

const pair = (silenceMs = 15_000, beatMs = 1_000) => {
  const here = world();
  const dog = watchdogOn(here, silenceMs);
  const engine = engineOn(here, dog.dialFrom, "one", beatMs);
  engine.heart.start();
  engine.heart.ready();
  here.run(10);
  return { here, dog, engine };
};

describe("An engine with a heartbeat", () => {
  it("is watched without anything being done", () => {
    const { here, dog, engine } = pair();
    here.run(3_600_000);
    expect([dog.kinds(), dog.acts]).toEqual([["armed"], []]);
    expect(engine.types()).toEqual(["watchdog.armed"]);
    expect(engine.heart.refused()).toBeUndefined();
  });

  it("that is killed is taken for dead after the silence, not before", () => {
    const { here, dog, engine } = pair();
    here.run(60_000);
    engine.process.kill();
    here.run(14_000);
    expect([dog.kinds(), dog.acts]).toEqual([["armed", "disconnected"], []]);
    here.run(2_000);
    expect(dog.acts).toEqual(["no beat for 15 s"]);
    here.run(3_600_000);
    expect(dog.acts).toHaveLength(1);
  });

  it("that is restarted in time keeps its orders", () => {
    const { here, dog, engine } = pair();
    engine.process.kill();
    here.run(12_000);
    const next = engineOn(here, dog.dialFrom, "two");
    next.heart.start();
    next.heart.ready();
    here.run(60_000);
    expect(dog.acts).toEqual([]);
    expect(dog.news.at(-1)).toEqual({ kind: "armed", silenceMs: 15_000, again: true });
  });

  it("whose line breaks calls again, and is still the same", () => {
    const { here, dog, engine } = pair();
    for (const end of engine.process.ends.splice(0)) end();
    here.run(60_000);
    expect(dog.news.map((one) => (one.kind === "armed" ? `armed ${one.again}` : one.kind))).toEqual([
      "armed false",
      "disconnected",
      "armed false",
    ]);
    expect([dog.acts, engine.halts, engine.types()]).toEqual([
      [],
      [],
      ["watchdog.armed", "watchdog.lost", "watchdog.armed"],
    ]);
  });

  it("that only ever starts is no help, however often", () => {
    const { here, dog, engine } = pair();
    engine.process.kill();
    for (let life = 0; life < 40; life++) {
      here.run(5_000);
      const next = engineOn(here, dog.dialFrom, `life ${life}`);
      next.heart.start();
      here.run(5_000);
      next.process.kill();
    }
    expect(dog.acts.slice(0, 1)).toEqual(["no engine got as far as trading for 300 s"]);
  });

  it("that says goodbye leaves its orders, and nobody acts", async () => {
    const { here, dog, engine } = pair();
    const left = engine.heart.leave();
    here.run(2_000);
    expect(await left).toBe(true);
    here.run(3_600_000);
    expect([dog.kinds(), dog.acts]).toEqual([["armed", "goodbye"], []]);
  });

  it("that hangs up without a goodbye is taken for dead", () => {
    const { here, dog, engine } = pair();
    engine.heart.stop();
    here.run(16_000);
    expect(dog.acts).toHaveLength(1);
  });

  it("with beats far apart gets three of them", () => {
    const { here, dog, engine } = pair(15_000, 10_000);
    engine.process.kill();
    here.run(29_000);
    expect(dog.acts).toEqual([]);
    here.run(2_000);
    expect(dog.acts).toHaveLength(1);
  });
});

describe("Time the watchdog did not observe:", () => {
  it("a watchdog that was itself frozen has heard no silence", () => {
    const { here, dog } = pair();
    dog.process.freeze();
    here.run(600_000);
    dog.process.thaw();
    here.run(60_000);
    expect(dog.acts).toEqual([]);
  });

  it("a machine that slept wakes up without anybody being dead", () => {
    const { here, dog, engine } = pair();
    for (const { process } of [dog, engine]) process.freeze();
    here.run(8 * 3_600_000);
    dog.process.thaw();
    engine.process.thaw();
    here.run(60_000);
    expect([dog.acts, engine.halts]).toEqual([[], []]);
    expect(engine.heart.refused()).toBeUndefined();
    expect(engine.cleared()).toBe(1);
  });

  it("a calendar that steps changes nothing", () => {
    const { here, dog, engine } = pair();
    for (const step of [3_600_000, -7_200_000, 86_400_000]) {
      here.clock.stepWall(step);
      here.run(30_000);
    }
    expect([dog.acts, engine.halts]).toEqual([[], []]);
  });
});

describe("An engine whose watchdog tripped", () => {
  it("places nothing from the moment it wakes, hears why, and halts", () => {
    const { here, dog, engine } = pair();
    engine.process.freeze();
    here.run(20_000);
    expect(dog.acts).toHaveLength(1);
    // Before anything has arrived: the first timer that runs must not place.
    expect(engine.heart.refused()).toContain("was blocked");
    engine.process.thaw();
    here.run(10);
    expect(engine.halts).toEqual(["the watchdog tripped: no beat for 15 s"]);
    expect(engine.types()).toEqual(["watchdog.armed", "watchdog.tripped"]);
    here.run(60_000);
    expect(engine.heart.refused()).toContain("the watchdog tripped");
    expect(engine.halts).toHaveLength(1);
  });

  it("is looked after once more when it speaks again, and told as often as it asks", () => {
    const { here, dog, engine } = pair();
    engine.process.freeze();
    here.run(20_000);
    engine.process.thaw();
    here.run(60_000);
    expect(dog.kinds()).toEqual(["armed", "tripped", "reconnected"]);
    expect(dog.acts).toEqual(["no beat for 15 s", "no beat for 15 s"]);
  });

  it("learns whether orders are still being canceled, and when that is over", () => {
    const { here, dog, engine } = pair();
    const state = (): string => engine.heart.standing.state;
    expect(state()).toBe("quiet");
    engine.process.freeze();
    here.run(20_000);
    dog.isFlat();
    expect(state()).toBe("doubtful");
    engine.process.thaw();
    here.run(5_000);
    // It has begun once more, as the engine has spoken again.
    expect(state()).toBe("canceling");
    const before = engine.cleared();
    dog.isFlat();
    here.run(2_000);
    expect([state(), engine.cleared()]).toEqual(["finished", before + 1]);
  });

  it("takes the work of a watchdog for finished that is gone", () => {
    const { here, dog, engine } = pair();
    engine.process.freeze();
    here.run(20_000);
    dog.process.kill();
    engine.process.thaw();
    here.run(10);
    expect(engine.heart.standing.state).toBe("finished");
  });

  it("halts too when the watchdog has done its work and gone", () => {
    const { here, dog, engine } = pair();
    engine.process.freeze();
    here.run(20_000);
    dog.process.kill();
    engine.process.thaw();
    here.run(10);
    expect(engine.halts).toHaveLength(1);
  });

  it("that stood still longer than it may have been missed, beside a watchdog that is gone, takes no chances", () => {
    const { here, dog, engine } = pair();
    engine.process.freeze();
    here.run(5_000);
    dog.process.kill();
    here.run(15_000);
    engine.process.thaw();
    here.run(10);
    expect(dog.acts).toEqual([]);
    expect(engine.halts).toEqual([expect.stringMatching(/was blocked for \d+ ms, and the watchdog is gone/)]);
  });

  it("does not make a living one of its successor's orders", () => {
    const { here, dog, engine } = pair();
    engine.process.freeze();
    here.run(20_000);
    dog.did("no beat for 15 s; 2 orders were cancelled");
    const next = engineOn(here, dog.dialFrom, "two");
    next.heart.start();
    next.heart.ready();
    here.run(10);
    expect(dog.desisted()).toBe(2);
    expect(next.events).toEqual([
      { type: "watchdog.armed", silenceMs: 15_000, before: "no beat for 15 s; 2 orders were cancelled" },
    ]);
    engine.process.thaw();
    here.run(60_000);
    expect(engine.halts).toHaveLength(1);
    // The living one looks after what the dead one may have placed.
    expect([dog.acts, next.halts]).toEqual([["no beat for 15 s"], []]);
  });
});

describe("An engine without a watchdog", () => {
  it("says so after a while, once, trades on, and is watched from the moment one comes", () => {
    const here = world();
    const dog = watchdogOn(here);
    dog.process.kill();
    const engine = engineOn(here, dog.dialFrom);
    engine.heart.start();
    here.run(5_000);
    expect(engine.events).toEqual([]);
    here.run(60_000);
    expect(engine.events).toEqual([{ type: "watchdog.lost", reason: "no watchdog listens" }]);
    expect(engine.heart.refused()).toBeUndefined();
  });

  it("whose watchdog dies says so and goes on", () => {
    const { here, dog, engine } = pair();
    here.run(500);
    dog.process.kill();
    here.run(60_000);
    expect(engine.types()).toEqual(["watchdog.armed", "watchdog.lost"]);
    expect([engine.halts, engine.heart.refused()]).toEqual([[], undefined]);
  });

  it("whose watchdog hangs says so, and finds it again", () => {
    const { here, dog, engine } = pair();
    dog.process.freeze();
    here.run(60_000);
    expect(engine.types()).toEqual(["watchdog.armed", "watchdog.lost"]);
    dog.process.thaw();
    here.run(20_000);
    expect(engine.types().at(-1)).toBe("watchdog.armed");
    expect(engine.halts).toEqual([]);
  });

  it("stops in order all the same", async () => {
    const { here, dog, engine } = pair();
    dog.process.freeze();
    const left = engine.heart.leave();
    here.run(2_000);
    expect(await left).toBe(false);
  });
});
