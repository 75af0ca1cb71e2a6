/**
 * Every order in which few calls can leave, land, be answered, be lost, while time ticks: small enough to try them all.
 *
 * Invariants: a schedule is a list of choices; each is played from the beginning on a fresh gauge and a fresh meter, so that no
 * state leaks from one to the next.
 */

import { FixedWindow } from "../../../src/scheduler/quota/fixed-window.ts";
import type { LayerSpec } from "../../../src/scheduler/quota/layers.ts";
import type { LimitWindow, WindowTicket } from "../../../src/scheduler/quota/limit-window.ts";
import type { ServerClock } from "../../../src/scheduler/quota/server-clock.ts";
import { fixedClock } from "../../support/harness/fixed-clock.ts";

export interface Model {
  readonly capacity: number;
  /** What the client knows of the service's time, and what is true. Windows are two ticks long. */
  readonly lo: number;
  readonly hi: number;
  readonly offset: number;
  /** Answers say how much is used. */
  readonly headers: boolean;
  readonly depth: number;
  readonly callsMax: number;
  /** Calls that have left before the first choice, so that wide windows can overflow within the bound. */
  readonly leftBefore: number;
  /** Calls that left long before and never land, where the gauge has learned that such calls are lost. */
  readonly silentBefore?: number;
}

export interface Survey {
  readonly schedules: number;
  readonly overrun: boolean;
  /** Most calls any schedule got through; a gauge that grants nothing is safe and useless. */
  readonly granted: number;
}

const windowMs = 2;
const windows = 3;

type Make = (spec: LayerSpec, scope: string, clock: ServerClock) => LimitWindow;

interface Call {
  readonly ticket: WindowTicket;
  readonly sentAt: number;
  landed: boolean;
  over: boolean;
  used: number;
}

/** After so many ticks a silent call is taken for lost as soon as another is answered. */
const silentTicks = 10;
const lossesLearned = 20;

/** So many calls in a row that never landed, each given up when others had been answered for long. */
const learnLosses = (gauge: LimitWindow): void => {
  for (let at = -2 * lossesLearned * silentTicks; at < 0; at += 2 * silentTicks) {
    const lost = gauge.begin(1, at);
    gauge.lose(lost, at + silentTicks);
  }
  // What was settled is long over, and tells nothing of windows to come.
  gauge.end(gauge.begin(1, -silentTicks), -silentTicks, -silentTicks, undefined, true);
};

/** Plays one schedule; `choices` is extended by zeros to its end, and `widths` told how many ways each step had. */
const playSchedule = (
  model: Model,
  make: Make,
  choices: number[],
  widths: number[],
): { overrun: boolean; granted: number } => {
  const spec: LayerSpec = {
    name: "key",
    scope: "key",
    unit: "requests",
    capacity: model.capacity,
    windowMs,
    anchor: "wall_clock",
    banMs: 0,
  };
  const gauge = make(spec, "k", fixedClock(model.lo, model.hi));
  const calls: Call[] = [];
  const counts = new Map<number, number>();
  let now = 0;
  let overrun = false;
  const land = (call: Call): void => {
    const window = Math.floor((now + model.offset) / windowMs);
    const used = (counts.get(window) ?? 0) + 1;
    counts.set(window, used);
    call.landed = true;
    call.used = used;
    if (used > model.capacity) overrun = true;
  };
  const answer = (call: Call): void => {
    call.over = true;
    gauge.end(call.ticket, call.sentAt, now, model.headers ? call.used : undefined, true);
  };
  const lose = (call: Call): void => {
    call.over = true;
    gauge.lose(call.ticket, now);
  };
  const leave = (): void => {
    calls.push({ ticket: gauge.begin(1, now), sentAt: now, landed: false, over: false, used: 0 });
  };
  if (model.silentBefore !== undefined) {
    learnLosses(gauge);
    for (let i = 0; i < model.silentBefore; i++) gauge.begin(1, 0);
    now = silentTicks;
  }
  for (let i = 0; i < model.leftBefore; i++) leave();
  const startedAt = now;
  const movesNow = (): (() => void)[] => {
    const moves: (() => void)[] = [];
    if (calls.length < model.callsMax && gauge.blockedUntil(1, now, () => model.capacity) === undefined)
      moves.push(leave);
    if (now < startedAt + windows * windowMs) moves.push(() => now++);
    const seen = new Set<string>();
    for (const call of calls) {
      if (call.over) continue;
      // Calls that left at one instant are interchangeable until an answer tells them apart.
      const kind = `${call.sentAt} ${call.landed} ${model.headers ? call.used : 0}`;
      if (seen.has(kind)) continue;
      seen.add(kind);
      moves.push(() => (call.landed ? answer(call) : land(call)));
    }
    // One loss is enough to find what forgets the lost; which call it is does not matter to the gauge.
    const first = calls.find((call) => !call.over);
    if (first !== undefined && !calls.some((call) => call.over && !call.landed)) moves.push(() => lose(first));
    return moves;
  };
  for (let step = 0; step < model.depth && !overrun; step++) {
    const moves = movesNow();
    if (moves.length === 0) break;
    const choice = choices[step] ?? 0;
    choices[step] = choice;
    widths[step] = moves.length;
    moves[choice]?.();
  }
  return { overrun, granted: calls.length };
};

/** Tries every schedule of the model, in the order of an odometer, up to the first that overruns a window. */
export const survey = (
  model: Model,
  make: Make = (spec, scope, clock) => new FixedWindow(spec, scope, clock),
): Survey => {
  const choices: number[] = [];
  let schedules = 0;
  let granted = 0;
  for (;;) {
    const widths: number[] = [];
    const end = playSchedule(model, make, choices, widths);
    schedules++;
    granted = Math.max(granted, end.granted);
    if (end.overrun) return { schedules, overrun: true, granted };
    choices.length = widths.length;
    while (choices.length > 0 && (choices[choices.length - 1] ?? 0) + 1 >= (widths[choices.length - 1] ?? 0))
      choices.pop();
    if (choices.length === 0) return { schedules, overrun: false, granted };
    const turn = choices.length - 1;
    choices[turn] = (choices[turn] ?? 0) + 1;
  }
};
