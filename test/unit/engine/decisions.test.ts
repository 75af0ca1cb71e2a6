/** What was decided about trading holds in the next life, and for what was already on its way out. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { concat, NEVER, of } from "rxjs";
import { describe, expect, it } from "vitest";
import { main } from "../../../src/cli/main.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { monitorForeignUsage } from "../../../src/engine/shared-access.ts";
import { SluiceError } from "../../../src/errors.ts";
import type { Event } from "../../../src/index.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import { capturedIo } from "../../support/captured-io.ts";
import {
  begun,
  crash,
  far,
  lifeOf,
  pass,
  resting,
  stop,
  until,
  type World,
  worldOf,
} from "../../support/harness/engine.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

const modes = (events: readonly Event[]): readonly string[] =>
  events.flatMap((event) => (event.type === "mode.changed" ? [`${event.mode}: ${event.reason}`] : []));

/** A disk that takes so long for each flush, for as long as it is slow. */
const slowDisk = (world: World, flushMs = 1_000) => {
  const disk = { slow: true };
  const inner = world.disk.open.bind(world.disk);
  Object.assign(world.disk, {
    open: async (name: string) => {
      const file = await inner(name);
      const sync = async (): Promise<void> => {
        await file.sync();
        if (disk.slow) await new Promise<void>((resolve) => world.clock.setTimer(world.clock.now() + flushMs, resolve));
      };
      return { ...file, sync };
    },
  });
  return disk;
};

