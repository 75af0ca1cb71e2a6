/**
 * The service as the bench models it: three layers of windows on the service's own clock.
 *
 * Invariants: a request passes ip, key and uid in this order or is refused; a refused request counts against its address
 * only; the call that would carry the user over its weight is refused and blocks the user to the end of the minute.
 * Not here: anything of `src`; this is a second opinion and shares no code with the limiter under test.
 */
import { createRandom, type Random } from "../../../src/random.ts";
import { type Count, createCount } from "./counting.ts";
import { asDescribed, clockOf, type ServiceFaults } from "./service-faults.ts";

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
  const named = (name: string, make: () => Count): Count => {
    let count = counts.get(name);
    if (count === undefined) {
      count = make();
      counts.set(name, count);
    }
    return count;
  };
  const countOf = (layer: keyof typeof limits, scope: string, windowMs: number, fromMs: number): Count =>
    named(`${layer} ${scope}`, () => {
      const counting = faults.sliding ? ({ kind: "sliding" } as const) : faults.counting[layer];
      return createCount(counting, { limit: limits[layer], windowMs, fromMs }, random);
    });
  const limitAt = (layer: keyof typeof limits, at: number): number =>
    faults.changes.findLast((change) => change.layer === layer && at - startAt >= change.atMs)?.max ?? limits[layer];
  const enforcedAt = (layer: keyof typeof limits, at: number): number =>
    Math.floor(limitAt(layer, at) * faults.enforcedShare);
  const serviceClock = clockOf(faults);
  const { unstated } = faults;
  /** Returns the count of the unstated limit for a call that it limits. */
  const unstatedOf = (user: string, weight: number): Count | undefined => {
    if (unstated === undefined || weight !== unstated.weight) return undefined;
    const { windowMs, most } = unstated;
    return named(`unstated ${user}`, () => createCount(undefined, { limit: most, windowMs, fromMs: 0 }, random));
  };
  return {
    judge: (trueAt, { ip, key, user }, weight) => {
      const at = serviceClock(trueAt);
      const node = faults.nodes > 1 ? ` node ${Math.floor(faults.nodes * random.next())}` : "";
      const address = countOf("ip", ip + node, minuteMs, faults.minuteFromMs);
      const second = countOf("key", key + node, secondMs, faults.secondFromMs);
      const minute = countOf("uid", user + node, minuteMs, faults.minuteFromMs);
      const extra = unstatedOf(user, weight);
      const told = (): Pick<Verdict, "ipRemaining" | "keyRemaining" | "uidUsed"> => ({
        ipRemaining: Math.max(0, limitAt("ip", at) - address.used(at)),
        keyRemaining: Math.max(0, limitAt("key", at) - second.used(at)),
        uidUsed: minute.used(at),
      });
      const before = told();
      address.add(at, 1);
      const passes =
        address.used(at) <= enforcedAt("ip", at) &&
        second.used(at) < enforcedAt("key", at) &&
        (extra === undefined || extra.used(at) < (unstated?.most ?? 0));
      const crosses = passes && !minute.blocked(at) && minute.used(at) + weight > enforcedAt("uid", at);
      const accepted = passes && !minute.blocked(at) && !crosses;
      const blocksForMs = crosses ? minute.block(at) : 0;
      if (accepted || faults.countsRefused) {
        second.add(at, 1);
        minute.add(at, weight);
        extra?.add(at, 1);
      }
      return { accepted, blocksForMs, ...(faults.counts.kind === "before-call" ? before : told()) };
    },
  };
};
