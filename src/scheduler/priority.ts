/**
 * Order of actions: classes, and the waiting time that compensates for a lower class.
 *
 * Invariants: exits go before all other actions, however old these are; among ordinary actions a higher class counts as
 * additional age, so that no action starves; within a class, a strategy with many queued actions does not delay one
 * with few.
 */
import type { ActionClass } from "../journal/events.ts";
import type { Rank } from "./quota/ledger.ts";

interface ClassRule {
  readonly rank: Rank;
  /** For exits: their strict order. For ordinary actions: milliseconds of age that the class is worth. */
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

/** Milliseconds of quota per unit of weight, when 1200 a minute are shared. */
const msPerWeight = 50;

/** Waiting actions of one owner, and the instant until which they use up its part of the quota. */
export class Share {
  queued = 0;
  readonly #part: number;
  #until: number;

  constructor(part: number, now: number) {
    this.#part = part;
    this.#until = now;
  }

  /**
   * Sorting time of an action submitted now. The actions of an owner with many queued ones are placed as if it had
   * submitted them one after the other.
   */
  enter(weight: number, now: number): number {
    // Quota that an owner used while no other wanted it does not count against it later.
    const start = this.queued === 0 ? now : Math.max(now, this.#until);
    this.#until = start + (weight * msPerWeight) / this.#part;
    this.queued++;
    return start;
  }
}

export class FairShares {
  readonly #parts: Readonly<Record<string, number>>;
  readonly #owners = new Map<string, Share>();

  constructor(parts: Readonly<Record<string, number>> = {}) {
    this.#parts = parts;
  }

  of(owner: string, now: number): Share {
    let share = this.#owners.get(owner);
    if (share === undefined) {
      share = new Share(this.#parts[owner] ?? 1, now);
      this.#owners.set(owner, share);
    }
    return share;
  }
}

const budgetWindowMs = 60_000;

/**
 * Weight per minute that each owner may spend on ordinary actions. The minutes are those of our own clock, because they
 * have nothing to do with windows of the service.
 */
export class Budgets {
  /** True if no owner has a budget. */
  readonly none: boolean;
  readonly #perMinute: Readonly<Record<string, number>>;
  readonly #spent = new Map<string, { readonly minute: number; readonly weight: number }>();

  constructor(perMinute: Readonly<Record<string, number>> = {}) {
    this.#perMinute = perMinute;
    this.none = Object.keys(perMinute).length === 0;
  }

  has(owner: string): boolean {
    return this.#perMinute[owner] !== undefined;
  }

  /** Instant at which `owner` may spend `weight` again. Undefined if it may now, or if it has no budget. */
  blockedUntil(owner: string, weight: number, now: number): number | undefined {
    const most = this.#perMinute[owner];
    const minute = Math.floor(now / budgetWindowMs);
    const spent = this.#spentIn(owner, minute);
    // A single call above the budget would wait for ever, so it leaves when nothing else was spent.
    if (most === undefined || spent === 0 || spent + weight <= most) return undefined;
    return (minute + 1) * budgetWindowMs;
  }

  spend(owner: string, weight: number, now: number): void {
    if (!this.has(owner)) return;
    const minute = Math.floor(now / budgetWindowMs);
    this.#spent.set(owner, { minute, weight: this.#spentIn(owner, minute) + weight });
  }

  #spentIn(owner: string, minute: number): number {
    const state = this.#spent.get(owner);
    return state?.minute === minute ? state.weight : 0;
  }
}
