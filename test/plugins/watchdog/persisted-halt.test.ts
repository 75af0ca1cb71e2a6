/** A halt left in the journal of an engine that was taken for dead: what its next life does, and what the journal's owner never notices. */
import { describe, expect, it } from "vitest";
import { createPersistedHalt } from "../../../plugins/watchdog/persisted-halt.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import type { Disk } from "../../../src/journal/disk.ts";
import { readChain } from "../../../src/journal/record-chain.ts";
import { openWriteAheadLog } from "../../../src/journal/write-ahead-log.ts";
import { begun, crash, pass, resting, stop, until, type World, worldOf } from "../../support/harness/engine.ts";
import { memoryDisk } from "../../support/harness/memory-disk.ts";

const reason = "the watchdog tripped: no beat for 15 s";
const mine = { service: `standing halt ${process.pid}`, users: "main", instance: "main" };

const recordsIn = (
  disk: ReturnType<typeof memoryDisk>,
): readonly { readonly type?: string; readonly owner?: typeof mine }[] =>
  [...disk.files.values()].flatMap((bytes) => readChain(bytes).records as { readonly type?: string }[]);
const spelled = (disk: ReturnType<typeof memoryDisk>): string =>
  [...disk.files].map(([name, bytes]) => `${name} ${bytes.toString("utf8")}`).join("\n");

/** The watchdog of a world: another process, which the death of an engine does not concern. */
const watchdogOf = ({ clock, disk }: World) => {
  const own = Object.create(disk, { onStep: { value: () => undefined } }) as Disk;
  const [header] = recordsIn(disk);
  const halt = createPersistedHalt({ clock, dir: "journal", owner: header?.owner ?? mine, openDisk: async () => own });
  const settled = async (): Promise<typeof halt.state> => {
    // The lock is the machine's, which takes its time.
    for (let turn = 0; halt.state === undefined && turn < 1_000; turn++) await new Promise(setImmediate);
    return halt.state;
  };
  return { halt, settled };
};
const modes = (events: readonly object[]): readonly string[] =>
  (events as { type: string; mode?: string; reason?: string }[]).flatMap((event) =>
    event.type === "mode.changed" ? [`${event.mode}: ${event.reason}`] : [],
  );

describe("The next run after a watchdog trip", () => {
  it("takes back what it finds and places nothing, and so does each after it until one is told to resume", async () => {
    const world = worldOf();
    const first = await begun(world);
    await pass(world, 3_000);
    await crash(world, first);
    world.disk.crash("lost");
    world.disk.onStep = () => undefined;
    expect(resting(world)).toHaveLength(2);
    const { halt, settled } = watchdogOf(world);
    halt.begin(reason);
    expect(await settled()).toEqual({ kind: "written" });
    for (const _ of ["second", "third"]) {
      const life = await begun(world);
      await pass(world, 60_000);
      expect(modes(life.events)).toEqual([`halted: ${reason}`]);
      expect(resting(world)).toEqual([]);
      expect(world.venue.truth("main").orders).toHaveLength(2);
      await stop(world, life.engine);
    }
    world.journal = { resume: true };
    const resumed = await begun(world);
    await pass(world, 10_000);
    expect(resting(world)).toEqual(["29000", "30000"]);
    await stop(world, resumed.engine);
  });

  it("knows why it was halted before, if it was", async () => {
    const world = worldOf();
    const first = await begun(world);
    first.engine.halt("enough").subscribe();
    await pass(world, 3_000);
    await stop(world, first.engine);
    const { halt, settled } = watchdogOf(world);
    halt.begin(reason);
    expect(await settled()).toEqual({ kind: "written" });
    const second = await begun(world);
    await pass(world, 3_000);
    expect(modes(second.events)).toEqual(["halted: enough"]);
    await stop(world, second.engine);
  });

  it("loses nothing by a line that the dead one had half written, and the watchdog tells of it", async () => {
    const world = worldOf();
    await crash(world, await begun(world));
    world.disk.onStep = () => undefined;
    const [[name, bytes] = ["", Buffer.alloc(0)]] = world.disk.files;
    const before = readChain(bytes).records.length;
    world.disk.files.set(name, Buffer.concat([bytes, Buffer.from('0123 {"type":"se')]));
    const { halt, settled } = watchdogOf(world);
    halt.begin(reason);
    expect(await settled()).toEqual({ kind: "written", repaired: expect.stringContaining("cut off") });
    const { records, ending } = readChain(world.disk.files.get(name) ?? Buffer.alloc(0));
    expect([ending, records.slice(before)]).toEqual([
      "whole",
      [{ type: "mode", strategy: "", mode: "halted", reason }],
    ]);
  });
});

