import { describe, expect, it } from "vitest";
import type { Job } from "../../../plugins/sweep/job.ts";
import { createPool } from "../../../plugins/sweep/pool.ts";
import type { Thread } from "../../../plugins/sweep/thread.ts";
import { createVirtualClock, type VirtualClock } from "../../../src/clock/virtual-clock.ts";

type Ended = Awaited<ReturnType<Thread["run"]>>;
const done: Ended = { kind: "answer", answer: { status: "failed", error: "none of these runs does anything" } };
const jobsOf = (count: number): readonly Job[] =>
  Array.from({ length: count }, (_, index) => ({ index, overrides: {}, market: 0 }));

/** A pool whose threads take `openMs` to open and `runMs` for each job, on a clock that is turned until all is done. */
const rigOf = (
  size: number,
  { openMs, runMs, sparing = true }: { openMs: number; runMs: number; sparing?: boolean },
) => {
  const clock = createVirtualClock(0);
  const openedAt: number[] = [];
  const answered: number[] = [];
  const pool = createPool({ size, ...(sparing ? { sparing: clock } : {}) }, async () => {
    openedAt.push(clock.now());
    await sleep(clock, openMs);
    return {
      run: async () => {
        await sleep(clock, runMs);
        return done;
      },
      close: async () => undefined,
    };
  });
  const run = async (count: number): Promise<void> => {
    let over = false;
    const list = pool
      .run(jobsOf(count), ({ index }) => answered.push(index))
      .finally(() => {
        over = true;
      });
    while (!over) {
      await new Promise(setImmediate);
      if (!over) clock.step();
    }
    await list;
  };
  return { run, clock, openedAt, answered };
};

const sleep = (clock: VirtualClock, ms: number): Promise<void> =>
  new Promise((resolve) => {
    clock.setTimer(clock.now() + ms, resolve);
  });

describe("The worker pool", () => {
  it.each<[string, number, number, { openMs: number; runMs: number; sparing?: boolean }, number[]]>([
    [
      "opens all threads at once when nobody asked it to spare",
      2,
      2,
      { openMs: 500, runMs: 10, sparing: false },
      [0, 0],
    ],
    ["opens one where short runs are over before another could have helped", 2, 7, { openMs: 500, runMs: 50 }, [0]],
    [
      "opens the others when work has gone on for as long as opening the first took",
      2,
      2,
      { openMs: 500, runMs: 4_000 },
      [0, 1_000],
    ],
    ["opens a thread for every four jobs at once", 4, 9, { openMs: 500, runMs: 100 }, [0, 0]],
    ["opens no more than its size", 2, 100, { openMs: 500, runMs: 100 }, [0, 0]],
    ["opens no more than there are jobs", 4, 1, { openMs: 500, runMs: 4_000 }, [0]],
  ])("%s", async (_, size, jobs, times, expected) => {
    const { run, openedAt, answered } = rigOf(size, times);
    await run(jobs);
    expect(openedAt).toEqual(expected);
    expect([...answered].sort((a, b) => a - b)).toEqual(jobsOf(jobs).map(({ index }) => index));
  });

  it("uses the threads of an earlier list before it opens any", async () => {
    const { run, clock, openedAt } = rigOf(2, { openMs: 500, runMs: 100 });
    await run(8);
    const at = clock.now();
    await run(2);
    expect([openedAt, clock.now() - at]).toEqual([[0, 0], 100]);
  });

  it("waits as long before it opens another one beside a kept one", async () => {
    const { run, clock, openedAt } = rigOf(2, { openMs: 500, runMs: 200 });
    await run(1);
    await run(2);
    expect([openedAt, clock.now()]).toEqual([[0], 1_100]);
    await run(7);
    expect(openedAt).toEqual([0, 1_600]);
  });
});
