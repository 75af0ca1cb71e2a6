/**
 * The service as the bench models it: three layers of windows on the service's own clock.
 *
 * Invariants: a request passes ip, key and uid in this order or is refused; a refused request counts against its address
 * only; the call that would carry the user over its weight is refused and blocks the user to the end of the minute.
 * Not here: anything of `src`; this is a second opinion and shares no code with the limiter under test.
 */
import { createRandom, type Random } from "../../../src/random.ts";
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

/** What one scope has used of a window. */
interface Count {
  used(at: number): number;
  add(at: number, units: number): void;
  /** True when nothing more of the scope is accepted before the window's end. */
  blocked(at: number): boolean;
  /** Returns for how long. */
  block(at: number): number;
}

/** `lateMs` says how long after its beginning a window is emptied. */
const fixedCount = (windowMs: number, fromMs: number, lateMs: () => number = () => 0): Count => {
  let window = Number.NaN;
  let used = 0;
  let isBlocked = false;
  let emptiedAfterMs = 0;
  const enter = (at: number): void => {
    const current = Math.floor((at - fromMs) / windowMs);
    if (current === window) return;
    if (emptiedAfterMs === 0) emptiedAfterMs = lateMs();
    if (at - fromMs - current * windowMs < emptiedAfterMs) return;
    emptiedAfterMs = 0;
    window = current;
    used = 0;
    isBlocked = false;
  };
  return {
    used: (at) => {
      enter(at);
      return used;
    },
    add: (at, units) => {
      enter(at);
      used += units;
    },
    blocked: (at) => {
      enter(at);
      return isBlocked;
    },
    block: (at) => {
      enter(at);
      isBlocked = true;
      return (window + 1) * windowMs + fromMs - at;
    },
  };
};

/** Nothing blocks for a window that has no end: the call that is too much is refused by itself. */
const slidingCount = (windowMs: number): Count => {
  const calls: { readonly at: number; readonly units: number }[] = [];
  let used = 0;
  return {
    used: (at) => {
      while (calls.length > 0 && (calls[0] as { at: number }).at <= at - windowMs)
        used -= (calls.shift() as { units: number }).units;
      return used;
    },
    add: (at, units) => {
      calls.push({ at, units });
      used += units;
    },
    blocked: () => false,
    block: () => 1,
  };
};

/** Loses `perSecond` units a second, evenly. */
const leakyCount = (perSecond: number): Count => {
  let level = 0;
  let leakedAt = 0;
  const leak = (at: number): void => {
    level = Math.max(0, level - ((at - leakedAt) * perSecond) / secondMs);
    leakedAt = at;
  };
  return {
    used: (at) => {
      leak(at);
      return Math.ceil(level);
    },
    add: (at, units) => {
      leak(at);
      level += units;
    },
    blocked: () => false,
    block: () => 1,
  };
};

/** A service with the limits of the description from `startAt` on, but for its faults. */
export const createMeter = (
  faults: ServiceFaults = asDescribed,
  startAt = 0,
  random: Random = createRandom("meter"),
): Meter => {
  const counts = new Map<string, Count>();
  const made = (layer: keyof typeof limits, windowMs: number, fromMs: number): Count => {
    if (faults.sliding || faults.slidingUntold.includes(layer)) return slidingCount(windowMs);
    if (layer === "key" && faults.leakyKey) return leakyCount(limits.key);
    const late = faults.minuteLateMs > 0 && layer === "uid" ? () => faults.minuteLateMs * random.next() : undefined;
    return fixedCount(windowMs * faults.windowStretch, fromMs, late);
  };
  const countOf = (layer: keyof typeof limits, scope: string, windowMs: number, fromMs: number): Count => {
    const name = `${layer} ${scope}`;
    let count = counts.get(name);
    if (count === undefined) {
      count = made(layer, windowMs, fromMs);
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
