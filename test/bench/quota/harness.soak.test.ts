/**
 * The bench is only worth as much as its harness: the meter, the machine, the counting and the two references are tested here.
 *
 * Not here: the peers, which are not installed for the tests.
 */
import { describe, expect, it, vi } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createRandom } from "../../../src/random.ts";
import { scenarios } from "./all-scenarios.ts";
import { runCell } from "./cell.ts";
import type { CreateLimiter } from "./limiter.ts";
import { createMachine } from "./machine.ts";
import { createMeter } from "./meter.ts";
import { optionsFrom } from "./options.ts";
import { runAll } from "./pool.ts";
import { configurations } from "./reference.ts";
import { report } from "./report.ts";
import { contendersOf, roster } from "./roster.ts";
import type { Scenario } from "./scenarios.ts";
import { createCounter, figuresOf, quantile, type Tally } from "./tally.ts";
import { checksOf } from "./targets.ts";

const scenario = (id: string): Scenario => scenarios[id] as Scenario;
const run = (id: string, name: string, seed = 1, minutes = 2): Promise<Tally> =>
  runCell({ scenario: scenario(id), seed, minutes, createLimiter: configurations[name] as CreateLimiter });

describe("The bench meter", () => {
  const home = { ip: "home", key: "a", user: "user" };

  it("admits ten calls of a key in a second and an eleventh in the next", () => {
    const meter = createMeter();
    for (let i = 0; i < 10; i++) expect(meter.judge(999, home, 1).accepted).toBe(true);
    expect(meter.judge(999, home, 1).accepted).toBe(false);
    expect(meter.judge(999, { ...home, key: "b" }, 1).accepted).toBe(true);
    expect(meter.judge(1_000, home, 1).accepted).toBe(true);
  });

  it("refuses the call that crosses the weight and blocks the user, not the key, to the end of the minute", () => {
    const meter = createMeter();
    for (let second = 0; second < 12; second++) for (let i = 0; i < 10; i++) meter.judge(second * 1_000, home, 10);
    expect(meter.judge(20_000, home, 1)).toMatchObject({ accepted: false, blocksForMs: 40_000 });
    expect(meter.judge(59_999, { ...home, ip: "elsewhere", key: "b" }, 1)).toMatchObject({
      accepted: false,
      blocksForMs: 0,
    });
    expect(meter.judge(60_000, home, 1)).toMatchObject({ accepted: true, uidUsed: 1 });
  });

  it("blocks on crossing even when a lighter call would still fit", () => {
    const meter = createMeter();
    for (let i = 0; i < 79; i++) meter.judge(i * 100, home, 15);
    expect(meter.judge(10_000, home, 16)).toMatchObject({ accepted: false, uidUsed: 1185 });
    expect(meter.judge(11_000, home, 1).accepted).toBe(false);
  });

  it("charges a refused call to its address and to nothing else", () => {
    const meter = createMeter();
    for (let i = 0; i < 11; i++) meter.judge(0, home, 1);
    expect(meter.judge(1_000, home, 1)).toMatchObject({
      accepted: true,
      ipRemaining: 1188,
      keyRemaining: 9,
      uidUsed: 11,
    });
    for (let i = 12; i < 1200; i++) meter.judge(1_000, home, 1);
    expect(meter.judge(2_000, home, 1).accepted).toBe(false);
    expect(meter.judge(2_000, { ...home, ip: "elsewhere" }, 1).accepted).toBe(true);
  });
});

