/**
 * How much others spend of a quota that is not ours alone, and how much of it to leave free for them.
 *
 * Invariants: before anything foreign was seen nothing is left free; afterwards never less than one of their calls, because our
 * last call and theirs may cross; the part left free falls with the time others still have.
 * The margin is a quantile of the compound Poisson use still to come: others' calls are taken as independent and alike.
 */

export interface ForeignUsage {
  /** `units` of others' use were newly seen at `at`; 0 says that none was. */
  observe(at: number, units: number): void;
  /** Units to leave free when others still have `ms`, so that they exceed it with a probability of about `risk`. */
  margin(ms: number, risk: number): number;
  /** We were refused at `at`: for a while more of their calls are left room for. */
  surprised(at: number): void;
  /** Units a second. */
  readonly rate: number;
}

const memoryMs = 120_000;
/** Before so long was watched a first call would look like a flood. */
const spanMsLeast = 10_000;
const sizesKept = 31;
const cautionMax = 2;
const cautionMs = 600_000;

export const createForeignUsage = (): ForeignUsage => {
  // In one object, because numbers kept by a closure are allocated anew with every change.
  const seen = { units: 0, spanMs: 0, lastAt: Number.NaN };
  let caution = 0;
  let cautionAt = 0;
  const sizes: number[] = [];
  let size = 0;
  return {
    get rate() {
      return seen.spanMs === 0 ? 0 : (seen.units / seen.spanMs) * 1_000;
    },
    observe: (at, fresh) => {
      const passed = Number.isNaN(seen.lastAt) ? 0 : Math.max(0, at - seen.lastAt);
      seen.lastAt = at;
      const keep = Math.max(0, 1 - passed / memoryMs);
      seen.units = seen.units * keep + fresh;
      seen.spanMs = seen.spanMs * keep + passed;
      if (fresh <= 0) return;
      sizes.push(fresh);
      if (sizes.length > sizesKept) sizes.shift();
      // Two calls seen as one, or one seen in halves, would pull a mean; a little above the middle of many is one call.
      size = sizes.toSorted((a, b) => a - b)[Math.floor(sizes.length * 0.6)] as number;
    },
    surprised: (at) => {
      caution = Math.min(cautionMax, caution * Math.exp(-(at - cautionAt) / cautionMs) + 1);
      cautionAt = at;
    },
    margin: (ms, risk) => {
      if (seen.units < 1 || ms <= 0) return 0;
      const expected = (seen.units / size / Math.max(seen.spanMs, spanMsLeast)) * ms;
      const least = 1 + caution * Math.exp(-Math.max(0, seen.lastAt - cautionAt) / cautionMs);
      return size * Math.max(least, poissonQuantile(expected, risk));
    },
  };
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
