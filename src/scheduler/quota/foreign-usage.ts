/**
 * Use of a shared quota by others: its estimate, and the part to leave free for them.
 *
 * Invariants: before anything foreign was seen nothing is left free; afterwards never less than one of their calls,
 * because our last call and theirs may cross; the part left free falls with the time others still have. The margin is a
 * quantile of the compound Poisson use still to come: others' calls are treated as independent and alike.
 */
import type { LimitWindow } from "./limit-window.ts";

const memoryMs = 120_000;
/** Chance that others' use still to come exceeds what is left free for it: small while there is much time to lose. */
export const foreignRisk = 0.005;
const foreignRiskAtEnd = 0.02;
const endMs = 600;
/** Calls at most this heavy are sent for news of others' use. */
export const newsWeight = 5;
/** After so long a silence room is left for what was not seen. */
export const newsMsMax = 3_000;

/** Before so long was watched a first call would look like a flood. */
const spanMsLeast = 10_000;
const sizesKept = 31;
/** No call is dearer; what is seen at once beyond this was several. */
const sizeMost = 50;
const cautionMax = 2;
const cautionMs = 600_000;
/** In a window used to this share, other engines like ours send exits only. */
const fullShare = 0.75;
/** So long after it was found full, ordinary calls of others that were under way are over. */
const settledMs = 3_000;
/** For a quarter of an hour after a refusal all of it is left free, and half an hour later nothing. */
const lateCaution = 4;
const lateLeast = 0.1;

/** Estimate of the quota that clients outside use, from what was observed. */
export class ForeignUsage {
  /** Others' use within memory; below 1 it is treated as none. */
  units = 0;
  #spanMs = 0;
  #lastAt = Number.NaN;
  #isPaused = false;
  #caution = 0;
  #cautionAt = 0;
  readonly #sizes: number[] = [];
  #size = 0;

  /** Units a second. */
  get rate(): number {
    return this.#spanMs === 0 ? 0 : (this.units / this.#spanMs) * 1_000;
  }

  /** `units` of others' use were newly observed at `at`; 0 if there were none. */
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
    // Two calls seen as one, or one seen in halves, would pull a mean; a little above the middle of many is one call.
    this.#size = sizes.toSorted((a, b) => a - b)[Math.floor(sizes.length * 0.55)] as number;
  }

  /** Skips time without evidence of others until the next observation, whose units fall into that time. */
  pause(): void {
    this.#isPaused = true;
  }

  /** We were refused at `at`: for a while more of their calls are left room for. */
  surprised(at: number): void {
    this.#caution = Math.min(cautionMax, this.caution(at) + 1);
    this.#cautionAt = at;
  }

  /** 1 at a refusal, and less by two thirds each ten minutes. */
  caution(at: number): number {
    return this.#caution * Math.exp(-Math.max(0, at - this.#cautionAt) / cautionMs);
  }

  /** Units to leave free when others still have `ms`, so that they exceed it with a probability of about `risk`. */
  margin(ms: number, risk: number): number {
    if (this.units < 1 || ms <= 0) return 0;
    const expected = (this.units / this.#size / Math.max(this.#spanMs, spanMsLeast)) * ms;
    const least = 1 + this.caution(this.#lastAt);
    return this.#size * Math.max(least, poissonQuantile(expected, risk));
  }
}

/**
 * Further use by others of windows that are nearly full: of engines like ours, which have stopped by then, their
 * exits.
 *
 * If such engines are several, what each leaves for exits of its own is soon used by all. The owner of that
 * use is unknown, so that only an engine that was refused recently leaves this much, and nothing is left while there
 * are no others.
 */
export class LateUsage {
  readonly #usage = new ForeignUsage();
  #fullAt: number | undefined;

  /** Observes at `at` that a `share` of the window was used, and `units` of it newly by others. */
  observe(at: number, units: number, share: number): void {
    this.#fullAt = share < fullShare ? undefined : (this.#fullAt ?? at);
    if (this.#fullAt === undefined || at < this.#fullAt + settledMs) this.#usage.pause();
    else this.#usage.observe(at, units);
  }

  /** Units to leave free of a window that runs for another `ms`. */
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
 * Units of `gauge` that a call of `weight` leaves to others at `at`, with `remMs` of the window to go; none on the
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
  // Half is never left to others: what is only left free is never measured again, and would be left free for ever.
  return Math.min(capacity / 2, expected);
};

/**
 * Units of `capacity` that are left for others' exits at `at`, with `remMs` of the window to go: none where no refusal
 * was recently.
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
