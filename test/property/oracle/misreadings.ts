/**
 * Every order of few calls at a service that counts otherwise than described: windows that begin elsewhere, counts of the call before,
 * answers without counts, a smaller limit.
 *
 * Invariants: a schedule is a list of choices, each played from the beginning on a fresh window and a fresh service; what the service
 * has no room for it refuses and does not count; after a refusal one call at a time asks, as the ledger has it.
 * Not here: a service as described, which may never refuse (schedules.ts).
 */
import { FixedWindow } from "../../../src/scheduler/quota/fixed-window.ts";
import type { LayerSpec } from "../../../src/scheduler/quota/layers.ts";
import type { WindowTicket } from "../../../src/scheduler/quota/limit-window.ts";
import type { ServerClock } from "../../../src/scheduler/quota/server-clock.ts";
import { fixedClock } from "../../support/harness/fixed-clock.ts";

export interface Strange {
  readonly capacity: number;
  /** What the service allows. */
  readonly limit: number;
  readonly windowMs: number;
  /** Windows begin so much later than the calendar says. */
  readonly shiftMs: number;
  readonly counts: "own" | "call before" | "every other";
  /** A call is answered at once, so that more windows are within the depth. */
  readonly prompt?: boolean;
  readonly depth: number;
  readonly callsMax: number;
}

export interface Found {
  readonly schedules: number;
  /** Most refusals of a schedule, and most calls that were let through. */
  readonly refusals: number;
  readonly granted: number;
  /** Longest wait, in windows, until a call may leave after a schedule with everything answered or lost; infinite where none may. */
  readonly restWindows: number;
}

interface Call {
  readonly ticket: WindowTicket;
  readonly sentAt: number;
  landed: boolean;
  over: boolean;
  refused: boolean;
  used: number | undefined;
}

const restWindowsMax = 12;

export type MakeWindow = (spec: LayerSpec, clock: ServerClock) => FixedWindow;

class Play {
  readonly #strange: Strange;
  readonly #gauge: FixedWindow;
  readonly #calls: Call[] = [];
  readonly #counts = new Map<number, number>();
  #told = 0;
  #now = 0;
  #heldUntil = 0;
  #isWarm = true;
  #refused = 0;

  constructor(strange: Strange, make: MakeWindow) {
    this.#strange = strange;
    const { capacity, windowMs } = strange;
    const header = { name: "x-remaining", kind: "remaining" } as const;
    const spec = {
      name: "key",
      scope: "key",
      unit: "requests",
      capacity,
      windowMs,
      anchor: "wall_clock",
      banMs: 0,
      header,
    } as const;
    this.#gauge = make(spec, fixedClock(0, 0));
  }

  get refused(): number {
    return this.#refused;
  }

  get granted(): number {
    return this.#calls.length - this.#refused;
  }

  moves(): (() => void)[] {
    const moves: (() => void)[] = [];
    if (this.#calls.length < this.#strange.callsMax && this.#mayLeave()) moves.push(() => this.#leave());
    if (this.#now < 4 * this.#strange.windowMs) moves.push(() => this.#now++);
    const seen = new Set<string>();
    for (const call of this.#calls) {
      if (call.over) continue;
      const kind = `${call.sentAt} ${call.landed} ${call.refused} ${call.used}`;
      if (seen.has(kind)) continue;
      seen.add(kind);
      moves.push(() => (call.landed ? this.#answer(call) : this.#land(call)));
    }
    return moves;
  }

  /** Ends what is under way, and waits until a call may leave, in windows. */
  rest(): number {
    for (const call of this.#calls) {
      if (call.over) continue;
      if (call.landed) this.#answer(call);
      else {
        call.over = true;
        this.#gauge.lose(call.ticket, this.#now);
      }
    }
    const { windowMs } = this.#strange;
    const from = this.#now;
    while (!this.#mayLeave()) {
      this.#now++;
      if (this.#now - from > restWindowsMax * windowMs) return Number.POSITIVE_INFINITY;
    }
    return (this.#now - from) / windowMs;
  }

  #mayLeave(): boolean {
    if (this.#now < this.#heldUntil || (!this.#isWarm && this.#calls.some(({ over }) => !over))) return false;
    // Whatever is missing, one ordinary call may always ask.
    return (
      this.#gauge.blockedUntil(1, this.#now, () => Math.max(1 + this.#gauge.missing, this.#gauge.capacity)) ===
      undefined
    );
  }

  #leave(): void {
    const ticket = this.#gauge.begin(1, this.#now);
    const call: Call = { ticket, sentAt: this.#now, landed: false, over: false, refused: false, used: undefined };
    this.#calls.push(call);
    if (this.#strange.prompt !== true) return;
    this.#land(call);
    this.#answer(call);
  }

  #land(call: Call): void {
    const { windowMs, shiftMs, limit, capacity, counts } = this.#strange;
    const window = Math.floor((this.#now - shiftMs) / windowMs);
    const used = (this.#counts.get(window) ?? 0) + 1;
    call.landed = true;
    if (used > limit) {
      call.refused = true;
      this.#refused++;
      return;
    }
    this.#counts.set(window, used);
    // What remains of the limit is told, and read as used of the stated capacity.
    const told = capacity - limit + (counts === "call before" ? this.#told : used);
    this.#told = used;
    call.used = counts === "every other" && this.#calls.indexOf(call) % 2 === 1 ? undefined : told;
  }

  #answer(call: Call): void {
    call.over = true;
    this.#gauge.end(call.ticket, call.sentAt, this.#now, call.used, !call.refused);
    if (call.refused) {
      this.#gauge.learnRefusal(call.sentAt, this.#now);
      this.#heldUntil = this.#gauge.shut(this.#now);
      this.#isWarm = false;
    } else this.#isWarm = true;
  }
}

/** Plays every schedule, in the order of an odometer. */
export const surveyStrange = (
  strange: Strange,
  make: MakeWindow = (spec, clock) => new FixedWindow(spec, "k", clock),
): Found => {
  const choices: number[] = [];
  const found = { schedules: 0, refusals: 0, granted: 0, restWindows: 0 };
  for (;;) {
    const widths: number[] = [];
    const play = new Play(strange, make);
    for (let step = 0; step < strange.depth; step++) {
      const moves = play.moves();
      if (moves.length === 0) break;
      const choice = choices[step] ?? 0;
      choices[step] = choice;
      widths[step] = moves.length;
      moves[choice]?.();
    }
    found.schedules++;
    found.refusals = Math.max(found.refusals, play.refused);
    found.granted = Math.max(found.granted, play.granted);
    found.restWindows = Math.max(found.restWindows, play.rest());
    choices.length = widths.length;
    while (choices.length > 0 && (choices[choices.length - 1] ?? 0) + 1 >= (widths[choices.length - 1] ?? 0))
      choices.pop();
    if (choices.length === 0) return found;
    const turn = choices.length - 1;
    choices[turn] = (choices[turn] ?? 0) + 1;
  }
};