describe("A journalled halt", () => {
  it("outlives the process: the next one cancels what it finds and places nothing until somebody resumes", async () => {
    const world = worldOf();
    const first = await begun(world);
    await pass(world, 3_000);
    world.lose = ({ endpoint }) => (endpoint === "cancelBatch" ? "request" : undefined);
    first.engine.halt("enough").subscribe();
    await pass(world, 100);
    await crash(world, first);
    world.disk.crash("lost");
    world.lose = () => undefined;
    expect(resting(world)).toHaveLength(2);
    const second = await begun(world);
    await pass(world, 60_000);
    expect(modes(second.events)).toEqual(["halted: enough"]);
    expect(second.events[0]).toMatchObject({ type: "mode.changed", mode: "halted" });
    expect(resting(world)).toEqual([]);
    expect(world.venue.truth("main").orders).toHaveLength(2);
    second.engine.resume("looked at it");
    await pass(world, 60_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await crash(world, second);
    const third = await begun(world);
    await pass(world, 5_000);
    expect(modes(third.events)).toEqual([]);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await stop(world, third.engine);
  });

  it("of one strategy outlives the process too; a stop that cancels everything is no halt", async () => {
    const world = worldOf();
    const first = await begun(world);
    await pass(world, 3_000);
    first.engine.halt("this one", { strategy: "one" }).subscribe();
    await pass(world, 3_000);
    await until(world, first.engine.stop({ cancel: true }));
    const second = await begun(world);
    await pass(world, 30_000);
    expect(resting(world)).toEqual([]);
    expect(second.events.filter(({ type }) => type === "strategy.halted")).toEqual([
      expect.objectContaining({ strategy: "one", reason: "this one" }),
    ]);
    await stop(world, second.engine);
    world.journal = { resume: true };
    const third = await begun(world);
    await pass(world, 30_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await until(world, third.engine.stop({ cancel: true }));
    world.journal = {};
    const fourth = await begun(world);
    await pass(world, 30_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await stop(world, fourth.engine);
  });

  it("is stopped while it opens its journal: nothing goes on, and the next one may have it", async () => {
    const world = worldOf();
    const first = lifeOf(world);
    const started = first.engine.start().catch((error: unknown) => String(error));
    const stopped = first.engine.stop();
    await until(world, stopped);
    await pass(world, 10_000);
    expect(await started).toContain("The engine was stopped while it started.");
    expect(first.events.filter(({ type }) => type === "action.sent")).toEqual([]);
    const second = await begun(world);
    await stop(world, second.engine);
  });

  it("is stopped while it reads back the history: the start ends with it", async () => {
    const world = worldOf();
    await crash(world, await begun(world));
    let histories = 0;
    world.lose = ({ endpoint }) => (endpoint === "orderHistory" && ++histories > 1 ? "request" : undefined);
    const second = lifeOf(world);
    let end = "";
    second.engine.start().catch((error: unknown) => {
      end = String(error);
    });
    await pass(world, 2_000);
    expect([histories, end]).toEqual([2, ""]);
    await until(world, second.engine.stop());
    await pass(world, 1);
    expect(end).toContain("The engine was stopped while it started.");
  });

  it("keeps back what waits for its record at a stop, and the next life has nothing to look for", async () => {
    const world = worldOf();
    const first = lifeOf(world);
    const disk = slowDisk(world);
    await until(world, first.engine.start());
    await pass(world, 100);
    expect(first.events.filter(({ type }) => type === "action.sent").length).toBeGreaterThan(0);
    disk.slow = false;
    const ended = first.engine.stop({ settleMs: 10_000 });
    await until(world, ended);
    expect(world.venue.truth("main").orders).toEqual([]);
    const second = lifeOf(world);
    await until(world, second.engine.start());
    await pass(world, 5_000);
    expect(second.events.filter(({ type }) => type === "journal.opened")).toMatchObject([{ unresolved: 0 }]);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await stop(world, second.engine);
  });

  it("keeps back a placement that waits for its record to be flushed; it is placed anew after that", async () => {
    const world = worldOf();
    const first = lifeOf(world);
    const disk = slowDisk(world);
    const start = first.engine.start();
    await until(world, start);
    await pass(world, 100);
    expect(first.events.filter(({ type }) => type === "action.sent").length).toBeGreaterThan(0);
    const gone: string[] = [];
    first.engine.halt("enough").subscribe(({ phase }) => gone.push(phase));
    await pass(world, 30_000);
    expect(world.venue.truth("main").orders).toEqual([]);
    expect(gone).toEqual(["canceled", "canceled"]);
    disk.slow = false;
    first.engine.resume("again");
    await pass(world, 5_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await stop(world, first.engine);
  });
});

describe("A placement whose record takes long to be flushed", () => {
  it("may be on its way for thirty seconds after it left, and is not taken for absent before", async () => {
    const world = worldOf();
    world.wanted$ = concat(of([far("a", "30000")]), NEVER);
    const left: number[] = [];
    world.lose = ({ endpoint }) => {
      if (endpoint !== "placeOrder" || left.length > 0) return undefined;
      left.push(world.clock.now());
      return "request";
    };
    const { engine, events } = lifeOf(world);
    const disk = slowDisk(world, 8_000);
    const absentAt: number[] = [];
    engine.on("order.absent", () => absentAt.push(world.clock.now()));
    await until(world, engine.start());
    await pass(world, 20_000);
    disk.slow = false;
    await pass(world, 60_000);
    const sent = events.find((event) => event.type === "action.sent" && event.endpoint === "placeOrder");
    expect(left).toHaveLength(1);
    expect((left[0] as number) - (sent?.at ?? Number.NaN)).toBeGreaterThanOrEqual(8_000);
    expect(absentAt).toHaveLength(1);
    // Two looks at the lists that count, ten seconds apart, after thirty.
    expect((absentAt[0] as number) - (left[0] as number)).toBeGreaterThan(40_000);
    expect(resting(world)).toEqual(["30000"]);
    await stop(world, engine);
  });
});

describe("Journalled order limits", () => {
  it("that are wider than an earlier life's are refused by name until they are accepted; narrower ones hold at once", async () => {
    const world = worldOf();
    world.wanted$ = concat(of([far("a", "30000")]), NEVER);
    world.orders = { orderNotionalMax: "1000", openInAll: 50 };
    await stop(world, (await begun(world)).engine);
    world.orders = { openInAll: 40 };
    const refused = lifeOf(world);
    const start = refused.engine.start();
    start.catch(() => undefined);
    await until(world, start);
    const error = (await start.catch((reason: unknown) => reason)) as Error;
    expect(error.message).toMatch(
      /config\.orders is wider than what .*journal was traded under\. If that is meant, start once with --accept-limits [0-9a-f]{8}/,
    );
    expect(error.message).toMatch(/orderNotionalMax from 1000 to no limit/);
    expect(error.message).not.toMatch(/openInAll/);
    const [, acceptLimits = ""] = /--accept-limits (\w+)/.exec(error.message) ?? [];
    world.journal = { acceptLimits: "00000000" };
    await expect(lifeOf(world).engine.start()).rejects.toThrow(/is wider/);
    world.journal = { acceptLimits };
    await stop(world, (await begun(world)).engine);
    world.journal = {};
    await stop(world, (await begun(world)).engine);
    // Accepted once for that very width, and not for any other.
    world.orders = { openInAll: 41 };
    await expect(lifeOf(world).engine.start()).rejects.toThrow(/openInAll from 40 to 41/);
  });

  it.each([
    ["lossInAll", "100", "100.5"],
    ["priceBandPct", "5", "10"],
    ["changesPerSecond", 2, 3],
    ["allowUncancellable", false, true],
  ])("count %s", async (name, before, after) => {
    const world = worldOf();
    world.orders = { [name]: before };
    await stop(world, (await begun(world)).engine);
    world.orders = { [name]: after };
    await expect(lifeOf(world).engine.start()).rejects.toThrow(new RegExp(`${name} from ${before} to ${after}`));
    world.orders = { [name]: before };
    await stop(world, (await begun(world)).engine);
  });
});

describe("A journal of a later version", () => {
  it("is refused: what it says may forbid to trade", async () => {
    const world = worldOf();
    await stop(world, (await begun(world)).engine);
    const [name = ""] = world.disk.files.keys();
    const { lineOf, readChain } = await import("../../../src/journal/record-chain.ts");
    const bytes = world.disk.files.get(name) ?? Buffer.alloc(0);
    const { text } = lineOf(readChain(bytes).mark, JSON.stringify({ type: "oath", words: "never again" }));
    world.disk.files.set(name, Buffer.concat([bytes, Buffer.from(text)]));
    await expect(lifeOf(world).engine.start()).rejects.toThrow(
      /record of type "oath", which this version does not know/,
    );
  });
});

describe("sluice run", () => {
  const folder = temporaryFolder("decisions");
  const given = async (journal: string, ...argv: string[]) => {
    const path = join(folder, `${journal === "" ? "without" : "with"}.mjs`);
    writeFileSync(path, `export default { service: { kind: "none" }, strategies: []${journal} };`);
    const io = capturedIo();
    let config: unknown;
    const createEngine = (input: unknown): never => {
      config = input;
      throw new SluiceError("ENGINE_STATE", "enough");
    };
    const code = await main(["run", path, ...argv], io, { createEngine });
    return { code, config, text: io.errText };
  };

  it("tells the journal to go on after a halt, and which wider limits are meant", async () => {
    const { config } = await given(
      ', journal: { dir: "j" }',
      "--resume",
      "--accept-limits",
      "0123abcd",
      "--reset-risk-counters",
    );
    expect(config).toMatchObject({
      journal: { dir: "j", resume: true, acceptLimits: "0123abcd", resetRiskCounters: true },
    });
    const some = await given(', journal: { dir: "j" }', "--reset-risk-counters-of", "BTC-USDT-SWAP, ETH-USDT");
    expect(some.config).toMatchObject({ journal: { resetRiskCounters: ["BTC-USDT-SWAP", "ETH-USDT"] } });
    const { code, text } = await given("", "--resume");
    expect([code, text]).toEqual([2, expect.stringMatching(/this config has none/)]);
  });
});

describe("Quota use by other clients", () => {
  it("is told once a window when it takes a tenth of a layer", () => {
    const clock = createVirtualClock(0);
    const events: Event[] = [];
    const journal = new EventLog(() => clock.now());
    let foreign = 119;
    const othersUse = (at: number) => [
      {
        layer: "uid",
        scope: "main",
        capacity: 1_200,
        foreign,
        windowEndsAt: Math.floor(at / 60_000) * 60_000 + 60_000,
      },
    ];
    monitorForeignUsage(journal, { othersUse });
    journal.attach((event) => events.push(event));
    const answered = (at: number): number => {
      clock.advanceTo(at);
      journal.append({
        type: "action.answered",
        endpoint: "instruments",
        outcome: "done",
        status: 200,
        code: "0",
        elapsedMs: 1,
      });
      return events.filter(({ type }) => type === "quota.otherClients").length;
    };
    expect(answered(1_000)).toBe(0);
    foreign = 120;
    // Looked at once a second.
    expect(answered(1_500)).toBe(0);
    expect(answered(2_000)).toBe(1);
    expect(answered(30_000)).toBe(1);
    expect(answered(61_000)).toBe(2);
    expect(events.find(({ type }) => type === "quota.otherClients")).toMatchObject({ layer: "uid", used: 120 });
  });
});
