/**
 * The way between client and service: latency drawn for each leg, the verdict at arrival, headers on the way back.
 *
 * Invariants: the arrival instant decides the window; requests may overtake each other; an answer to a process that has been
 * restarted is lost.
 */
import type { VirtualClock } from "../../../src/clock/virtual-clock.ts";
import type { Random } from "../../../src/random.ts";
import type { Answer } from "./limiter.ts";
import type { Machine } from "./machine.ts";
import type { Caller, Meter, Verdict } from "./meter.ts";

/** Milliseconds of one leg: `usual` is 5 + exponential(12), at most 60. */
export type LegMs =
  | { readonly kind: "usual" }
  /** As usual, and one leg in a hundred is delayed a further 0.2 to 2 s. */
  | { readonly kind: "tails" }
  | { readonly kind: "uniform"; readonly from: number; readonly to: number };

export interface Wire {
  /** `judged` is told the verdict when the request arrives, not when the answer does. */
  send(caller: Caller, weight: number, judged: (verdict: Verdict) => void): Promise<Answer>;
  nextLegMs(): number;
}

export interface WireOptions {
  readonly truth: VirtualClock;
  readonly machine: Machine;
  readonly meter: Meter;
  readonly legMs: LegMs;
  /** How far the clock that stamps Date is from the clock that limits. */
  readonly dateOffMs: number;
  readonly random: Random;
}

const drawLeg = (legMs: LegMs, random: Random): number => {
  if (legMs.kind === "uniform") return legMs.from + (legMs.to - legMs.from) * random.next();
  const usual = Math.min(60, 5 + random.exponential(12));
  return legMs.kind === "tails" && random.next() < 0.01 ? usual + 200 + 1800 * random.next() : usual;
};

const answerTo = (verdict: Verdict, stampedAt: number): Answer => {
  const date = new Date(Math.floor(stampedAt / 1000) * 1000).toUTCString();
  if (!verdict.accepted) return { status: 429, headers: { date } };
  return {
    status: 200,
    headers: {
      date,
      "x-ratelimit-ip-remaining": String(verdict.ipRemaining),
      "x-ratelimit-key-remaining": String(verdict.keyRemaining),
      "x-ratelimit-uid-weight-used": String(verdict.uidUsed),
    },
  };
};

export const createWire = ({ truth, machine, meter, legMs, dateOffMs, random }: WireOptions): Wire => {
  const there = random.fork("there");
  const back = random.fork("back");
  // Drawn one ahead so that the oracle can know the way of the next request.
  let nextMs = drawLeg(legMs, there);
  const takeLeg = (): number => {
    const ms = nextMs;
    nextMs = drawLeg(legMs, there);
    return ms;
  };
  return {
    nextLegMs: () => nextMs,
    send: (caller, weight, judged) =>
      new Promise((resolve) => {
        let answer: Answer;
        const deliver = machine.within(() => resolve(answer));
        truth.setTimer(truth.now() + takeLeg(), () => {
          const verdict = meter.judge(truth.now(), caller, weight);
          answer = answerTo(verdict, truth.now() + dateOffMs);
          truth.setTimer(truth.now() + drawLeg(legMs, back), deliver);
          judged(verdict);
        });
      }),
  };
};