describe("The simulated client machine", () => {
  const machineOn = (stopsAsleep: boolean, driftPpm = 0) => {
    const truth = createVirtualClock(1_000_000);
    return { truth, machine: createMachine({ truth, random: createRandom(1), skewMs: 250, driftPpm, stopsAsleep }) };
  };

  it("is wrong by its skew, drifts, and runs timers up to 1.2 ms late in the order of their instants", () => {
    const { truth, machine } = machineOn(false, 50);
    const { clock } = machine;
    expect(clock.now()).toBe(1_000_250);
    const ran: number[] = [];
    const instants = [7.9, 3.2, 3.1, 900.5, 3.1].map((ms) => clock.now() + ms);
    for (const at of instants)
      clock.setTimer(at, () => {
        ran.push(at);
        expect(clock.now() - at).toBeGreaterThan(0);
        expect(clock.now() - at).toBeLessThanOrEqual(1.2);
      });
    truth.advanceTo(2_000_000);
    expect(ran).toEqual(instants.toSorted((a, b) => a - b));
    expect(clock.now() - truth.now()).toBeCloseTo(250 + 50, 6);
  });

  it("drifts otherwise from the moment it is told to, without a step", () => {
    const { truth, machine } = machineOn(false);
    truth.advanceTo(2_000_000);
    machine.drift(500);
    expect(machine.clock.now()).toBeCloseTo(2_000_250, 6);
    truth.advanceTo(3_000_000);
    expect(machine.clock.now()).toBeCloseTo(3_000_750, 6);
    let ranAt = 0;
    machine.clock.setTimer(4_000_750, () => {
      ranAt = machine.clock.now();
    });
    truth.advanceTo(4_100_000);
    expect(ranAt).toBeGreaterThan(4_000_750);
    expect(ranAt).toBeLessThan(4_000_752);
  });

  it.each([
    ["stops", true, 2_250, 62_250],
    ["runs on", false, 62_250, 62_250],
  ])("whose steady clock %s asleep runs nothing meanwhile", (_, stops, steady, calendar) => {
    const { truth, machine } = machineOn(stops);
    const ranAt: number[] = [];
    machine.clock.setTimer(machine.clock.now() + 1_000, () => ranAt.push(truth.now()));
    machine.sleep(60_000);
    truth.advanceTo(1_060_000);
    expect(machine.asleep()).toBe(false);
    truth.advanceTo(1_062_000);
    expect(ranAt).toHaveLength(1);
    expect(ranAt[0]).toBeGreaterThanOrEqual(stops ? 1_061_000 : 1_060_000);
    expect(machine.clock.now()).toBeCloseTo(1_000_000 + steady, 3);
    expect(machine.clock.wallNow()).toBe(1_000_000 + calendar);
    expect(machine.slept()).toBe(60_000);
  });

  it("forgets timers and answers at a restart", () => {
    const { truth, machine } = machineOn(false);
    const ran: string[] = [];
    machine.clock.setTimer(machine.clock.now() + 5, () => ran.push("timer"));
    const answer = machine.within(() => ran.push("answer"));
    machine.restart();
    machine.clock.setTimer(machine.clock.now() + 5, () => ran.push("new timer"));
    answer();
    truth.advanceTo(1_001_000);
    expect(ran).toEqual(["new timer"]);
  });
});

describe("The bench count", () => {
  it("leaves out the first, partial minute and what comes after the last", () => {
    const counter = createCounter(30_000, 2, "uid");
    for (const at of [59_999, 60_000, 179_999, 180_000]) {
      counter.accepted(at, 10, false);
      counter.refused(at);
    }
    expect(counter.total()).toMatchObject({ minutes: 2, refused: 2, used: 20, usable: 2_400 });
  });

  it("takes what strangers used off what was there to use, byEngine: {}, and minutes with sleep out of it", () => {
    const counter = createCounter(0, 3, "uid");
    counter.accepted(10, 100, true);
    counter.accepted(10, 550, false);
    counter.slept(65_000, 125_000);
    expect(counter.total()).toMatchObject({ used: 550, usable: 1_100 });
  });

  it("gives quantiles that occurred", () => {
    expect(quantile([3, 1, 2], 0.5)).toBe(2);
    expect(quantile([3, 1, 2], 0.99)).toBe(3);
    expect(quantile([], 0.5)).toBeNaN();
  });

  it("fails a required figure that is not a number", () => {
    const figures = figuresOf({
      runs: 1,
      minutes: 1,
      refused: 0,
      minutesBlocked: 0,
      blockedMs: 0,
      used: 1_200,
      usable: 1_200,
      byEngine: {},
      urgentMs: [],
      burstMs: [],
      placedMs: [],
    });
    expect(checksOf("A", figures).filter(({ passed }) => !passed)).toHaveLength(2);
  });
});

