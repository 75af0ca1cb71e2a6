/**
 * The service's own count of the three layers: a request passes all of them or is refused at once.
 *
 * Invariants: windows live on the service's clock; a layer never grants more than its capacity in one window; a user whose
 * consumption would exceed the capacity is mute, on every key, until the next window begins. Checked in the order address, key,
 * user, so that a request refused early is not charged further on.
 * Not here: the client's ledger, which must be able to disagree with this one.
 */
import type { Contract } from "../contract/contract.ts";
import type { Layer, LayerName } from "../contract/limits.ts";
import type { Anchor } from "../contract/profile.ts";

export interface MeterReport {
  readonly requests: number;
  readonly weight: number;
  readonly refused: { readonly ip: number; readonly key: number; readonly uid: number };
  readonly blockedMinutes: number;
  readonly peak: { readonly ip: number; readonly key: number; readonly uid: number };
}

export interface Caller {
  readonly ip: string;
  /** Undefined when a user is charged for a call without a key. */
  readonly key: string | undefined;
  readonly uid: string;
}

export interface Meter {
  /** Counts the arrival at an address. False: refused; `caller` and `weight` matter only where refused calls are charged to all. */
  arrive(ip: string, caller: Caller | undefined, weight: number, now: number): boolean;
  /** Charges key and user. False: refused. */
  spend(caller: Caller, weight: number, now: number): boolean;
  /** Weight used by another program of the same user: no address, no key of ours. */
  spendElsewhere(uid: string, weight: number, now: number): void;
  /** Takes a failed call's charge back from key and user. */
  forgive(caller: Caller, weight: number, now: number): void;
  used(layer: LayerName, id: string, now: number): number;
  report(): MeterReport;
}

interface Window {
  beganAt: number;
  used: number;
  blockedUntil: number;
  /** Charges by instant, kept for the sliding anchor only. */
  charges: { readonly at: number; readonly amount: number }[];
}

/** Addresses come from strangers; beyond this many the silent ones are forgotten. */
const windowsMax = 10_000;

const emptyWindow = (): Window => ({ beganAt: Number.NEGATIVE_INFINITY, used: 0, blockedUntil: Number.NEGATIVE_INFINITY, charges: [] });

const roll = (window: Window, layer: Layer, anchor: Anchor, now: number): void => {
  const { windowMs } = layer;
  if (anchor === "sliding") {
    while (window.charges[0] !== undefined && window.charges[0].at <= now - windowMs) window.used -= window.charges.shift()?.amount ?? 0;
    window.beganAt = now;
  } else if (anchor === "wall_clock") {
    const beganAt = Math.floor(now / windowMs) * windowMs;
    if (beganAt === window.beganAt) return;
    window.beganAt = beganAt;
    window.used = 0;
  } else if (!(now < window.beganAt + windowMs)) {
    window.beganAt = now;
    window.used = 0;
  }
};

const createLayerMeter = (layer: Layer, anchor: Anchor) => {
  const windows = new Map<string, Window>();
  let peak = 0;
  const sweep = (now: number): void => {
    for (const [id, window] of windows) {
      if (window.beganAt + layer.windowMs <= now && window.blockedUntil <= now) windows.delete(id);
    }
  };
  const at = (id: string, now: number): Window => {
    let window = windows.get(id);
    if (window === undefined) {
      if (windows.size >= windowsMax) sweep(now);
      window = emptyWindow();
      windows.set(id, window);
    }
    roll(window, layer, anchor, now);
    return window;
  };
  return {
    at,
    add(id: string, amount: number, now: number): void {
      const window = at(id, now);
      window.used += amount;
      if (anchor === "sliding") window.charges.push({ at: now, amount });
      peak = Math.max(peak, window.used);
    },
    fits: (id: string, amount: number, now: number): boolean => at(id, now).used + amount <= layer.capacity,
    peak: (): number => peak,
  };
};

export const createMeter = ({ profile, layers }: Contract, enforce: boolean): Meter => {
  const { anchor, refusedCounts } = profile.limits;
  const ip = createLayerMeter(layers.ip, anchor);
  const key = createLayerMeter(layers.key, anchor);
  const uid = createLayerMeter(layers.uid, anchor);
  const refused = { ip: 0, key: 0, uid: 0 };
  let requests = 0;
  let weightSum = 0;
  let blockedMinutes = 0;

  /** Says whether the user may spend; blocks the user when not. */
  const admit = (user: string, weight: number, now: number): boolean => {
    const window = uid.at(user, now);
    if (!enforce) return true;
    if (now < window.blockedUntil) return false;
    if (window.used + weight <= layers.uid.capacity) return true;
    window.blockedUntil = window.beganAt + layers.uid.windowMs;
    blockedMinutes++;
    return false;
  };
  const charge = (caller: Caller, count: 1 | -1, weight: number, now: number): void => {
    if (caller.key !== undefined) key.add(caller.key, count, now);
    uid.add(caller.uid, count * weight, now);
  };
  const refuse = (layer: LayerName, caller: Caller | undefined, weight: number, now: number): false => {
    refused[layer]++;
    if (refusedCounts === "all" && caller !== undefined) charge(caller, 1, weight, now);
    return false;
  };
  return {
    arrive: (address, caller, weight, now) => {
      requests++;
      const fits = !enforce || ip.fits(address, 1, now);
      if (fits || refusedCounts !== "none") ip.add(address, 1, now);
      return fits || refuse("ip", caller, weight, now);
    },
    spend: (caller, weight, now) => {
      const keyFits = !enforce || caller.key === undefined || key.fits(caller.key, 1, now);
      const layer = !keyFits ? "key" : admit(caller.uid, weight, now) ? undefined : "uid";
      if (layer !== undefined) {
        // The address was charged on arrival; here the charge is taken back where refused calls are free.
        if (refusedCounts === "none") ip.add(caller.ip, -1, now);
        return refuse(layer, caller, weight, now);
      }
      charge(caller, 1, weight, now);
      weightSum += weight;
      return true;
    },
    spendElsewhere: (user, weight, now) => {
      if (admit(user, weight, now)) uid.add(user, weight, now);
    },
    forgive: (caller, weight, now) => {
      charge(caller, -1, weight, now);
      weightSum -= weight;
    },
    used: (layer, id, now) => ({ ip, key, uid })[layer].at(id, now).used,
    report: () => ({
      requests,
      weight: weightSum,
      refused: { ...refused },
      blockedMinutes,
      peak: { ip: ip.peak(), key: key.peak(), uid: uid.peak() },
    }),
  };
};
