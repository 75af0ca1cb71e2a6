/**
 * The service as the bench models it: three layers of windows on the service's own clock.
 *
 * Invariants: a request passes ip, key and uid in this order or is refused; a refused request counts against its address
 * only; the call that would carry the user over its weight is refused and blocks the user to the end of the minute.
 * Not here: anything of `src`; this is a second opinion and shares no code with the limiter under test.
 */
import { createRandom, type Random } from "../../../src/random.ts";
import { type Count, createCount } from "./counting.ts";
import { asDescribed, type ServiceFaults } from "./service-faults.ts";

export interface Caller {
  readonly ip: string;
  readonly key: string;
  readonly user: string;
  /** Not the application's doing: a request that arrived twice. */
  readonly copy?: boolean;
}

export interface Verdict {
  readonly accepted: boolean;
  /** What the answer says is left or used; meaningful after an accepted call only. */
  readonly ipRemaining: number;
  readonly keyRemaining: number;
  readonly uidUsed: number;
  /** Milliseconds for which this very call has just blocked the user, or 0. */
  readonly blocksForMs: number;
}

export interface Meter {
  /** `at` never falls. */
  judge(at: number, caller: Caller, weight: number): Verdict;
}

const minuteMs = 60_000;
const secondMs = 1_000;
const limits = { ip: 1200, key: 10, uid: 1200 };

/** A service with the limits of the description from `startAt` on, but for its faults. */
export const createMeter = (
  faults: ServiceFaults = asDescribed,
  startAt = 0,
  random: Random = createRandom("meter"),
): Meter => {
  const counts = new Map<string, Count>();
  const countOf = (layer: keyof typeof limits, scope: string, windowMs: number, fromMs: number): Count => {
    const name = `${layer} ${scope}`;
    let count = counts.get(name);
    if (count === undefined) {
      const counting = faults.sliding ? ({ kind: "sliding" } as const) : faults.counting[layer];
      count = createCount(counting, { limit: limits[layer], windowMs, fromMs }, random);
      counts.set(name, count);
    }
    return count;
  };
  const limitAt = (layer: keyof typeof limits, at: number): number =>
    faults.changes.findLast((change) => change.layer === layer && at - startAt >= change.atMs)?.max ?? limits[layer];
  return {
    judge: (at, { ip, key, user }, weight) => {
      const node = faults.nodes > 1 ? ` node ${Math.floor(faults.nodes * random.next())}` : "";
      const address = countOf("ip", ip + node, minuteMs, faults.minuteFromMs);
      const second = countOf("key", key + node, secondMs, faults.secondFromMs);
      const minute = countOf("uid", user + node, minuteMs, faults.minuteFromMs);
      const before = faults.counts.kind === "before-call";
      const told = {
        ipRemaining: limitAt("ip", at) - address.used(at),
        keyRemaining: limitAt("key", at) - second.used(at),
        uidUsed: minute.used(at),
      };
      address.add(at, 1);
      const passes = address.used(at) <= limitAt("ip", at) && second.used(at) < limitAt("key", at);
      const crosses = passes && !minute.blocked(at) && minute.used(at) + weight > limitAt("uid", at);
      const accepted = passes && !minute.blocked(at) && !crosses;
      const blocksForMs = crosses ? minute.block(at) : 0;
      if (accepted) {
        second.add(at, 1);
        minute.add(at, weight);
      }
      if (before) return { accepted, blocksForMs, ...told };
      return {
        accepted,
        ipRemaining: Math.max(0, limitAt("ip", at) - address.used(at)),
        keyRemaining: Math.max(0, limitAt("key", at) - second.used(at)),
        uidUsed: minute.used(at),
        blocksForMs,
      };
    },
  };
};