describe("An engine holding its journal at a trip", () => {
  it("is left alone with it, and the halt is written when it is gone", async () => {
    const world = worldOf();
    const { engine } = await begun(world);
    await pass(world, 3_000);
    const { halt, settled } = watchdogOf(world);
    const before = spelled(world.disk);
    halt.begin(reason);
    expect(await settled()).toEqual({ kind: "held" });
    await pass(world, 10_000);
    expect([halt.state, spelled(world.disk)]).toEqual([{ kind: "held" }, before]);
    await stop(world, engine);
    await pass(world, 1_000);
    for (let turn = 0; halt.state?.kind === "held" && turn < 1_000; turn++) await new Promise(setImmediate);
    expect(halt.state).toEqual({ kind: "written" });
    expect(recordsIn(world.disk).at(-1)).toMatchObject({ type: "mode", mode: "halted" });
  });

  it("keeps it when it took over: nothing is tried any more", async () => {
    const world = worldOf();
    const { engine } = await begun(world);
    const { halt, settled } = watchdogOf(world);
    halt.begin(reason);
    await settled();
    halt.desist();
    expect(halt.state).toBeUndefined();
    await stop(world, engine);
    await pass(world, 10_000);
    await halt.end();
    expect(recordsIn(world.disk).filter(({ type }) => type === "mode")).toEqual([]);
  });

  it("keeps it also when it took over in the middle of a try", async () => {
    const world = worldOf();
    const { engine } = await begun(world);
    const { halt } = watchdogOf(world);
    halt.begin(reason);
    halt.desist();
    await stop(world, engine);
    await halt.end();
    await halt.end();
    expect([halt.state, recordsIn(world.disk).some(({ type }) => type === "mode")]).toEqual([undefined, false]);
  });

  it("and is gone when the watchdog ends is halted by a last try", async () => {
    const world = worldOf();
    const { engine } = await begun(world);
    const { halt, settled } = watchdogOf(world);
    halt.begin(reason);
    await settled();
    await stop(world, engine);
    await halt.end();
    expect([halt.state, recordsIn(world.disk).at(-1)?.type]).toEqual([{ kind: "written" }, "mode"]);
    const before = spelled(world.disk);
    await pass(world, 10_000);
    expect(spelled(world.disk)).toBe(before);
  });

  it("starts unhindered once the record is written: the lock is let go of", async () => {
    const world = worldOf();
    await crash(world, await begun(world));
    world.disk.onStep = () => undefined;
    const { halt, settled } = watchdogOf(world);
    halt.begin(reason);
    await settled();
    const next = await begun(world);
    await until(world, next.engine.stop());
  });
});

describe("A damaged or missing journal at a trip", () => {
  const tried = async (disk: ReturnType<typeof memoryDisk> | undefined, owner = mine) => {
    const { clock } = worldOf();
    const halt = createPersistedHalt({ clock, dir: "/nowhere/journal", owner, openDisk: async () => disk });
    halt.begin(reason);
    for (let turn = 0; halt.state === undefined && turn < 1_000; turn++) await new Promise(setImmediate);
    await letPromisesSettle();
    return halt.state;
  };
  const journal = async (...records: readonly object[]) => {
    const disk = memoryDisk();
    const store = await openWriteAheadLog({
      disk,
      owner: mine,
      snapshot: () => [],
      segmentBytes: Number.POSITIVE_INFINITY,
    });
    for (const record of records) store.append(record);
    await store.close();
    return disk;
  };

  it("is not begun where there is none", async () => {
    expect(await tried(undefined)).toEqual({ kind: "failed", why: "there is no journal at /nowhere/journal" });
    const disk = memoryDisk();
    expect(await tried(disk)).toEqual({ kind: "failed", why: "there is no journal at memory" });
    expect(disk.files.size).toBe(0);
  });

  it("is left as it is when it is damaged, or somebody else's", async () => {
    const damaged = await journal({ type: "life", number: 1, at: 1 }, { type: "life", number: 2, at: 2 });
    const [[name, bytes] = ["", Buffer.alloc(0)]] = damaged.files;
    damaged.files.set(name, Buffer.from(bytes.toString("utf8").replace('"number":1', '"number":7')));
    const before = spelled(damaged);
    expect(await tried(damaged)).toEqual({ kind: "failed", why: expect.stringContaining("is damaged after byte") });
    expect(spelled(damaged)).toBe(before);
    const theirs = await journal({ type: "life", number: 1, at: 1 });
    expect(await tried(theirs, { ...mine, users: "other" })).toEqual({
      kind: "failed",
      why: expect.stringContaining("not of"),
    });
    expect(recordsIn(theirs)).toHaveLength(2);
  });

  it("that cannot be written is told of", async () => {
    const disk = await journal({ type: "life", number: 1, at: 1 });
    disk.failSyncs(10);
    expect(await tried(disk)).toEqual({ kind: "failed", why: expect.stringContaining("EIO") });
  });

  it("is not cut short when it is long, nor by what is not understood", async () => {
    const oath = { type: "oath", words: "x".repeat(1_500_000) };
    const disk = await journal(oath, oath, oath);
    expect(await tried(disk)).toEqual({ kind: "written" });
    expect(disk.files.size).toBe(1);
    expect(recordsIn(disk).map(({ type }) => type)).toEqual([undefined, "oath", "oath", "oath", "mode"]);
  });
});
