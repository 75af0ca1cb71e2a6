import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

/** Frames are given by hand, and work takes as long as it says. */
let frames: (() => void)[] = [];
let now = 0;
/** Between two works something else may run, so a frame is over after the microtasks. */
const frame = async (): Promise<void> => {
  const due = frames;
  frames = [];
  for (const one of due) one();
  await new Promise(setImmediate);
};

beforeEach(() => {
  vi.resetModules();
  frames = [];
  now = 0;
  vi.stubGlobal("requestAnimationFrame", (act: () => void) => frames.push(act));
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("Work in turn", () => {
  const begin = async () => {
    const { inTurn } = await import("../../../../plugins/control-room/client/browser-clock.ts");
    const done: string[] = [];
    const work = (name: string, ms: number) => () => {
      now += ms;
      done.push(name);
    };
    return { inTurn, done, work };
  };
  const [a, b, c] = [{}, {}, {}];

  it("fills a frame and goes on in the next, in the order in which it was asked for", async () => {
    const { inTurn, done, work } = await begin();
    inTurn(a, work("a", 1));
    inTurn(b, work("b", 5));
    inTurn(c, work("c", 1));
    expect(done).toEqual([]);
    await frame();
    expect(done).toEqual(["a", "b"]);
    await frame();
    expect(done).toEqual(["a", "b", "c"]);
    expect(frames).toEqual([]);
  });

  it("is the latest of each owner, and asking often puts nobody behind", async () => {
    const { inTurn, done, work } = await begin();
    inTurn(a, work("a1", 4));
    inTurn(b, work("b1", 4));
    inTurn(a, work("a2", 4));
    await frame();
    inTurn(a, work("a3", 4));
    await frame();
    await frame();
    expect(done).toEqual(["a2", "b1", "a3"]);
  });

  it("may ask for its own rest", async () => {
    const { inTurn, done, work } = await begin();
    inTurn(a, () => {
      work("a, first half", 4)();
      inTurn(a, work("a, second half", 1));
    });
    await frame();
    expect(done).toEqual(["a, first half"]);
    await frame();
    expect(done).toEqual(["a, first half", "a, second half"]);
    expect(frames).toEqual([]);
  });
});
