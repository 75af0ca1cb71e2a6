/**
 * Who goes first: classes of action, and how waiting makes up for a lower class.
 *
 * Invariants: exits overtake everything else whatever its age; among ordinary actions a class is worth a head start, so that
 * nothing starves; within a class, strategies that queue much do not push back those that queue little.
 */
import type { ActionClass } from "../journal/events.ts";
import type { Rank } from "./quota/ledger.ts";

interface ClassRule {
  readonly rank: Rank;
  /** Exits: strict order. Ordinary: milliseconds of age the class is worth. */
  readonly order: number;
  readonly headStartMs: number;
}

export const classRules: Readonly<Record<ActionClass, ClassRule>> = {
  emergency: { rank: "emergency", order: 0, headStartMs: 0 },
  cancel: { rank: "exit", order: 1, headStartMs: 0 },
  close: { rank: "exit", order: 2, headStartMs: 0 },
  resolve: { rank: "ordinary", order: 3, headStartMs: 120_000 },
  place: { rank: "ordinary", order: 3, headStartMs: 15_000 },
  read: { rank: "ordinary", order: 3, headStartMs: 5_000 },
  backfill: { rank: "ordinary", order: 3, headStartMs: 0 },
};

/** Milliseconds of quota that one unit of weight stands for, when sharing 1200 a minute. */
const msPerWeight = 50;

/** What one owner has waiting, and up to when that lasts at its part of the quota. */
export class Share {
  queued = 0;
  readonly #part: number;
  #until: number;

  constructor(part: number, now: number) {
    this.#part = part;
    this.#until = now;
  }

  /** Sorting time of an action submitted now; an owner with much queued is placed as if it had asked one after the other. */
  enter(weight: number, now: number): number {
    // What was used while no other wanted it is not held against anyone later.
    const start = this.queued === 0 ? now : Math.max(now, this.#until);
    this.#until = start + (weight * msPerWeight) / this.#part;
    this.queued++;
    return start;
  }
}

interface FairShares {
  of(owner: string, now: number): Share;
}

export const createFairShares = (shares: Readonly<Record<string, number>> = {}): FairShares => {
  const owners = new Map<string, Share>();
  return {
    of: (owner, now) => {
      let share = owners.get(owner);
      if (share === undefined) {
        share = new Share(shares[owner] ?? 1, now);
        owners.set(owner, share);
      }
      return share;
    },
  };
};

interface Budgets {
  /** When `owner` may spend `weight` again; undefined when it may now. Owners without a budget always may. */
  blockedUntil(owner: string, weight: number, now: number): number | undefined;
  spend(owner: string, weight: number, now: number): void;
  has(owner: string): boolean;
}

const budgetWindowMs = 60_000;

/** Weight a minute each owner may spend on ordinary actions; minutes of our own clock, since no window of the service is meant. */
export const createBudgets = (perMinute: Readonly<Record<string, number>> = {}): Budgets => {
  const spent = new Map<string, { minute: number; weight: number }>();
  const none = Object.keys(perMinute).length === 0;
  const minuteOf = (now: number): number => Math.floor(now / budgetWindowMs);
  const spentIn = (owner: string, minute: number): number => {
    const state = spent.get(owner);
    return state?.minute === minute ? state.weight : 0;
  };
  return {
    has: (owner) => !none && perMinute[owner] !== undefined,
    blockedUntil: (owner, weight, now) => {
      if (none) return undefined;
      const most = perMinute[owner];
      const minute = minuteOf(now);
      // A single call above the budget would wait for ever; it goes when nothing else was spent.
      if (most === undefined || spentIn(owner, minute) === 0 || spentIn(owner, minute) + weight <= most) return undefined;
      return (minute + 1) * budgetWindowMs;
    },
    spend: (owner, weight, now) => {
      if (none || perMinute[owner] === undefined) return;
      const minute = minuteOf(now);
      spent.set(owner, { minute, weight: spentIn(owner, minute) + weight });
    },
  };
};
