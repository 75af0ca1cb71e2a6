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
import { createCounts, createStamps, type ServiceFaults } from "./service-faults.ts";

/** Milliseconds of one leg: `usual` is 5 + exponential(12), at most 60. */
export type LegMs =
  | { readonly kind: "usual" }
  /** As usual, and one leg in a hundred is delayed a further 0.2 to 2 s. */
  | { readonly kind: "tails" }
  /** At least `least`; twice as much half as often, to the power of `shape`. */
  | { readonly kind: "pareto"; readonly least: number; readonly shape: number }
  | { readonly kind: "uniform"; readonly from: number; readonly to: number };

export interface Wire {
  /** `judged` is told the verdict when the request arrives, not when the answer does. Rejects when no answer comes in time. */
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
  readonly faults: ServiceFaults;
  readonly random: Random;
}

/** An application gives up on an answer after this. */
const timeoutMs = 10_000;

const drawLeg = (legMs: LegMs, random: Random): number => {
  if (legMs.kind === "uniform") return legMs.from + (legMs.to - legMs.from) * random.next();
  if (legMs.kind === "pareto") return legMs.least / (1 - random.next()) ** (1 / legMs.shape);
  const usual = Math.min(60, 5 + random.exponential(12));
  return legMs.kind === "tails" && random.next() < 0.01 ? usual + 200 + 1800 * random.next() : usual;
};

const countsOf = ({ ipRemaining, keyRemaining, uidUsed }: Verdict): Readonly<Record<string, string>> => ({
  "x-ratelimit-ip-remaining": String(ipRemaining),
  "x-ratelimit-key-remaining": String(keyRemaining),
  "x-ratelimit-uid-weight-used": String(uidUsed),
});

export const createWire = ({ truth, machine, meter, legMs, dateOffMs, faults, random }: WireOptions): Wire => {
  const there = random.fork("there");
  const back = random.fork("back");
  const luck = random.fork("luck");
  const stampOf = createStamps(faults.date, random.fork("stamps"));
  const shown = createCounts(faults.counts, random.fork("counts"));
  const answerTo = (caller: Caller, verdict: Verdict): Answer => {
    const stampedAt = stampOf(truth.now() + dateOffMs);
    const date = stampedAt === undefined ? {} : { date: new Date(stampedAt).toUTCString() };
    if (!verdict.accepted) return { status: 429, headers: date };
    return { status: 200, headers: { ...date, ...shown(caller.user, countsOf(verdict)) } };
  };
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
      new Promise((resolve, reject) => {
        const sentAt = truth.now();
        const lost = faults.lostShare > 0 && luck.next() < faults.lostShare;
        let answer: Answer;
        const deliver = machine.within(() => resolve(answer));
        const giveUp = machine.within(() => reject(new Error("no answer came in time")));
        if (lost && luck.next() < 0.5) {
          truth.setTimer(sentAt + timeoutMs, giveUp);
          return;
        }
        if (faults.copiedShare > 0 && luck.next() < faults.copiedShare) {
          truth.setTimer(sentAt + drawLeg(legMs, luck), () =>
            meter.judge(truth.now(), { ...caller, copy: true }, weight),
          );
        }
        truth.setTimer(sentAt + takeLeg(), () => {
          const verdict = meter.judge(truth.now(), caller, weight);
          answer = answerTo(caller, verdict);
          const answersAt = truth.now() + drawLeg(legMs, back);
          if (lost || answersAt > sentAt + timeoutMs) truth.setTimer(sentAt + timeoutMs, giveUp);
          else truth.setTimer(answersAt, deliver);
          judged(verdict);
        });
      }),
  };
};
