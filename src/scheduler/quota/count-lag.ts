/**
 * Detects counts from before their own call, from a service that updates them late.
 *
 * Invariants: only requests are compared, whose size is certain, in windows where every answer carried a count and none
 * is missing; a window is one observation, by its last counts, because one misplaced call makes all counts of its
 * window look late; one observation proves nothing, and many are needed to refute a lag once it was found; use by
 * others proves nothing.
 * Needed by: `behind`, `behind-key`, `counts-before-key`.
 */
import { isLong, type LayerSpec } from "./layers.ts";
import type { WindowCounts } from "./window-slots.ts";

const proofsNeeded = 4;
/** Weight of an observation against a lag, because a late count may look right by chance. */
const denialWeight = 1 / 2;
const denialsNeeded = 8;

export class CountLag {
  /** True if each answer carries the count before its own call. */
  lagging = false;
  /** Number of times that `lagging` changed. */
  turns = 0;
  #proofs = 0;
  #denials = 0;

  /**
   * Observes a window without calls under way. `landed` requests of ours are certain, and `told` is its highest count.
   */
  observe(landed: number, told: number): void {
    if (landed < 2) return;
    if (told === landed - 1) {
      this.#proofs++;
      this.#denials = 0;
    } else if (told === landed) {
      this.#denials++;
      this.#proofs = Math.max(0, this.#proofs - denialWeight);
    }
    this.#decide();
  }

  /**
   * Observes a single call that landed longer than a window after a burst of `burst` calls. Its count `told` is one
   * unless counts lag. A burst has at least two calls. `burstTold` is the highest count of the burst: at most its size
   * if nothing else is counted.
   */
  observeLone(burst: number, burstTold: number, told: number): void {
    if (told === burst && burstTold <= burst) {
      this.#proofs += loneProofs;
      this.#denials = 0;
    } else if (told === 1) {
      this.#denials++;
      this.#proofs = 0;
    }
    this.#decide();
  }

  #decide(): void {
    if (this.lagging ? this.#denials < denialsNeeded : this.#proofs < proofsNeeded) return;
    this.lagging = !this.lagging;
    this.turns++;
    this.#proofs = 0;
    this.#denials = 0;
  }
}

/** Number of proofs that a single call is worth if its count is that of the burst before it. */
const loneProofs = 2;

/**
 * Units of the newest window whose answers carried the count of another window, and the evidence of its counts for a
 * lag.
 */
export class StaleCounts {
  /**
   * True if windows of the layer are compared: of requests, and short ones. A long window may contain a misplaced call,
   * which changes all later counts.
   */
  readonly compares: boolean;
  readonly #lag: CountLag;
  readonly #windowMs: number;
  #window = Number.NaN;
  #units = 0;
  /** The instant since which nothing is under way, and the number of calls begun by then. */
  #idleAt = Number.NaN;
  #begun = 0;
  /** Number of calls that were under way together before that, and their highest count. */
  #burst = 0;
  #burstTold = 0;
  #told = 0;
  /** The window observed last, and its latest counts. */
  #latest = { index: Number.NaN, landed: 0, told: 0 };

  constructor(lag: CountLag, { unit, windowMs }: LayerSpec) {
    this.#lag = lag;
    this.#windowMs = windowMs;
    this.compares = unit === "requests" && !isLong(windowMs);
  }

  /** Called when an answer of `window` carried the count of another window. */
  note(window: number, units: number): void {
    this.#units = (this.#window === window ? this.#units : 0) + units;
    this.#window = window;
  }

  /**
   * Called when the answer to the call that left at `sentAt` carried the count `used`. `begun` units were sent in
   * total, of which `open` are under way.
   */
  hear(sentAt: number, receivedAt: number, used: number | undefined, begun: number, open: number): void {
    if (!this.compares) return;
    this.#told = Math.max(this.#told, used ?? Number.POSITIVE_INFINITY);
    if (open > 0) return;
    const count = begun - this.#begun;
    const isAlone = count === 1 && sentAt - this.#idleAt > this.#windowMs;
    if (isAlone && used !== undefined && this.#burst > 1) this.#lag.observeLone(this.#burst, this.#burstTold, used);
    this.#burst = count;
    this.#burstTold = this.#told;
    this.#begun = begun;
    this.#idleAt = receivedAt;
    this.#told = 0;
  }

  /** Called when nothing of `window` is under way. Judges the window observed before, whose counts are complete. */
  observe(window: number, { settled, reported, unheard }: WindowCounts): void {
    const stale = this.#window === window ? this.#units : 0;
    if (!this.compares || unheard !== stale) return;
    const { index, landed, told } = this.#latest;
    if (index !== window) this.#lag.observe(landed, told);
    this.#latest = { index: window, landed: settled, told: this.#lag.lagging ? reported - 1 : reported };
  }
}