describe("The reference clients:", () => {
  it.each(["A", "B", "E", "G"])("the oracle fills scenario %s without a refusal", async (id) => {
    const figures = figuresOf(await run(id, "oracle"));
    expect(figures.refusedPerHour).toBe(0);
    expect(figures.utilisationPct).toBeGreaterThan(99.8);
  });

  it("the oracle is not told of strangers and of its own earlier lives", async () => {
    for (const id of ["C", "D", "L"]) expect((await run(id, "oracle", 1, 4)).minutesBlocked).toBeGreaterThan(0);
  });

  it("the greedy one is refused and blocked most of the time", async () => {
    const figures = figuresOf(await run("A", "greedy"));
    expect(figures.refusedPerHour).toBeGreaterThan(10_000);
    expect(figures.timeBlockedPct).toBeGreaterThan(50);
  });

  it("the same cell gives the same tally, another seed another", async () => {
    expect(await run("K", "oracle", 3)).toEqual(await run("K", "oracle", 3));
    expect(await run("A", "oracle", 4)).not.toEqual(await run("A", "oracle", 5));
  });

  it("an urgent call that is never accepted counts with its whole wait", async () => {
    const tally = await runCell({
      scenario: scenario("A"),
      seed: 1,
      minutes: 2,
      createLimiter: () => ({ submit: () => new Promise(() => undefined) }),
    });
    expect(tally.used).toBe(0);
    expect(tally.urgentMs.length).toBeGreaterThan(2);
    expect(Math.min(...tally.urgentMs)).toBeGreaterThan(0);
  });
});

describe("The bench load", () => {
  it("keeps a constant number of calls waiting and submits them again after a restart", async () => {
    const lives: number[] = [];
    await runCell({
      scenario: { ...scenario("D"), urgentPerMinute: 1e-9 },
      seed: 1,
      minutes: 4,
      createLimiter: () => {
        const life = lives.push(0) - 1;
        return {
          submit: () => {
            lives[life] = (lives[life] ?? 0) + 1;
            return new Promise(() => undefined);
          },
        };
      },
    });
    expect(lives).toEqual([50, 50, 50]);
  });
});

describe("A bench worker", () => {
  it("moves the globals of a limiter onto virtual time", async () => {
    const contender = contendersOf(roster).find(({ label }) => label === "hand-written / careful");
    if (contender === undefined) throw new Error("the roster lost a row");
    const startedAt = performance.now();
    await runAll([{ contender, scenario: "A", seeds: [1, 2], minutes: 5 }], 1, (_, tallies) => {
      expect(tallies).toHaveLength(2);
      // It may spend 1080 of 1200 a minute and cannot always use the last few.
      for (const tally of tallies) expect(Math.abs(figuresOf(tally).utilisationPct - 89.5)).toBeLessThan(1);
    });
    expect(performance.now() - startedAt).toBeLessThan(60_000);
  });

  it("names the cell that failed", async () => {
    const contender = {
      label: "nobody / at all",
      module: "./nobody.mjs",
      configuration: "at all",
      role: "peer",
    } as const;
    const run = runAll([{ contender, scenario: "A", seeds: [7], minutes: 1 }], 1, () => undefined);
    await expect(run).rejects.toThrow(/nobody \/ at all, scenario A, seed 7: .*nobody\.mjs/);
  });
});

describe("The bench command line", () => {
  it("shares minutes out among seeds and puts ours first", () => {
    const options = optionsFrom(["--scenario", "B,sweep", "--minutes", "20", "--seeds", "4", "--peers", "p-queue"]);
    expect(options).toMatchObject({
      seeds: 4,
      minutesPerSeed: 5,
      scenarios: ["B", "S55", "S250", "S500", "S900", "S1500"],
    });
    expect(options.contenders[0]?.role).toBe("ours");
    expect(options.contenders.filter(({ role }) => role === "peer").map(({ label }) => label)).toEqual([
      "p-queue / nominal",
      "p-queue / careful",
    ]);
  });

  it("prints the line of an engine that divides no quota, unless engines of the row do", async () => {
    const linesOf = async (ours: string): Promise<string> => {
      const write = vi.spyOn(process.stdout, "write").mockReturnValue(true);
      const row = ["--scenario", "late-minutes", "--seeds", "1", "--minutes", "8", "--peers", "none", "--lines"];
      await report(optionsFrom([...row, "--ours", ours]));
      const text = write.mock.calls.join("");
      write.mockRestore();
      return text;
    };
    expect(await linesOf("default,shared")).toBe(await linesOf("default"));
  });

  it.each([
    [["--scenario", "Z"], /--scenario "Z" does not exist; there are A, B/],
    [["--peers", "quota"], /--peers "quota" is not compared here; there are sluice, ccxt/],
    [["--minutes", "0"], /--minutes "0" is not a whole number above zero/],
    [["--minutes", "7", "--seeds", "2"], /--minutes 7 cannot be shared out among 2 seeds/],
    [["--nonsense"], /nonsense/],
  ])("%j is refused", (args, message) => {
    expect(() => optionsFrom(args)).toThrow(message);
  });
});
