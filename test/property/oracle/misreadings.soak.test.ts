/**
 * The exhaustive small model of a service that counts otherwise than described: how often it refuses, and that a call may always leave again.
 */
import { describe, expect, it } from "vitest";
import { FixedWindow } from "../../../src/scheduler/quota/fixed-window.ts";
import { type MakeWindow, type Strange, surveyStrange } from "./misreadings.ts";

const usual: Strange = { capacity: 2, limit: 2, windowMs: 3, shiftMs: 0, counts: "own", depth: 11, callsMax: 5 };
const later: Strange = { ...usual, shiftMs: 1 };
const prompt: Strange = { ...usual, prompt: true, depth: 15, callsMax: 15 };
const lower: Strange = { ...usual, capacity: 3, depth: 10, callsMax: 6 };

const cases: readonly (readonly [string, Strange, number])[] = [
  ["as described", usual, 0],
  ["counts of the call before", { ...usual, counts: "call before" }, 0],
  ["every other answer without a count", { ...usual, counts: "every other" }, 0],
  ["windows that begin a third later", later, 1],
  ["windows that begin two thirds later", { ...usual, shiftMs: 2 }, 1],
  ["windows that begin later, and counts of the call before", { ...later, counts: "call before" }, 1],
  ["windows that begin later, and every other answer without a count", { ...later, counts: "every other" }, 1],
  ["one call instead of two", { ...usual, limit: 1 }, 1],
  ["two calls instead of three", lower, 1],
  ["two calls instead of three, in windows that begin later", { ...lower, shiftMs: 1 }, 1],
  ["windows that begin later, and answers at once", { ...prompt, shiftMs: 1 }, 1],
  [
    "windows that begin later, answers at once, and every other one without a count",
    { ...prompt, shiftMs: 1, counts: "every other" },
    1,
  ],
  ["counts of the call before, and answers at once", { ...prompt, counts: "call before" }, 1],
  ["one call instead of two, and answers at once", { ...prompt, limit: 1 }, 0],
  ["two calls instead of four, and answers at once", { ...prompt, capacity: 4 }, 0],
  [
    "three calls instead of four, windows that begin later, and answers at once",
    { ...prompt, capacity: 4, limit: 3, shiftMs: 1 },
    1,
  ],
];

describe("In every order of a few calls, a service with", () => {
  it.each(cases)("%s refuses no more often than it takes to find out, and is asked again soon", (_, strange, most) => {
    const { schedules, refusals, granted, restWindows } = surveyStrange(strange);
    expect(schedules).toBeGreaterThan(250);
    expect(refusals).toBe(most);
    expect(granted).toBeGreaterThan(strange.limit);
    expect(restWindows).toBeLessThanOrEqual(2);
  });
});

describe("The model finds a window that", () => {
  const broken =
    (Window: typeof FixedWindow): MakeWindow =>
    (spec, clock) =>
      new Window(spec, "k", clock);

  it("does not read what it is told, and goes on after a refusal as if there had been none", () => {
    const careless = class extends FixedWindow {
      override end(...[ticket, sentAt, receivedAt, , counted]: Parameters<FixedWindow["end"]>): number {
        return super.end(ticket, sentAt, receivedAt, undefined, counted);
      }
      override shut = (at: number): number => at;
    };
    expect(surveyStrange({ ...prompt, limit: 1 }, broken(careless)).refusals).toBeGreaterThan(1);
  });

  it("waits for ever once something is missing of the limit", () => {
    const stuck = class extends FixedWindow {
      override blockedUntil(
        units: number,
        now: number,
        ceiling: Parameters<FixedWindow["blockedUntil"]>[2],
      ): number | undefined {
        return this.missing > 0 ? now + 1 : super.blockedUntil(units, now, ceiling);
      }
    };
    expect(surveyStrange({ ...usual, limit: 1 }, broken(stuck)).restWindows).toBe(Number.POSITIVE_INFINITY);
  });
});
