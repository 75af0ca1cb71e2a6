/**
 * The service's own count of the three layers, and of others where its profile has them: a request passes all or is refused.
 *
 * Invariants: windows live on the service's clock; a layer never grants more than its capacity in one window; a user whose
 * consumption would exceed the capacity is mute, on every key, until the next window begins. Checked in the order address, key,
 * other layers, user, so that a request refused early is not charged further on; overflowing another layer shuts it only where it
 * bans.
 * Not here: the client's ledger, which must be able to disagree with this one.
 */
import type { Contract } from "../contract/contract.ts";
import type { Layer, LayerName } from "../contract/limits.ts";
import type { Anchor, ExtraLayer } from "../contract/profile.ts";

export interface RateLimiterReport {
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

/** What layers besides the three may ask of a request. */
interface Content {
  readonly endpoint: string | undefined;
  readonly elements: number;
}

export interface RateLimiter {
  /** Counts the arrival at an address. False: refused; `caller` and `weight` matter only where refused calls are charged to all. */
  arrive(ip: string, caller: Caller | undefined, weight: number, now: number, content?: Content): boolean;
  /** Charges key and user. False: refused. */
  spend(caller: Caller, weight: number, now: number, content?: Content): boolean;
  /** Weight used by another program of the same user: no address, no key of ours. */
  spendElsewhere(uid: string, weight: number, now: number): void;
  /** Takes a failed call's charge back from key and user. */
  forgive(caller: Caller, weight: number, now: number, content?: Content): void;
  used(layer: LayerName, id: string, now: number): number;
  report(): RateLimiterReport;
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

type Span = Pick<Layer, "capacity" | "windowMs">;

const roll = (window: Window, layer: Span, anchor: Anchor, now: number): void => {
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

const createLayerMeter = (layer: Span, anchor: Anchor) => {
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

const unspecific: Content = { endpoint: undefined, elements: 1 };

/** A layer of the profile's own. */
const createExtraMeter = (layer: ExtraLayer) => {
  const { scope, unit, endpoints, capacity, windowMs, banMs, anchor } = layer;
  const count = createLayerMeter(layer, anchor);
  const idOf = (ip: string, caller: Caller | undefined): string | undefined => (scope === "ip" ? ip : caller?.[scope]);
  const counts = ({ endpoint }: Content): boolean => endpoints === undefined || (endpoint !== undefined && endpoints.includes(endpoint));
  const amountOf = (weight: number, { elements }: Content): number => (unit === "requests" ? 1 : unit === "weight" ? weight : elements);
  return {
    scope,
    /** `times` is -1 to take a charge back. */
    charge(times: 1 | -1, ip: string, caller: Caller | undefined, weight: number, content: Content, now: number): void {
      const id = idOf(ip, caller);
      if (id !== undefined && counts(content)) count.add(id, times * amountOf(weight, content), now);
    },
    /** Says whether the request may pass; shuts the layer when not, where it bans. */
    admit(ip: string, caller: Caller | undefined, weight: number, content: Content, now: number): boolean {
      const id = idOf(ip, caller);
      if (id === undefined || !counts(content)) return true;
      const window = count.at(id, now);
      if (now < window.blockedUntil) return false;
      if (window.used + amountOf(weight, content) <= capacity) return true;
      if (banMs > 0) window.blockedUntil = (anchor === "sliding" ? now : window.beganAt) + windowMs + banMs;
      return false;
    },
  };
};

export const createRateLimiter = ({ profile, layers }: Contract, enforce: boolean): RateLimiter => {
  const { anchor, refusedCounts } = profile.limits;
  const extras = profile.limits.extraLayers.map(createExtraMeter);
  const atDoor = extras.filter(({ scope }) => scope === "ip");
  const within = extras.filter(({ scope }) => scope !== "ip");
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
  const charge = (caller: Caller, count: 1 | -1, weight: number, content: Content, now: number): void => {
    if (caller.key !== undefined) key.add(caller.key, count, now);
    uid.add(caller.uid, count * weight, now);
    for (const extra of within) extra.charge(count, caller.ip, caller, weight, content, now);
  };
  const chargeDoor = (address: string, count: 1 | -1, weight: number, content: Content, now: number): void => {
    ip.add(address, count, now);
    for (const extra of atDoor) extra.charge(count, address, undefined, weight, content, now);
  };
  const refuse = (layer: LayerName, caller: Caller | undefined, weight: number, content: Content, now: number): false => {
    refused[layer]++;
    if (refusedCounts === "all" && caller !== undefined) charge(caller, 1, weight, content, now);
    return false;
  };
  /** The first layer that says no. */
  const refuserOf = (caller: Caller, weight: number, content: Content, now: number): LayerName | undefined => {
    if (!enforce) return undefined;
    if (caller.key !== undefined && !key.fits(caller.key, 1, now)) return "key";
    return (
      within.find((extra) => !extra.admit(caller.ip, caller, weight, content, now))?.scope ??
      (admit(caller.uid, weight, now) ? undefined : "uid")
    );
  };
  return {
    arrive: (address, caller, weight, now, content = unspecific) => {
      requests++;
      const fits = !enforce || (ip.fits(address, 1, now) && atDoor.every((extra) => extra.admit(address, undefined, weight, content, now)));
      if (fits || refusedCounts !== "none") chargeDoor(address, 1, weight, content, now);
      return fits || refuse("ip", caller, weight, content, now);
    },
    spend: (caller, weight, now, content = unspecific) => {
      const layer = refuserOf(caller, weight, content, now);
      if (layer !== undefined) {
        // The address was charged on arrival; here the charge is taken back where refused calls are free.
        if (refusedCounts === "none") chargeDoor(caller.ip, -1, weight, content, now);
        return refuse(layer, caller, weight, content, now);
      }
      charge(caller, 1, weight, content, now);
      weightSum += weight;
      return true;
    },
    spendElsewhere: (user, weight, now) => {
      if (admit(user, weight, now)) uid.add(user, weight, now);
    },
    forgive: (caller, weight, now, content = unspecific) => {
      charge(caller, -1, weight, content, now);
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
