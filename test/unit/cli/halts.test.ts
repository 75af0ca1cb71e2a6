/** What a terminal advises at a halt. */
import { describe, expect, it } from "vitest";
import { haltAdvice, isSteered } from "../../../src/cli/halts.ts";
import { count, createTally, haltWords, type Tally } from "../../../src/cli/run-progress.ts";
import type { Event, EventBody } from "../../../src/journal/events.ts";

const tallied = (...bodies: readonly EventBody[]): Tally => {
  const tally = createTally(0, "restart to resume");
  for (const body of bodies) count(tally, { seq: 1, at: 1, ...body } as Event);
  return tally;
};
const started: EventBody = { type: "engine.started" } as EventBody;
const all: EventBody = { type: "mode.changed", mode: "halted", reason: "enough" };
const one = (strategy: string): EventBody => ({ type: "strategy.halted", strategy, reason: "enough" });

describe("A run that can be steered", () => {
  const port = { name: "dashboard", options: { readOnly: false } };
  it("is found with its control port in a nested list", () => {
    expect(isSteered({ plugins: [null, false, [[port]]] })).toBe(true);
    expect(isSteered({ plugins: [[{ ...port, options: { readOnly: true } }]] })).toBe(false);
  });
});

describe("The advice at a halt", () => {
  it("names the command that lets the run go on, where it has a control port", () => {
    expect(haltAdvice(tallied(all), "config/a.ts", true)).toBe(
      "No entry is placed while halted; stops, targets and exits stay in force. To resume: stop, look, and start with\n  sluice run config/a.ts\nor look, and let this run go on from another terminal:\n  sluice ctl resume",
    );
  });

  it("names each strategy that is halted by itself, as a shell takes it", () => {
    const advice = haltAdvice(tallied(one("ladder"), one("it's mine")), "a.ts", true);
    expect(advice).toMatch(
      /\n {2}sluice ctl resume --strategy ladder\n {2}sluice ctl resume --strategy 'it'\\''s mine'$/,
    );
  });

  it("does not name it without a port, nor where nothing is halted", () => {
    expect(haltAdvice(tallied(all), "a.ts")).not.toContain("ctl");
    expect(haltAdvice(tallied(), "a.ts", true)).toBeUndefined();
  });

  it("names the command that resumes the group, where all of its engines were halted", () => {
    const group = (reason: string): Tally => tallied(started, { ...all, reason });
    const resume = "sluice halt --everywhere env:STORE --group desk --resume";
    expect(haltAdvice(group("everywhere: maintenance"), "a.ts", true, resume)).toBe(
      "Every engine of the group is halted. To resume all of them: look, and from any machine\n  sluice halt --everywhere env:STORE --group desk --resume",
    );
    expect(haltWords(group("everywhere: maintenance"))).toBe("HALTED: everywhere: maintenance; resume the group");
    // A reason of its own, and one that a journal has kept, are this engine's to end.
    expect(haltAdvice(group("enough"), "a.ts", true, resume)).toContain("sluice ctl resume");
    expect(haltAdvice(tallied({ ...all, reason: "everywhere: maintenance" }), "a.ts", false, resume)).toContain(
      "sluice run a.ts",
    );
  });

  it.each<[boolean, object]>([
    [true, { plugins: [{ name: "dashboard", options: { port: 0, readOnly: false } }] }],
    [false, { plugins: [{ name: "dashboard", options: { readOnly: true } }] }],
    [false, { plugins: [{ name: "log", options: {} }] }],
    [false, {}],
  ])("takes a run as steered: %s for %j", (expected, config) => expect(isSteered(config)).toBe(expected));
});
