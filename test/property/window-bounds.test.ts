/**
 * Bounds that the rate limiter keeps from one question to the next: after any evidence they are what is found when they are computed anew.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createServerClock, type ServerClock } from "../../src/scheduler/quota/server-clock.ts";
import { WindowPhase } from "../../src/scheduler/quota/window-phase.ts";
import { unasked } from "../support/harness/fixed-clock.ts";

const windowMs = 1_000;

/** `wait` passes first; then a call left `ms` ago and its answer is in. */
interface Step {
  readonly wait: number;
  readonly ms: number;
  readonly kind: "date" | "wrong date" | "boundary" | "fall" | "late fall" | "run on" | "forget" | "ask";
}

const steps = fc.array(
  fc.record({
    wait: fc.integer({ min: 0, max: 700 }),
    ms: fc.integer({ min: 1, max: 900 }),
    kind: fc.constantFrom(
      ...([
        "date",
        "date",
        "date",
        "wrong date",
        "boundary",
        "fall",
        "fall",
        "late fall",
        "run on",
        "forget",
        "ask",
        "ask",
      ] as const),
    ),
  }),
  { minLength: 1, maxLength: 40 },
);

type Bounds = ReturnType<WindowPhase["at"]>;
type Evidence = (clock: ServerClock) => void;

const replayed = (evidence: readonly Evidence[]): ServerClock => {
  const clock = createServerClock();
  for (const tell of evidence) tell(clock);
  return clock;
};

/** A clock that keeps nothing: each answer is that of another one, which was told the same and asked nothing before. */
const forgetful = (evidence: readonly Evidence[]): ServerClock => {
  return {
    bounds: (at) => replayed(evidence).bounds(at),
    near: unasked,
    far: unasked,
    lo: (at) => replayed(evidence).lo(at),
    hi: (at) => replayed(evidence).hi(at),
    get known() {
      return replayed(evidence).known;
    },
    get conflicts() {
      return replayed(evidence).conflicts;
    },
    revision: 0,
    observeDate: () => undefined,
    observeBoundary: () => false,
    forget: () => undefined,
  };
};

const askKept = (phase: WindowPhase, at: number): Bounds => phase.at(at);

/** Nothing can be kept from a question of no instant. */
const askAnew = (phase: WindowPhase, at: number): Bounds => {
  phase.at(Number.NaN);
  return phase.at(at);
};

const beginningBefore = (at: number, offset: number): number =>
  Math.floor((at + offset) / windowMs) * windowMs - offset;

const play = (life: readonly Step[], offset: number) => {
  const evidence: Evidence[] = [];
  const clock = createServerClock();
  const kept = new WindowPhase(windowMs, clock);
  const anew = new WindowPhase(windowMs, forgetful(evidence));
  const tell = (told: Evidence): void => {
    evidence.push(told);
    told(clock);
  };
  let passed = 50_000;
  return life.map(({ wait, ms, kind }) => {
    passed += wait;
    const now = passed;
    const sentAt = now - ms;
    const dateMs = Math.floor((now - ms / 2 + offset + (kind === "wrong date" ? 2_500 : 0)) / 1_000) * 1_000;
    const beganAt = beginningBefore(now, offset);
    const { first, last } = kept.at(sentAt);
    askAnew(anew, sentAt);
    if (kind === "date" || kind === "wrong date") tell((told) => told.observeDate(sentAt, now, dateMs));
    else if (kind === "boundary") tell((told) => told.observeBoundary(beganAt - ms / 9, beganAt + ms / 9, windowMs));
    else if (kind === "forget") tell((told) => told.forget());
    anew.at(Number.NaN);
    for (const phase of [kept, anew]) {
      if (kind === "fall") phase.fell(beganAt - ms / 9, beganAt + ms / 9, first, last);
      if (kind === "late fall") phase.fell(sentAt, now, first, last);
      if (kind === "run on") phase.runOn(last, now);
      if (kind === "forget") phase.forget();
    }
    // What was asked last is what can be kept by mistake: before the evidence, or while it was weighed.
    const asked = kind === "late fall" ? [now, sentAt, now] : [sentAt, now, now, sentAt, now + 300];
    const seen = (phase: WindowPhase, ask: (phase: WindowPhase, at: number) => Bounds) =>
      asked.map((at) => ({ ...ask(phase, at), begins: phase.begins(last + 1, at), widthMs: phase.widthMs(at) }));
    const of = (asking: (at: number) => readonly number[]) => asked.map(asking);
    return {
      kept: {
        phase: seen(kept, askKept),
        clock: of((at) => [clock.lo(at), clock.hi(at), clock.bounds(at).lo, clock.bounds(at).hi]),
      },
      anew: {
        phase: seen(anew, askAnew),
        clock: of((at) => {
          const { lo, hi } = replayed(evidence).bounds(at);
          return [lo, hi, lo, hi];
        }),
      },
    };
  });
};

describe("Bounds of the service's time and of windows", () => {
  it("are those computed anew, after whatever was told, at every instant asked again", () => {
    fc.assert(
      fc.property(steps, fc.integer({ min: -900, max: 900 }), (life, offset) => {
        for (const { kept, anew } of play(life, offset)) expect(kept).toEqual(anew);
      }),
      { numRuns: 300 },
    );
  });
});
