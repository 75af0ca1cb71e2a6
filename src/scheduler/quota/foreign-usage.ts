/**
 * Use of a shared quota by other clients: estimates it, and the part to leave free for them.
 *
 * Invariants: before any use by others was seen nothing is left free; afterwards at least one of their calls is,
 * because our last call and theirs may cross; the free part shrinks with the time that others still have. The margin is
 * a quantile of the compound Poisson distribution of future use: calls of others are treated as independent and alike.
 * Needed by: `C`; caution after a refusal and others' exits by `L`, `five-engines`, `light-beside`.
 */
import type { LimitWindow } from "./limit-window.ts";

const memoryMs = 120_000;
/**
 * Probability that future use by others exceeds what is left free for it. It is small while much time could be lost.
 */
export const foreignRisk = 0.005;
const foreignRiskAtEnd = 0.02;
const endMs = 600;
/** Largest weight of a call that is sent only to learn the use by others. */
export const newsWeight = 5;
/** After a silence of this length room is left for use that was not seen. */
export const newsMsMax = 3_000;

/** Shortest time of observation. Over a shorter one a first call would look like a flood. */
const spanMsLeast = 10_000;
const sizesKept = 31;
/** Largest weight of a call. More units seen at once belong to several calls. */
const sizeMost = 50;
const cautionMax = 2;
const cautionMs = 600_000;
/** In a window with this share used, other engines like ours send exits only. */
const fullShare = 0.75;
/** Time after a window was found full after which ordinary calls of others that were under way are over. */
const settledMs = 3_000;
/** For a quarter of an hour after a refusal the whole margin is left free, and half an hour later nothing. */
const lateCaution = 4;
const lateLeast = 0.1;

/** Estimate of the quota that clients outside use, from what was observed. */
export class ForeignUsage {
  /** Units that others used within memory; below 1 it is treated as none. */
  units = 0;
  #spanMs = 0;
  #lastAt = Number.NaN;
  #isPaused = false;
  #caution = 0;
  #cautionAt = 0;
  readonly #sizes: number[] = [];
  #size = 0;

  /** Use by others in units per second. */
  get rate(): number {
    return this.#spanMs === 0 ? 0 : (this.units / this.#spanMs) * 1_000;
  }

  /** Observes `units` of new use by others at `at`; 0 if there were none. */
  observe(at: number, units: number): void {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#lastAt = at;
      return;
    }
    const passed = Number.isNaN(this.#lastAt) ? 0 : Math.max(0, at - this.#lastAt);
    this.#lastAt = at;
    const keep = Math.max(0, 1 - passed / memoryMs);
    this.units = this.units * keep + units;
    this.#spanMs = this.#spanMs * keep + passed;
    if (units <= 0) return;
    const sizes = this.#sizes;
    sizes.push(Math.min(units, sizeMost));
    if (sizes.length > sizesKept) sizes.shift();
    // Two calls seen as one, or one call seen in halves, would distort a mean. A value a little above the median is the
    // size of one call.
    this.#size = sizes.toSorted((a, b) => a - b)[Math.floor(sizes.length * 0.55)] as number;
  }

  /** Skips time without evidence of others until the next observation, whose units fall into that time. */
  pause(): void {
    this.#isPaused = true;
  }

  /** Called when we were refused at `at`. For a while room is left for more of their calls. */
  surprised(at: number): void {
    this.#caution = Math.min(cautionMax, this.caution(at) + 1);
    this.#cautionAt = at;
  }

  /** Caution: 1 at a refusal, reduced by two thirds every ten minutes. */
  caution(at: number): number {
    return this.#caution * Math.exp(-Math.max(0, at - this.#cautionAt) / cautionMs);
  }

  /** Units to leave free while others still have `ms`, so that they exceed it with a probability of about `risk`. */
  margin(ms: number, risk: number): number {
    if (this.units < 1 || ms <= 0) return 0;
    const expected = (this.units / this.#size / Math.max(this.#spanMs, spanMsLeast)) * ms;
    const least = 1 + this.caution(this.#lastAt);
    return this.#size * Math.max(least, poissonQuantile(expected, risk));
  }
}

/**
 * Further use of nearly full windows by others: engines like ours, which then send exits only.
 *
 * If there are several such engines, all of them soon use what each leaves for its own exits. The owner of that use is
 * unknown. Therefore only an engine that was refused recently leaves this much, and nothing is left while there are no
 * others.
 */
export class LateUsage {
  readonly #usage = new ForeignUsage();
  #fullAt: number | undefined;

  /** Observes at `at` that a `share` of the window was used, including `units` of new use by others. */
  observe(at: number, units: number, share: number): void {
    this.#fullAt = share < fullShare ? undefined : (this.#fullAt ?? at);
    if (this.#fullAt === undefined || at < this.#fullAt + settledMs) this.#usage.pause();
    else this.#usage.observe(at, units);
  }

  /** Units to leave free in a window that ends in `ms`. */
  margin(ms: number): number {
    return this.#usage.margin(ms, foreignRisk);
  }
}

/** Estimate of the others who use a quota, and the instant of the last count. */
interface Others {
  readonly foreign: ForeignUsage | undefined;
  readonly late?: LateUsage | undefined;
  readonly heardAt: number | undefined;
}

/**
 * Units of `gauge` that a call of `weight` leaves to others at `at`, with `remMs` of the window to go. Zero on the
 * floor, where counts are no evidence of others.
 */
export const othersMargin = (
  { foreign, heardAt }: Others,
  { capacity, mode }: LimitWindow,
  weight: number,
  at: number,
  remMs: number,
): number => {
  if (remMs <= 0 || mode === "floor" || foreign === undefined || foreign.units < 1) return 0;
  const quietMs = heardAt === undefined ? 0 : Math.max(0, at - heardAt);
  const silentMs = weight <= newsWeight || quietMs <= newsMsMax ? 0 : quietMs;
  const expected = foreign.margin(remMs + silentMs, remMs < endMs ? foreignRiskAtEnd : foreignRisk);
  // At most half is left to others: use of a part that is always left free could never be measured again.
  return Math.min(capacity / 2, expected);
};

/**
 * Units of `capacity` that are left for others' exits at `at`, with `remMs` of the window to go. Zero without a recent
 * refusal.
 */
export const lateMargin = ({ foreign, late }: Others, capacity: number, at: number, remMs: number): number => {
  const share = Math.min(1, (foreign?.caution(at) ?? 0) * lateCaution);
  return late === undefined || share < lateLeast ? 0 : share * Math.min(capacity / 2, late.margin(remMs));
};

/** Smallest count that a Poisson variable of this mean exceeds with a probability of at most `risk`. */
export const poissonQuantile = (mean: number, risk: number): number => {
  if (mean > 60) return Math.ceil(mean + 3 * Math.sqrt(mean));
  let term = Math.exp(-mean);
  let below = term;
  let count = 0;
  while (1 - below > risk && count < 200) {
    count++;
    term *= mean / count;
    below += term;
  }
  return count;
};
