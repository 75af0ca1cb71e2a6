/**
 * What calls really cost, learned from the service's own count where nothing else was under way.
 *
 * Invariants: only a difference between two neighbouring answers of one user teaches; use by others can only make it larger, so
 * the least of several counts; a learned weight is used when it is above the stated one, never to spend more freely.
 */
import type { EndpointName } from "../../contract/endpoints.ts";

interface Weights {
  /** What to charge for a call that is said to weigh `stated` by itself, without its elements. */
  charged(endpoint: EndpointName, stated: number): number;
  /** A call left; what was heard before it can be compared with its answer only if it was alone. */
  noteSent(uid: string): void;
  /** The answer of a call whose elements weigh `extra`: the service's count is `used` now; teaches when it was `alone` under way. */
  noteUsed(uid: string, endpoint: EndpointName, used: number, window: number, alone: boolean, extra?: number): void;
  readonly learned: ReadonlyMap<EndpointName, number>;
}

const samplesNeeded = 3;
/** A heavier call than this does not exist; the difference was made by others. */
const weightMax = 100;

export const createWeights = (): Weights => {
  const last = new Map<string, { used: number; window: number; since: number }>();
  const samples = new Map<EndpointName, number[]>();
  const learned = new Map<EndpointName, number>();

  const learn = (endpoint: EndpointName, difference: number): void => {
    const seen = [...(samples.get(endpoint) ?? []), difference].slice(-samplesNeeded);
    samples.set(endpoint, seen);
    if (seen.length === samplesNeeded) learned.set(endpoint, Math.min(...seen));
  };
  return {
    learned,
    charged: (endpoint, stated) => Math.max(stated, learned.get(endpoint) ?? 0),
    noteSent: (uid) => {
      const before = last.get(uid);
      if (before !== undefined) before.since++;
    },
    noteUsed: (uid, endpoint, used, window, alone, extra = 0) => {
      const before = last.get(uid);
      const serial = alone && before !== undefined && before.since === 1 && before.window === window;
      const difference = serial ? used - before.used - extra : 0;
      if (difference > 0 && difference <= weightMax) learn(endpoint, difference);
      if (before === undefined) last.set(uid, { used, window, since: 0 });
      else {
        before.used = used;
        before.window = window;
        before.since = 0;
      }
    },
  };
};
