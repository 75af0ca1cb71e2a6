import { asyncScheduler, Subscription } from "rxjs";
import { describe, expect, it } from "vitest";
import { InputSequencer } from "../../../plugins/session/input-sequencer.ts";
import { recordingClock } from "../../../plugins/session/recording-clock.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { inside } from "../../../src/host/execution-context.ts";
import { testClock } from "../../support/contracts/clock.ts";
import { memory } from "./harness/session.ts";

const stage = () => {
  const clock = createVirtualClock(1_000);
  const { records, ends, sink } = memory();
  const givenUp: string[] = [];
  const turns = new InputSequencer(clock, sink, (why) => givenUp.push(why));
  const enter = (message: string, run: () => void = () => undefined): void => {
    turns.enter(() => ({ in: "trouble", message }), run);
  };
  return { clock, records, ends, sink, turns, givenUp, enter };
};

testClock("the clock of a recording", () => {
  const { clock, turns } = stage();
  return {
    clock: recordingClock(clock, turns),
    wait: async (ms) => {
      const until = clock.now() + ms;
      while (clock.step(until)) await turns.settled();
      clock.advanceTo(until);
      await turns.settled();
    },
  };
});

describe("Input turns", () => {
  it("let the first entry in at once and each other when all promises of the one before have settled", async () => {
    const { turns, enter } = stage();
    const log: string[] = [];
    enter("a", () => {
      log.push("a");
      void (async () => {
        for (let round = 0; round < 50; round++) await Promise.resolve();
        log.push("a's promises");
      })();
    });
    enter("b", () => log.push("b"));
    expect(log).toEqual(["a"]);
    await turns.settled();
    expect(log).toEqual(["a", "a's promises", "b"]);
  });

  it("hold the clock still during an entry, and nowhere else", async () => {
    const { clock, turns, enter, records } = stage();
    const seen: number[] = [];
    enter("a", () => {
      clock.advanceTo(1_005);
      seen.push(turns.now(), turns.wallNow());
    });
    clock.stepWall(500);
    expect([turns.now(), turns.wallNow()]).toEqual([1_000, 1_000]);
    await turns.settled();
    expect([...seen, turns.now(), turns.wallNow()]).toEqual([1_000, 1_000, 1_005, 1_505]);
    enter("b");
    expect(records).toEqual([
      { in: "trouble", message: "a", now: 1_000 },
      { in: "trouble", message: "b", now: 1_005, wall: 1_505 },
    ]);
    await turns.settled();
  });

  it("skip what nobody waits for any more when its turn comes", async () => {
    const { turns, enter, records } = stage();
    let wanted = true;
    enter("a");
    turns.enter(
      () => (wanted ? { in: "trouble", message: "b" } : undefined),
      () => expect.unreachable(),
    );
    enter("c");
    wanted = false;
    await turns.settled();
    expect(records.map((record) => "in" in record && record.in === "trouble" && record.message)).toEqual(["a", "c"]);
  });

  it("mark what the engine does without a cause, and only then", async () => {
    const { turns, enter, records } = stage();
    enter("a", () => turns.note({ out: "start" }));
    await turns.settled();
    turns.note({ out: "stop" });
    turns.note({ out: "stop" });
    await turns.settled();
    expect(records.map((record) => ("in" in record ? record.in : "out" in record ? record.out : ""))).toEqual([
      "trouble",
      "start",
      "stray",
      "stop",
      "stop",
    ]);
  });

  it("run nobody's code as a stranger's, whoever caused the entry", async () => {
    const { clock, turns, enter } = stage();
    const owner = { clock, fail: () => undefined, life: new Subscription() };
    const times: number[] = [];
    inside(owner, () => {
      // An owner's code asks its own clock, which stands at 1000; anybody else's the machine's.
      expect(asyncScheduler.now()).toBe(1_000);
      enter("a", () => times.push(asyncScheduler.now()));
      enter("b", () => times.push(asyncScheduler.now()));
    });
    await turns.settled();
    expect(times.map((at) => at > 1_000_000)).toEqual([true, true]);
  });

  it("give the recording up when it cannot be written, and let everything through from then on", async () => {
    const { clock, sink, givenUp } = stage();
    let full = false;
    const turns = new InputSequencer(
      clock,
      {
        ...sink,
        write: (record) => {
          if (full) throw new Error("no space left");
          sink.write(record);
        },
      },
      (why) => givenUp.push(why),
    );
    const ran: string[] = [];
    for (const name of ["a", "b", "c"]) {
      turns.enter(
        () => ({ in: "trouble", message: name }),
        () => {
          ran.push(name);
          full = true;
        },
      );
    }
    await turns.settled();
    expect(ran).toEqual(["a", "b", "c"]);
    expect(givenUp).toEqual(["the session could not be written: no space left"]);
    clock.advanceTo(2_000);
    expect(turns.now()).toBe(2_000);
    turns.enter(
      () => ({ in: "trouble", message: "d" }),
      () => ran.push("d"),
    );
    expect(ran.at(-1)).toBe("d");
  });

  it("give the recording up rather than let a queue grow without bound", async () => {
    const { turns, enter, ends, givenUp } = stage();
    let ran = 0;
    for (let count = 0; count < 100_010; count++) enter("x", () => ran++);
    expect(ends).toEqual(["more than 100000 entries waited for their turn"]);
    expect(givenUp).toHaveLength(1);
    await turns.settled();
    expect(ran).toBe(100_010);
  });
});
