/**
 * Demand of an engine in one divided scope: the units that it asked for without success, how long ago, and whether what
 * it holds is kept for it.
 *
 * Invariants: near a window's end nothing is kept that nothing waits for, nor what is too little for what waits: it is
 * lost then.
 * Not here: what is held (held-units.ts).
 */
import type { Rank } from "sluice/extension";
import { givesBackMs } from "./group-reserve.ts";

const idleMs = 1_000;
const hungerMs = 3_000;
/** Longest time that a slice lasts while its holder may ask for more. */
const sliceMs = 10_000;
const lateHungerMs = 500;
const lateIdleMs = 100;

export class Demand {
  /** Most units that an exit was not granted since the last statement. */
  exits = 0;
  /** Least that an ordinary action did. */
  #ordinary = Number.POSITIVE_INFINITY;
  /** Units that were last not granted. */
  #units = 0;
  #lackedAt = Number.NEGATIVE_INFINITY;
  #spentAt = Number.NEGATIVE_INFINITY;

  /** Notes that so many units were not granted. */
  lack(units: number, rank: Rank, at: number): void {
    this.#lackedAt = at;
    if (rank !== "ordinary") this.exits = Math.max(this.exits, units);
    else this.#units = this.#ordinary = Math.min(this.#ordinary, units);
  }

  spent(at: number): void {
    this.#spentAt = at;
  }

  stated(): void {
    this.#ordinary = Number.POSITIVE_INFINITY;
    this.exits = 0;
  }

  /** True if ordinary actions were not granted since the last statement. */
  get owesOrdinary(): boolean {
    return Number.isFinite(this.#ordinary);
  }

  isHungry(at: number): boolean {
    const ms = at - this.#lackedAt;
    return ms < hungerMs || (ms < sliceMs && at - this.#spentAt < idleMs);
  }

  isBusy(at: number): boolean {
    return at - this.#spentAt < idleMs || this.isHungry(at);
  }

  /** Least units that something waits for, 0 where nothing does. */
  units(at: number, remMs: number): number {
    const waits = remMs > givesBackMs ? this.isHungry(at) : this.#waits && at - this.#lackedAt < lateHungerMs;
    return waits ? this.#units : 0;
  }

  /** True if nothing was spent since a request was not granted: waiting actions ask again when something is spent. */
  get #waits(): boolean {
    return this.#lackedAt >= this.#spentAt;
  }

  /** True if `units` that are held besides the purse are kept, where something waits for `lack`. */
  keeps(units: number, lack: number, at: number, remMs: number): boolean {
    if (remMs > givesBackMs) return this.isBusy(at);
    return lack > 0 ? lack <= units : at - this.#spentAt < lateIdleMs;
  }
}
