/**
 * How much others spend of a quota that is not ours alone, and how much of it to leave free for them.
 *
 * Invariants: before anything foreign was seen nothing is left free; the part left free falls with the time others still have.
 * The margin is a quantile of the compound Poisson use still to come: others' calls are taken as independent.
 */

export interface ForeignUse {
  /** `units` of others' use were newly seen at `at`; 0 says that none was. */
  observe(at: number, units: number): void;
  /** Units to leave free when others still have `ms`, so that they exceed it with a probability of about `risk`. */
  margin(ms: number, risk: number): number;
  /** Units a second. */
  readonly rate: number;
}

const memoryMs = 120_000;

export const createForeignUse = (): ForeignUse => {
  let units = 0;
  let calls = 0;
  let spanMs = 0;
  let lastAt: number | undefined;
  return {
    get rate() {
      return spanMs === 0 ? 0 : (units / spanMs) * 1_000;
    },
    observe: (at, fresh) => {
      const passed = lastAt === undefined ? 0 : Math.max(0, at - lastAt);
      lastAt = at;
      const keep = Math.max(0, 1 - passed / memoryMs);
      units = units * keep + fresh;
      calls = calls * keep + (fresh > 0 ? 1 : 0);
      spanMs = spanMs * keep + passed;
    },
    margin: (ms, risk) => {
      if (calls < 1 || units < 1 || ms <= 0) return 0;
      const size = units / calls;
      const expected = (calls / Math.max(spanMs, 10_000)) * ms;
      return size * poissonQuantile(expected, risk);
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
