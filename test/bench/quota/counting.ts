/**
 * How the bench's service counts a layer: by windows of its clock, or otherwise than it states.
 *
 * Invariants: the use of a scope never falls below what its own rule counts; `windows` draws nothing from chance.
 * Not here: which layers there are and which call is refused (meter.ts).
 */
import type { Random } from "../../../src/random.ts";

/** How a layer counts; by windows of the service's clock where nothing is said. */
export type Counting =
  /** Windows so many times as long as stated. */
  | { readonly kind: "stretched"; readonly times: number }
  /** The job that empties a window runs up to so much late. */
  | { readonly kind: "late"; readonly mostMs: number }
  /** Every other window is emptied so much late. */
  | { readonly kind: "late-in-turn"; readonly ms: number }
  /** The count is lost at random instants, so often on average. */
  | { readonly kind: "forgetful"; readonly everyMs: number }
  /** The last window's length before each call counts. */
  | { readonly kind: "sliding" }
  /** A window begins with the first call after the last one has ended. */
  | { readonly kind: "first-call" }
  /** The count of the current window, and of the one before the share that the last window's length still overlaps. */
  | { readonly kind: "weighed" }
  /** A bucket that loses the limit evenly within a window's length and holds so many units. */
  | { readonly kind: "bucket"; readonly holds: number };

/** What one scope has used of a layer. */
export interface Count {
  /** Units that leave `limit - used` to spend. */
  used(at: number): number;
  add(at: number, units: number): void;
  /** True when nothing more of the scope is accepted before the window's end. */
  blocked(at: number): boolean;
  /** Returns for how long. */
  block(at: number): number;
}

export interface LayerWindows {
  readonly limit: number;
  readonly windowMs: number;
  /** Windows begin so long after those of the calendar. */
  readonly fromMs: number;
}

/** Nothing blocks for a window that has no end: the call that is too much is refused by itself. */
const endless = { blocked: () => false, block: () => 1 } as const;

/** How windows that are emptied at once follow each other. */
interface Succession {
  /** Called before each use. Returns true if a window has begun since the last one. */
  readonly enter: (at: number) => boolean;
  readonly endsAt: () => number;
  /** Called when a call is counted. */
  readonly begin?: (at: number) => void;
}

/** A user that crosses its limit is blocked to the end of the window. */
const emptiedCount = ({ enter, endsAt, begin = () => undefined }: Succession): Count => {
  let used = 0;
  let isBlocked = false;
  const empty = (at: number): void => {
    if (!enter(at)) return;
    used = 0;
    isBlocked = false;
  };
  return {
    used: (at) => {
      empty(at);
      return used;
    },
    add: (at, units) => {
      empty(at);
      begin(at);
      used += units;
    },
    blocked: (at) => {
      empty(at);
      return isBlocked;
    },
    block: (at) => {
      empty(at);
      isBlocked = true;
      return endsAt() - at;
    },
  };
};

/** `lateMs` says how long after its beginning a window is emptied. */
const windowCount = (windowMs: number, fromMs: number, lateMs: (window: number) => number = () => 0): Count => {
  let window = Number.NaN;
  let emptiedAfterMs = 0;
  return emptiedCount({
    enter: (at) => {
      const current = Math.floor((at - fromMs) / windowMs);
      // A clock that is set back does not bring an earlier window back.
      if (current <= window) return false;
      if (emptiedAfterMs === 0) emptiedAfterMs = lateMs(current);
      if (at - fromMs - current * windowMs < emptiedAfterMs) return false;
      emptiedAfterMs = 0;
      window = current;
      return true;
    },
    endsAt: () => (window + 1) * windowMs + fromMs,
  });
};

const forgetfulCount = (inner: Count, everyMs: number, random: Random): Count => {
  let lost = 0;
  let losesAt = Number.NaN;
  const used = (at: number): number => {
    if (Number.isNaN(losesAt)) losesAt = at + random.exponential(everyMs);
    const all = inner.used(at);
    if (at >= losesAt) {
      losesAt = at + random.exponential(everyMs);
      lost = all;
    }
    if (all < lost) lost = 0;
    return all - lost;
  };
  return { ...inner, used };
};

const slidingCount = (windowMs: number): Count => {
  const calls: { readonly at: number; readonly units: number }[] = [];
  let used = 0;
  return {
    ...endless,
    used: (at) => {
      while (calls.length > 0 && (calls[0] as { at: number }).at <= at - windowMs)
        used -= (calls.shift() as { units: number }).units;
      return used;
    },
    add: (at, units) => {
      calls.push({ at, units });
      used += units;
    },
  };
};

const firstCallCount = (windowMs: number): Count => {
  let endsAt = Number.NEGATIVE_INFINITY;
  return emptiedCount({
    enter: (at) => at >= endsAt,
    endsAt: () => endsAt,
    begin: (at) => {
      if (at >= endsAt) endsAt = at + windowMs;
    },
  });
};

const weighedCount = (windowMs: number, fromMs: number): Count => {
  let window = Number.NaN;
  let used = 0;
  let before = 0;
  const enter = (at: number): void => {
    const current = Math.floor((at - fromMs) / windowMs);
    if (current === window) return;
    before = current === window + 1 ? used : 0;
    window = current;
    used = 0;
  };
  return {
    ...endless,
    used: (at) => {
      enter(at);
      return Math.ceil(used + before * (1 - (at - fromMs - window * windowMs) / windowMs));
    },
    add: (at, units) => {
      enter(at);
      used += units;
    },
  };
};

const bucketCount = ({ limit, windowMs }: LayerWindows, holds: number): Count => {
  let level = 0;
  let leakedAt = 0;
  const leak = (at: number): void => {
    level = Math.max(0, level - ((at - leakedAt) * limit) / windowMs);
    leakedAt = at;
  };
  return {
    ...endless,
    used: (at) => {
      leak(at);
      return limit - holds + Math.ceil(level);
    },
    add: (at, units) => {
      leak(at);
      level += units;
    },
  };
};

/** The count of one scope of a layer. */
export const createCount = (counting: Counting | undefined, layer: LayerWindows, random: Random): Count => {
  const { windowMs, fromMs } = layer;
  switch (counting?.kind) {
    case undefined:
      return windowCount(windowMs, fromMs);
    case "stretched":
      return windowCount(windowMs * counting.times, fromMs);
    case "late":
      return windowCount(windowMs, fromMs, () => counting.mostMs * random.next());
    case "late-in-turn":
      return windowCount(windowMs, fromMs, (window) => (window % 2 === 0 ? 0 : counting.ms));
    case "forgetful":
      return forgetfulCount(windowCount(windowMs, fromMs), counting.everyMs, random);
    case "sliding":
      return slidingCount(windowMs);
    case "first-call":
      return firstCallCount(windowMs);
    case "weighed":
      return weighedCount(windowMs, fromMs);
    case "bucket":
      return bucketCount(layer, counting.holds);
    default:
      return counting satisfies never;
  }
};
