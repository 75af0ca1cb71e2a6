/**
 * Floor of a fixed window: when its evidence is not to be relied on, and until when.
 *
 * A layer falls to the floor after two refusals that the ledger cannot explain, or three doubtful counts that no later
 * call confirmed. On the floor counts are disregarded and 95 % of the capacity is spent evenly, as a careful client
 * without headers does. The layer leaves the floor after a stated number of windows without a refusal; if it falls
 * again soon, the next stay is four times as long.
 *
 * Invariants: no count and no calendar changes what may be spent on the floor; every change of the mode is reported.
 * Needed by: `slides-key`, `slides-user`, `cached-key`, `another-key`, `another-user`, `nodes`, `slow-windows-key`.
 * Not here: the schedule (even-spending.ts), which refusals are explained (routes.ts).
 */
import { EvenSpending } from "./even-spending.ts";
import type { LayerSpec } from "./layers.ts";

/** How a layer is spent: by what the service reports, or evenly without evidence. */
export type QuotaMode = "measured" | "floor";

/** Change of a layer's mode, and its reason in words. */
interface ModeChange {
  readonly layer: LayerSpec["name"];
  readonly scope: string;
  readonly mode: QuotaMode;
  readonly why: string;
}

export type OnMode = (change: ModeChange) => void;

/** Part of the capacity that is spent on the floor: windows may be late, or longer than stated. */
const floorShare = 0.95;
/** Part of it that may be spent at once, of a long window and of a short one. */
const burstShareLong = 1 / 10;
const burstShare = 1 / 4;
/** A refusal on the floor cuts it to this part, and never below that one of what is stated. */
const cutShare = 0.8;
const leastShare = 0.1;
const refusalsMost = 2;
const refusalWindows = 2;
const doubtsMost = 3;
const doubtWindows = 5;
/**
 * Windows on the floor without a refusal before counts are used again, and the same of windows longer than `longMs`.
 */
const cleanWindows = 120;
const cleanWindowsLong = 10;
const longMs = 10_000;
const longerEachTime = 4;
const longestStays = 64;
/** Part of a long window after which a call is tried again that was refused on the floor. */
const retryShare = 1 / 4;

export class Floor {
  /** Undefined while counts are used. */
  spending: EvenSpending | undefined;
  shutUntil = Number.NEGATIVE_INFINITY;
  readonly #spec: LayerSpec;
  readonly #isLong: boolean;
  readonly #refusals: number[] = [];
  readonly #doubts: number[] = [];
  #cleanFrom = 0;
  #leftAt = Number.NEGATIVE_INFINITY;
  #stays = 1;

  constructor(spec: LayerSpec) {
    this.#spec = spec;
    this.#isLong = spec.windowMs >= longMs;
  }

  /** Time on the floor without a refusal after which it is left. */
  get stayMs(): number {
    return this.#spec.windowMs * (this.#isLong ? cleanWindowsLong : cleanWindows) * this.#stays;
  }

  /**
   * A call that left at `sentAt` was refused, and nothing explains it. True when the layer has to fall to the floor.
   */
  refuse(sentAt: number, at: number): boolean {
    // Calls that were under way together are one refusal.
    if (sentAt <= (this.#refusals.at(-1) ?? Number.NEGATIVE_INFINITY)) return false;
    return this.#isTooMany(this.#refusals, at, refusalsMost, refusalWindows);
  }

  /**
   * A count that contradicts what is known, and that no later call confirmed. True when the layer has to fall to the
   * floor.
   */
  doubt(at: number): boolean {
    return this.#isTooMany(this.#doubts, at, doubtsMost, doubtWindows);
  }

  /** From `at` on the capacity is spent evenly; `landed` units of the last window's length have been used. */
  enter(at: number, landed: number): EvenSpending {
    const { capacity, windowMs } = this.#spec;
    this.#stays = at - this.#leftAt < this.stayMs ? Math.min(longestStays, this.#stays * longerEachTime) : 1;
    this.#cleanFrom = at;
    const spending = new EvenSpending(
      Math.floor(capacity * floorShare),
      windowMs,
      this.#isLong ? burstShareLong : burstShare,
    );
    if (landed > 0) spending.land(landed, at);
    spending.spend(spending.room(at), at);
    this.spending = spending;
    return spending;
  }

  /** A call was refused on the floor, which the limit may be below of. Returns when the next may leave. */
  refused(at: number): number {
    this.#cleanFrom = at;
    const { spending } = this;
    if (spending !== undefined && at >= this.shutUntil)
      spending.capacity = Math.max(
        Math.ceil(this.#spec.capacity * leastShare),
        Math.floor(spending.capacity * cutShare),
      );
    this.shutUntil = at + this.#spec.windowMs * (this.#isLong ? retryShare : 1);
    return this.shutUntil;
  }

  mayLeave(at: number): boolean {
    return at - this.#cleanFrom >= this.stayMs;
  }

  leave(at: number): void {
    this.spending = undefined;
    this.#leftAt = at;
    this.#refusals.length = 0;
    this.#doubts.length = 0;
  }

  #isTooMany(instants: number[], at: number, most: number, windows: number): boolean {
    if (this.spending !== undefined) return false;
    instants.push(at);
    while (at - (instants[0] as number) > windows * this.#spec.windowMs) instants.shift();
    return instants.length >= most;
  }
}
