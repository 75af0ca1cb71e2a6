/** The simulated machine: its clock, its disk, the faults it is given. */
import { describe, expect, it } from "vitest";
import { faultKinds, spellFault } from "../../../plugins/simulate/fault.ts";
import { sampleFaults } from "../../../plugins/simulate/fault-sampler.ts";
import { type DiskUser, SimulatedDisk } from "../../../plugins/simulate/faulty-disk.ts";
import { ProcessClock } from "../../../plugins/simulate/process-clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createRandom } from "../../../src/random.ts";

const clocks = () => {
  const time = createVirtualClock(1_000);
  const calendar = { offsetMs: 0 };
  return { time, calendar, life: new ProcessClock(time, () => calendar.offsetMs) };
};

describe("A simulated process's clock", () => {
  it("runs what became due while it stood still, late and in order, when it goes on", () => {
    const { time, life } = clocks();
    const ran: string[] = [];
    life.setTimer(1_100, () => ran.push(`a ${life.now()}`));
    life.setTimer(1_200, () => ran.push(`b ${life.now()}`));
    life.pause(false);
    time.advanceTo(2_000);
    expect(ran).toEqual([]);
    life.resume();
    expect(ran).toEqual(["a 2000", "b 2000"]);
    expect(life.timers).toBe(0);
  });

  it("stands still on the steady scale while the machine sleeps, and the calendar goes on", () => {
    const { time, life } = clocks();
    const ran: number[] = [];
    life.setTimer(1_100, () => ran.push(life.now()));
    time.advanceTo(1_050);
    life.pause(true);
    time.advanceTo(5_050);
    expect(life.now()).toBe(1_050);
    life.resume();
    expect(life.now()).toBe(1_050);
    expect(life.wallNow()).toBe(5_050);
    time.advanceTo(5_099);
    expect(ran).toEqual([]);
    time.advanceTo(5_100);
    expect(ran).toEqual([1_100]);
  });

  it("runs nothing and hears nothing once it is dead, and forgets cancelled timers", () => {
    const { time, life } = clocks();
    const ran: string[] = [];
    life.setTimer(1_100, () => ran.push("never")).cancel();
    life.setTimer(1_200, () => ran.push("too late"));
    expect(life.timers).toBe(1);
    life.kill();
    time.advanceTo(3_000);
    life.deliver(() => ran.push("news"));
    expect(ran).toEqual([]);
  });
});

const userOf = (clock = createVirtualClock()): DiskUser & { failures: number } => {
  const user = {
    clock,
    step: () => undefined,
    onDeath: () => undefined,
    failures: 0,
    onFailure: () => void user.failures++,
  };
  return user;
};
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const record = (clOrdId: string): Uint8Array => bytes(`{"type":"sent","uid":"main","clOrdId":"${clOrdId}"}\n`);

describe("A simulated disk", () => {
  it.each([
    ["nothing unflushed", 7],
    ["everything", 12],
  ] as const)("keeps %s when the process dies", async (fate, length) => {
    const disk = new SimulatedDisk();
    const open = disk.open(userOf());
    await open.create("a", bytes("0123"));
    const file = await open.open("a");
    await file.append(bytes("456"));
    await file.sync();
    await file.append(bytes("789ab"));
    disk.crash(fate, createRandom(1));
    expect((await open.read("a")).length).toBe(length);
  });

  it("tears what was not flushed at a place the seed says, and never what was", async () => {
    const lengths = new Set<number>();
    for (let seed = 0; seed < 30; seed++) {
      const disk = new SimulatedDisk();
      const open = disk.open(userOf());
      await open.create("a", bytes("0123"));
      await (await open.open("a")).append(bytes("4567"));
      disk.crash("a part", createRandom(seed));
      lengths.add((await open.read("a")).length);
    }
    expect(Math.min(...lengths)).toBeGreaterThanOrEqual(4);
    expect(lengths.size).toBeGreaterThan(3);
  });

  it("knows which placements' records are durable", async () => {
    const disk = new SimulatedDisk();
    const open = disk.open(userOf());
    await open.create("a", record("one"));
    const file = await open.open("a");
    await file.append(record("two"));
    expect([...disk.durable]).toEqual(["one"]);
    await file.sync();
    expect([...disk.durable]).toEqual(["one", "two"]);
  });

  it("fails once where it is told to, and is not durable then", async () => {
    const disk = new SimulatedDisk();
    const user = userOf();
    const open = disk.open(user);
    await open.create("a", bytes(""));
    const file = await open.open("a");
    disk.fail("write");
    await expect(file.append(bytes("x"))).rejects.toThrow("EIO");
    disk.fail("flush");
    await file.append(record("one"));
    await expect(file.sync()).rejects.toThrow("EIO");
    expect(disk.durable.size).toBe(0);
    expect(user.failures).toBe(2);
  });

  it("says what mode the next process finds, written and not flushed included, unless a crash takes it", async () => {
    const disk = new SimulatedDisk();
    const open = disk.open(userOf());
    const mode = (name: string): Uint8Array => bytes(`{"type":"mode","strategy":"","mode":"${name}"}\n`);
    expect(disk.halted).toBe(false);
    await open.create("a", mode("halted"));
    const file = await open.open("a");
    expect(disk.halted).toBe(true);
    await file.append(mode("active"));
    expect(disk.halted).toBe(false);
    disk.crash("nothing unflushed", createRandom(1));
    expect(disk.halted).toBe(true);
  });

  it("is held by one process at a time, and let go of by a dead one", async () => {
    const disk = new SimulatedDisk();
    const free = await disk.open(userOf()).lock("x");
    await expect(disk.open(userOf()).lock("x")).rejects.toThrow("holds x");
    await free();
    await disk.open(userOf()).lock("x");
    disk.crash("everything", createRandom(1));
    await disk.open(userOf()).lock("x");
  });
});

describe("The faults of a seed", () => {
  it("are the same each time, in order of time, inside the market's minutes", () => {
    for (const seed of [1, 2, 3]) {
      const faults = sampleFaults(seed, 10);
      expect(sampleFaults(seed, 10)).toEqual(faults);
      expect(faults.map(({ at }) => at)).toEqual(faults.map(({ at }) => at).sort((a, b) => a - b));
      expect(faults.every(({ at }) => Number.isInteger(at) && at >= 0 && at < 600_000)).toBe(true);
    }
  });

  it("are of some kinds only in each seed and of every kind over many, and each has words", () => {
    const seen = new Set<string>();
    for (let seed = 0; seed < 100; seed++) {
      const faults = sampleFaults(seed, 10);
      const kinds = new Set(faults.map(({ kind }) => kind));
      expect(kinds.size).toBeLessThan(faultKinds.length * 0.7);
      for (const kind of kinds) seen.add(kind);
      for (const fault of faults) expect(spellFault(fault)).not.toContain("$");
    }
    expect([...seen].sort()).toEqual([...faultKinds].sort());
    const crashes = Array.from({ length: 18 }, (_, pick) =>
      spellFault({ kind: "crash", at: 0, size: 0, forMs: 0, pick }),
    );
    expect(new Set(crashes).size).toBe(18);
  });
});
