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
import {
  clockOf,
  createCounts,
  createStamps,
  isOut,
  type Outages,
  retryAfterOf,
  type ServiceFaults,
} from "./service-faults.ts";

/** Milliseconds of one leg: `usual` is 5 + exponential(12), at most 60. */
export type LegMs =
  | { readonly kind: "usual" }
  /** As usual, and one leg in a hundred is delayed a further 0.2 to 2 s. */
  | { readonly kind: "tails" }
  /** Pareto: at least `least`, with the given shape. */
  | { readonly kind: "pareto"; readonly least: number; readonly shape: number }
  | { readonly kind: "uniform"; readonly from: number; readonly to: number }
  /** The way there and the way back differ. */
  | { readonly kind: "uneven"; readonly there: number; readonly back: number }
  /** As usual, and one answer in a hundred is 20 s late. */
  | { readonly kind: "late-answers" }
  /** As usual, and every way grows by up to 800 ms and shrinks again in 20 minutes. */
  | { readonly kind: "swell" }
  /** As usual, but a gateway hands requests on every `everyMs`. */
  | { readonly kind: "ticks"; readonly everyMs: number };

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

const lateAnswerMs = 20_000;
const swellMs = 800;
const swellEveryMs = 1_200_000;

/** Milliseconds of a leg that begins at `at`; `way` says which of the two it is. */
const drawLeg = (legMs: LegMs, random: Random, way: "there" | "back", at: number): number => {
  if (legMs.kind === "uniform") return legMs.from + (legMs.to - legMs.from) * random.next();
  if (legMs.kind === "uneven") return legMs[way] + 4 * random.next();
  if (legMs.kind === "pareto") return legMs.least / (1 - random.next()) ** (1 / legMs.shape);
  const usual = Math.min(60, 5 + random.exponential(12));
  switch (legMs.kind) {
    case "tails":
      return random.next() < 0.01 ? usual + 200 + 1800 * random.next() : usual;
    case "late-answers":
      return way === "back" && random.next() < 0.01 ? usual + lateAnswerMs : usual;
    case "swell":
      return usual + (swellMs / 2) * (1 - Math.cos((2 * Math.PI * at) / swellEveryMs));
    case "ticks":
      return way === "there" ? Math.ceil((at + usual) / legMs.everyMs) * legMs.everyMs - at : usual;
    case "usual":
      return usual;
    default:
      return legMs satisfies never;
  }
};

const countsOf = ({ ipRemaining, keyRemaining, uidUsed }: Verdict): Readonly<Record<string, string>> => ({
  "x-ratelimit-ip-remaining": String(ipRemaining),
  "x-ratelimit-key-remaining": String(keyRemaining),
  "x-ratelimit-uid-weight-used": String(uidUsed),
});

/** Refusal by a machine in front of the service, or by one that is out. */
const strayVerdict: Verdict = { accepted: false, ipRemaining: 0, keyRemaining: 0, uidUsed: 0, blocksForMs: 0 };

export const createWire = ({ truth, machine, meter, legMs, dateOffMs, faults, random }: WireOptions): Wire => {
  const there = random.fork("there");
  const back = random.fork("back");
  const luck = random.fork("luck");
  const stampOf = createStamps(faults.date, random.fork("stamps"));
  const shown = createCounts(faults.counts, random.fork("counts"));
  const serviceClock = clockOf(faults);
  const startAt = truth.now();
  const answerTo = (caller: Caller, verdict: Verdict, outage: Outages | undefined): Answer => {
    const now = serviceClock(truth.now());
    const stampedAt = stampOf(now + dateOffMs);
    const date = stampedAt === undefined ? {} : { date: new Date(stampedAt).toUTCString() };
    if (outage !== undefined)
      return { status: 503, headers: { ...date, ...retryAfterOf(outage.retryAfter, now + dateOffMs) } };
    if (!verdict.accepted)
      return { status: 429, headers: { ...date, ...retryAfterOf(faults.retryAfter, now + dateOffMs) } };
    return { status: 200, headers: { ...date, ...shown(caller.user, countsOf(verdict), truth.now()) } };
  };
  // Drawn one ahead so that the oracle can know the way of the next request.
  let nextMs = drawLeg(legMs, there, "there", truth.now());
  const takeLeg = (): number => {
    const ms = legMs.kind === "ticks" ? drawLeg(legMs, there, "there", truth.now()) : nextMs;
    nextMs = drawLeg(legMs, there, "there", truth.now());
    return ms;
  };
  const patienceMs = legMs.kind === "late-answers" ? 2 * lateAnswerMs : timeoutMs;
  const billed = (weight: number): number => {
    const { stated, as } = faults.weighs;
    return weight !== stated || as.length === 0 ? weight : (as[Math.floor(as.length * luck.next())] ?? weight);
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
          truth.setTimer(sentAt + patienceMs, giveUp);
          return;
        }
        const isStray = faults.strayShare > 0 && luck.next() < faults.strayShare;
        if (faults.copiedShare > 0 && luck.next() < faults.copiedShare) {
          truth.setTimer(sentAt + drawLeg(legMs, luck, "there", sentAt), () =>
            meter.judge(truth.now(), { ...caller, copy: true }, weight),
          );
        }
        truth.setTimer(sentAt + takeLeg(), () => {
          const outage = isOut(faults, truth.now() - startAt) ? faults.outages : undefined;
          const isSeen = outage === undefined && (!isStray || faults.strayCounted);
          const judgement = isSeen ? meter.judge(truth.now(), caller, billed(weight)) : strayVerdict;
          const verdict = isStray ? strayVerdict : judgement;
          answer = answerTo(caller, verdict, outage);
          const answersAt = truth.now() + drawLeg(legMs, back, "back", truth.now());
          if (lost || answersAt > sentAt + patienceMs) truth.setTimer(sentAt + patienceMs, giveUp);
          else truth.setTimer(answersAt, deliver);
          judged(verdict);
        });
      }),
  };
};
