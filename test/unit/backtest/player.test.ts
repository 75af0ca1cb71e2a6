import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createPlayer } from "../../../src/backtest/player.ts";
import type { Simulated } from "../../../src/backtest/simulated-service.ts";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { quoteTape, startAt } from "../../support/harness/backtest.ts";

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
    routesOf: () => [{ take: (row: number, at: number) => feed.deliver(tape, row, at) }],
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
  const simulated = {
    feed,
    quietUntil: (from: number, _to: number) => from,
    feedMs: () => delays[drawn++ % delays.length],
    apply: (index: number) => note(`row ${index}`),
    applyLate: (from: number, to: number) => {
      for (let index = from; index < to; index++) note(`late row ${index}`);
    },
  };
  const player = createPlayer(tape, clock, simulated as unknown as Simulated);
  return { tape, clock, player, feed, simulated, log, note, due };
};

describe("Player", () => {
  it("applies a row, then delivers it after the delay; timers due at a row's instant run after it", () => {
    const { clock, player, log, note } = setup([0, 100], [50]);
    clock.setTimer(startAt + 100, () => note("timer"));
    clock.setTimer(startAt + 120, () => note("timer"));
    expect(player.play(startAt + 200, 10)).toBe(false);
    expect(log).toEqual(["0 row 0", "50 see 0", "100 row 1", "100 timer", "120 timer", "150 see 1"]);
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
    expect(player.play(startAt + 30, 10, { asked: true })).toBe(true);
    expect(log.slice(4)).toEqual(["20 row 2"]);
    expect(clock.now()).toBe(startAt + 20);
    while (player.play(startAt + 30, 10, { asked: true })) {
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
          expect(log.filter((line) => line.includes("row"))).toEqual(
            times.map((time, index) => `${time} row ${index}`),
          );
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

  it("lets the rows of an idle service wait, but no longer than to the next timer or pause", () => {
    const { clock, player, simulated, log, note } = setup([0, 10, 20, 30, 100], [5]);
    simulated.quietUntil = (_, to) => to;
    clock.setTimer(startAt + 30, () => note("timer"));
    player.play(startAt, 1);
    let asked = 0;
    const pause = {
      get asked() {
        return ++asked === 5;
      },
    };
    expect(player.play(startAt + 100, 10, pause)).toBe(true);
    expect(log.slice(0, 6)).toEqual(["0 row 0", "5 see 0", "15 see 1", "25 see 2", "25 late row 1", "25 late row 2"]);
    expect(log.slice(6)).toEqual(["25 late row 3", "30 timer", "35 see 3"]);
    expect(clock.now()).toBe(startAt + 35);
  });

  it("plays no more rows of an idle service than it was asked to", () => {
    const { player, simulated, log } = setup([0, 10, 20, 30], [5]);
    simulated.quietUntil = (_, to) => to;
    player.play(startAt, 1);
    expect(player.play(startAt + 100, 2)).toBe(true);
    expect(player.rowsApplied).toBe(3);
    expect(log.filter((line) => line.includes("see"))).toEqual(["5 see 0", "15 see 1", "25 see 2"]);
    expect(player.play(startAt + 100, 2)).toBe(false);
    expect(log.at(-2)).toBe("35 see 3");
  });

  it("shows timers and strategies the same whether rows wait or not, and the service every row they could notice", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 12 }), { minLength: 2, maxLength: 30 }),
        fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 5 }),
        fc.array(fc.integer({ min: 0, max: 25 }), { minLength: 1, maxLength: 6 }),
        fc.integer({ min: 1, max: 7 }),
        fc.integer({ min: 1, max: 6 }),
        fc.boolean(),
        (gaps, delays, timers, rows, pauseAt, zero) => {
          let at = 0;
          const times = gaps.map((gap) => (at += gap));
          const story = (idle: boolean): readonly string[] => {
            const { clock, player, feed, simulated, tape } = setup(times, zero ? [0] : delays);
            const told: string[] = [];
            let happened = 0;
            const now = () => clock.now() - startAt;
            const tell = (text: string): void => {
              happened++;
              told.push(`${now()} ${text}`);
            };
            const { deliver } = feed;
            simulated.quietUntil = (from, to) => (idle ? to : from);
            feed.deliver = (from, index, instant) => {
              deliver(from, index, instant);
              tell(`see ${index}`);
              const wait = timers[index % timers.length] as number;
              // A request: what the service knows when it arrives depends on the rows applied by then.
              if (wait % 2 === 0) clock.setTimer(instant + wait, () => tell(`timer knows ${player.rowsApplied}`));
              if (wait % 5 === 0) feed.nextBarAt = Math.min(feed.nextBarAt, instant + 1 + wait);
            };
            feed.tick = () => {
              feed.nextBarAt = Number.POSITIVE_INFINITY;
              tell("bar");
            };
            clock.setTimer(startAt, () => tell(`timer knows ${player.rowsApplied}`));
            const first = times.filter((time) => startAt + time <= tape.startAt).length;
            player.play(tape.startAt, first, {
              get asked() {
                return player.rowsApplied >= first;
              },
            });
            // A pause after a row has no counterpart where rows wait: only what strangers notice asks for one.
            let asked = happened;
            const pause = {
              get asked() {
                if (happened === asked) return false;
                asked = happened;
                if (happened % pauseAt === 0) told.push(`${now()} pause`);
                return happened % pauseAt === 0;
              },
            };
            for (let until = 0; until <= at + 60; until += 9) {
              while (player.play(startAt + until, rows, pause)) {
                // so many rows, or a pause
              }
              told.push(`${now()} knows ${player.rowsApplied}`);
            }
            return told;
          };
          expect(story(true)).toEqual(story(false));
        },
      ),
      { numRuns: 400 },
    );
  });
});
