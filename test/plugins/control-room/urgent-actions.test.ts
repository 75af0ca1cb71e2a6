import { describe, expect, it } from "vitest";
import { isUrgent } from "../../../plugins/control-room/control-source.ts";
import { UrgentActions, urgentKey } from "../../../plugins/control-room/server/urgent-actions.ts";
import { letPromisesSettle } from "../../../src/clock/microtasks.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";

const setting = () => {
  const clock = createVirtualClock(0);
  const urgents = new UrgentActions<number>(clock);
  const begun: number[] = [];
  const answers: number[] = [];
  const ask = (key = "all"): void => {
    const act = () => {
      const number = begun.push(clock.now());
      // Each takes longer than any pause.
      return new Promise<number>((resolve) => clock.setTimer(clock.now() + 10_000, () => resolve(number)));
    };
    void urgents.run(key, act).then((number) => answers.push(number));
  };
  const pass = async (ms: number): Promise<void> => {
    const at = clock.now() + ms;
    await letPromisesSettle();
    while (clock.step(at)) await letPromisesSettle();
    clock.advanceTo(at);
  };
  return { ask, pass, begun, answers };
};

describe("Urgent actions", () => {
  it("begin at once, and again within a tenth of a second although the first is not done", async () => {
    const { ask, pass, begun } = setting();
    ask();
    await pass(30);
    ask();
    await pass(200);
    expect(begun).toEqual([0, 130]);
  });

  it("share the next one in a flood, and all are answered", async () => {
    const { ask, pass, begun, answers } = setting();
    for (let count = 0; count < 1_000; count++) {
      ask();
      await pass(1);
    }
    expect(begun.length).toBeGreaterThanOrEqual(5);
    expect(begun.length).toBeLessThanOrEqual(11);
    await pass(20_000);
    expect(answers).toHaveLength(1_000);
  });

  it("do not wait for those that differ", async () => {
    const { ask, pass, begun } = setting();
    for (const key of ["all", "one", "two"]) ask(key);
    await pass(0);
    expect(begun).toEqual([0, 0, 0]);
  });

  it.each([
    [{ type: "halt", reason: "a" } as const, true],
    [{ type: "halt", strategy: "one" } as const, true],
    [{ type: "cancel", where: {} } as const, true],
    [{ type: "cancel", where: { side: "buy" } } as const, false],
    [{ type: "resume" } as const, false],
    [{ type: "close" } as const, false],
  ])("are halts and the cancel of everything: %j", (action, expected) => {
    expect(isUrgent(action)).toBe(expected);
  });

  it("are equal whatever their reasons", () => {
    expect(urgentKey("a", { type: "halt", reason: "x" })).toBe(urgentKey("a", { type: "halt", reason: "y" }));
    expect(urgentKey("a", { type: "halt", strategy: "x" })).not.toBe(urgentKey("a", { type: "halt" }));
    expect(urgentKey("a", { type: "cancel", where: {} })).not.toBe(urgentKey("b", { type: "cancel", where: {} }));
  });
});
