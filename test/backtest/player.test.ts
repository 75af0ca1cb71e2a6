import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPlayer } from "../../src/backtest/player.ts";
import type { Simulated } from "../../src/backtest/simulated.ts";
import { createVirtualClock } from "../../src/clock/virtual-clock.ts";
import { quoteTape, startAt } from "./arena.ts";

/** A player whose service and feed only write down what reaches them, in milliseconds after the start. */
const setup = (times: readonly number[], delays: readonly number[]) => {
  const tape = quoteTape(times.map((ms) => [ms, 10, 1, 11, 1]));
  const clock = createVirtualClock(startAt - 1_000);
  const log: string[] = [];
  const due: number[] = [];
  let drawn = 0;
  const note = (text: string) => log.push(`${clock.now() - startAt} ${text}`);
  const feed = {
    nextBarAt: Number.POSITIVE_INFINITY,
    deliver: (_: unknown, index: number, at: number) => {
      expect(at).toBe(clock.now());
      due[index] = at - startAt;
      note(`see ${index}`);
    },
    tick: (at: number) => {
      feed.nextBarAt = Number.POSITIVE_INFINITY;
      note(`bar ${at - startAt}`);
    },
  };
  const simulated = { feed, feedMs: () => delays[drawn++ % delays.length], apply: (index: number) => note(`row ${index}`) };
  const player = createPlayer(tape, clock, simulated as unknown as Simulated);
  return { tape, clock, player, feed, log, note, due };
};

describe("player", () => {
  it("applies a row, then delivers it after the delay; timers due at a row's instant run before it", () => {
    const { clock, player, log, note } = setup([0, 100], [50]);
    clock.setTimer(startAt + 100, () => note("timer"));
    clock.setTimer(startAt + 120, () => note("timer"));
    expect(player.play(startAt + 200, 10)).toBe(false);
    expect(log).toEqual(["0 row 0", "50 see 0", "100 timer", "100 row 1", "120 timer", "150 see 1"]);
    expect(clock.now()).toBe(startAt + 200);
  });

  it("keeps deliveries in the order of the rows: a faster message waits for the slower one before it", () => {
    const { player, log } = setup([0, 10], [100, 5]);
    player.play(startAt + 200, 10);
    expect(log).toEqual(["0 row 0", "10 row 1", "100 see 0", "100 see 1"]);
  });

  it("without delay delivers a row after all rows of its instant", () => {
    const { player, log } = setup([0, 0, 10], [0]);
    player.play(startAt + 10, 10);
    expect(log).toEqual(["0 row 0", "0 row 1", "0 see 0", "0 see 1", "10 row 2", "10 see 2"]);
  });

  it("closes bars on time when nothing is delivered", () => {
    const { player, feed, log } = setup([0, 500], [0]);
    feed.nextBarAt = startAt + 250;
    player.play(startAt + 1_000, 10);
    expect(log).toEqual(["0 row 0", "0 see 0", "250 bar 250", "500 row 1", "500 see 1"]);
  });

  it("stops after so many rows, or when asked to after any step, and goes on where it was", () => {
    const { player, log, clock } = setup([0, 10, 20], [5]);
    expect(player.play(startAt + 30, 2)).toBe(true);
    expect(log).toEqual(["0 row 0", "5 see 0", "10 row 1", "15 see 1"]);
    expect(player.play(startAt + 30, 10, () => true)).toBe(true);
    expect(log.slice(4)).toEqual(["20 row 2"]);
    expect(clock.now()).toBe(startAt + 20);
    while (player.play(startAt + 30, 10, () => true)) {
      // one step at a time
    }
    expect(log.slice(4)).toEqual(["20 row 2", "25 see 2"]);
    expect(player.rowsApplied).toBe(3);
  });

  it("never delivers before the row was applied plus its delay, nor out of order, however it is cut", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 60 }), { minLength: 1, maxLength: 25 }),
        fc.array(fc.integer({ min: 0, max: 90 }), { minLength: 1, maxLength: 7 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 7, max: 200 }),
        (gaps, delays, rows, stepMs) => {
          let at = 0;
          const times = gaps.map((gap) => (at += gap));
          const { player, due, log } = setup(times, delays);
          const end = at + 100;
          for (let until = 0; until < end; until += stepMs) while (player.play(startAt + until, rows));
          while (player.play(startAt + end, rows));
          expect(log.filter((line) => line.includes("row"))).toEqual(times.map((time, index) => `${time} row ${index}`));
          expect(due).toHaveLength(times.length);
          due.forEach((seen, index) => {
            expect(seen).toBeGreaterThanOrEqual((times[index] as number) + (delays[index % delays.length] as number));
            expect(seen).toBeGreaterThanOrEqual(due[index - 1] ?? 0);
          });
        },
      ),
      { numRuns: 200 },
    );
  });
});
