/**
 * What happened in the minutes that count.
 *
 * Invariants: the first, partial minute is left out; a call counts where it was judged; an urgent call that was never accepted
 * counts with the time it had waited at the end; time asleep is not waiting.
 */
import type { Scenario } from "./scenarios.ts";

/** Plain numbers, so that the runs of several seeds can be put together. */
export interface Tally {
  readonly runs: number;
  readonly minutes: number;
  readonly refused: number;
  readonly minutesBlocked: number;
  readonly blockedMs: number;
  /** Of the binding layer, over the minutes in which the client was awake throughout. */
  readonly used: number;
  readonly usable: number;
  /** Used by each engine; of several runs together, by the one that used most in each. */
  readonly byEngine: Readonly<Record<string, number>>;
  readonly urgentMs: readonly number[];
  /** From the moment of a burst to the acceptance of its last call. */
  readonly burstMs: readonly number[];
  /** What each call of a burst waited. */
  readonly placedMs: readonly number[];
}

export interface Counter {
  readonly from: number;
  readonly until: number;
  /** `engine` tells our engines apart; left out, it is the only one. */
  accepted(at: number, weight: number, foreign: boolean, engine?: string): void;
  refused(at: number): void;
  blocked(at: number, ms: number): void;
  slept(from: number, until: number): void;
  urgent(submittedAt: number, waitedMs: number): void;
  burst(startedAt: number, ms: number): void;
  placed(submittedAt: number, waitedMs: number): void;
  total(): Tally;
}

const minuteMs = 60_000;
const capacityPerMinute = { uid: 1200, key: 600, ip: 1200 } as const;
/** A key's limit is of a second. */
const windowsPerMinute = { uid: 1, key: 60, ip: 1 } as const;

interface Minute {
  own: number;
  foreign: number;
  refused: number;
  blockedMs: number;
  awake: boolean;
}

export const createCounter = (
  startAt: number,
  minutes: number,
  binding: Scenario["binding"],
  changes: Scenario["faults"]["changes"] = [],
): Counter => {
  const from = Math.ceil(startAt / minuteMs) * minuteMs;
  const rows: Minute[] = Array.from({ length: minutes }, () => ({
    own: 0,
    foreign: 0,
    refused: 0,
    blockedMs: 0,
    awake: true,
  }));
  const urgentMs: number[] = [];
  const burstMs: number[] = [];
  const placedMs: number[] = [];
  const byEngine: Record<string, number> = {};
  const rowAt = (at: number): Minute | undefined => rows[Math.floor((at - from) / minuteMs)];
  const until = from + minutes * minuteMs;
  const capacityOf = (row: Minute): number => {
    const endsAt = from + (rows.indexOf(row) + 1) * minuteMs;
    const change = changes.findLast(({ atMs, layer }) => layer === binding && startAt + atMs < endsAt);
    return change === undefined ? capacityPerMinute[binding] : change.max * windowsPerMinute[binding];
  };
  return {
    from,
    until,
    accepted: (at, weight, foreign, engine = "engine-0") => {
      const row = rowAt(at);
      if (row === undefined) return;
      const units = binding === "uid" ? weight : 1;
      if (foreign) row.foreign += units;
      else {
        row.own += units;
        byEngine[engine] = (byEngine[engine] ?? 0) + units;
      }
    },
    refused: (at) => {
      const row = rowAt(at);
      if (row !== undefined) row.refused += 1;
    },
    blocked: (at, ms) => {
      const row = rowAt(at);
      if (row !== undefined) row.blockedMs += ms;
    },
    slept: (asleepAt, awakeAt) => {
      for (let at = asleepAt; at < awakeAt + minuteMs; at += minuteMs) {
        const row = rowAt(Math.min(at, awakeAt));
        if (row !== undefined) row.awake = false;
      }
    },
    urgent: (submittedAt, waitedMs) => {
      if (submittedAt >= from && submittedAt < until) urgentMs.push(waitedMs);
    },
    burst: (startedAt, ms) => {
      if (startedAt >= from && startedAt < until) burstMs.push(ms);
    },
    placed: (submittedAt, waitedMs) => {
      if (submittedAt >= from && submittedAt < until) placedMs.push(waitedMs);
    },
    total: () => {
      const awake = rows.filter((row) => row.awake);
      return {
        runs: 1,
        minutes,
        refused: rows.reduce((sum, row) => sum + row.refused, 0),
        minutesBlocked: rows.filter((row) => row.blockedMs > 0).length,
        blockedMs: rows.reduce((sum, row) => sum + row.blockedMs, 0),
        used: awake.reduce((sum, row) => sum + row.own, 0),
        usable: awake.reduce((sum, row) => sum + capacityOf(row) - row.foreign, 0),
        byEngine,
        urgentMs,
        burstMs,
        placedMs,
      };
    },
  };
};

export const addTallies = (tallies: readonly Tally[]): Tally => {
  const sum = (pick: (tally: Tally) => number): number => tallies.reduce((total, tally) => total + pick(tally), 0);
  return {
    runs: sum((tally) => tally.runs),
    minutes: sum((tally) => tally.minutes),
    refused: sum((tally) => tally.refused),
    minutesBlocked: sum((tally) => tally.minutesBlocked),
    blockedMs: sum((tally) => tally.blockedMs),
    used: sum((tally) => tally.used),
    usable: sum((tally) => tally.usable),
    // By rank, so that one engine's luck in one run is not made up by the other's in the next.
    byEngine: { most: sum(({ byEngine }) => Math.max(0, ...Object.values(byEngine))) },
    urgentMs: tallies.flatMap((tally) => tally.urgentMs),
    burstMs: tallies.flatMap((tally) => tally.burstMs),
    placedMs: tallies.flatMap((tally) => tally.placedMs),
  };
};

export interface Figures {
  readonly refusedPerHour: number;
  readonly refusedPerRun: number;
  readonly minutesBlockedPct: number;
  readonly timeBlockedPct: number;
  readonly utilisationPct: number;
  /** Share of the engine that used most; 100 where there is one. */
  readonly sharePct: number;
  readonly urgentMsP50: number;
  readonly urgentMsP99: number;
  readonly urgentMsMax: number;
  readonly burstMsP50: number;
  readonly burstMsP99: number;
  readonly placedMsP99: number;
}

/** The smallest value that at least `share` of the values do not exceed; NaN of nothing. */
export const quantile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
};

export const figuresOf = (tally: Tally): Figures => ({
  refusedPerHour: (tally.refused * 60) / tally.minutes,
  refusedPerRun: tally.refused / tally.runs,
  minutesBlockedPct: (100 * tally.minutesBlocked) / tally.minutes,
  timeBlockedPct: (100 * tally.blockedMs) / (tally.minutes * minuteMs),
  utilisationPct: (100 * tally.used) / tally.usable,
  sharePct: (100 * Math.max(0, ...Object.values(tally.byEngine))) / Math.max(1, tally.used),
  urgentMsP50: quantile(tally.urgentMs, 0.5),
  urgentMsP99: quantile(tally.urgentMs, 0.99),
  urgentMsMax: quantile(tally.urgentMs, 1),
  burstMsP50: quantile(tally.burstMs, 0.5),
  burstMsP99: quantile(tally.burstMs, 0.99),
  placedMsP99: quantile(tally.placedMs, 0.99),
});
