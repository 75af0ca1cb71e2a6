/**
 * The service as the bench models it: three layers of fixed windows on the service's own clock.
 *
 * Invariants: a request passes ip, key and uid in this order or is refused; a refused request counts against its address
 * only; the call that would carry the user over its weight is refused and blocks the user to the end of the minute.
 * Not here: anything of `src`; this is a second opinion and shares no code with the limiter under test.
 */

export interface Caller {
  readonly ip: string;
  readonly key: string;
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
  /** One user stands behind all callers. `at` never falls. */
  judge(at: number, caller: Caller, weight: number): Verdict;
}

const minuteMs = 60_000;
const secondMs = 1_000;
const ipMax = 1200;
const keyMax = 10;
const weightMax = 1200;

interface Count {
  window: number;
  used: number;
}

const countIn = (counts: Map<string, Count>, name: string, window: number): Count => {
  const known = counts.get(name);
  if (known !== undefined && known.window === window) return known;
  const fresh = { window, used: 0 };
  counts.set(name, fresh);
  return fresh;
};

export const createMeter = (): Meter => {
  const addresses = new Map<string, Count>();
  const keys = new Map<string, Count>();
  let minute = -1;
  let weightUsed = 0;
  let blocked = false;
  const enter = (at: number): void => {
    const current = Math.floor(at / minuteMs);
    if (current === minute) return;
    minute = current;
    weightUsed = 0;
    blocked = false;
  };
  return {
    judge: (at, caller, weight) => {
      enter(at);
      const address = countIn(addresses, caller.ip, minute);
      const key = countIn(keys, caller.key, Math.floor(at / secondMs));
      address.used += 1;
      const passes = address.used <= ipMax && key.used < keyMax;
      const crosses = passes && !blocked && weightUsed + weight > weightMax;
      const accepted = passes && !blocked && !crosses;
      if (crosses) blocked = true;
      if (accepted) {
        key.used += 1;
        weightUsed += weight;
      }
      return {
        accepted,
        ipRemaining: Math.max(0, ipMax - address.used),
        keyRemaining: keyMax - key.used,
        uidUsed: weightUsed,
        blocksForMs: crosses ? (minute + 1) * minuteMs - at : 0,
      };
    },
  };
};
