/**
 * Rate limiter of the service: the three layers, and others where its profile has them; a request passes all or is refused.
 *
 * Invariants: windows live on the service's clock; a layer never grants more than its capacity in one window; a user whose
 * consumption would exceed the capacity is blocked, on every key, until the next window begins. Checked in the order address, key,
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
export interface Content {
  readonly endpoint: string | undefined;
  readonly elements: number;
  /** Elements by product, for layers that count each by itself; none for a call that names no product. */
  readonly products?: ReadonlyMap<string, number>;
}

interface Window {
  beganAt: number;
  used: number;
  blockedUntil: number;
  /** Charges by instant, kept for the sliding anchor only. */
  charges: { readonly at: number; readonly amount: number }[];
}

/** Addresses come from outside; beyond this many the silent ones are forgotten. */
const windowsMax = 10_000;

type Span = Pick<Layer, "capacity" | "windowMs">;

/** Windows of one layer, by address, key or user. */
class LayerWindows {
  peak = 0;
  readonly #windowMs: number;
  readonly #anchor: Anchor;
  readonly #windows = new Map<string, Window>();

  constructor({ windowMs }: Span, anchor: Anchor) {
    this.#windowMs = windowMs;
    this.#anchor = anchor;
  }

  /** The window that `now` is in. */
  at(id: string, now: number): Window {
    const window = this.#windows.get(id) ?? this.#open(id, now);
    const windowMs = this.#windowMs;
    if (this.#anchor === "sliding") {
      const { charges } = window;
      while (charges[0] !== undefined && charges[0].at <= now - windowMs) window.used -= charges.shift()?.amount ?? 0;
      window.beganAt = now;
      return window;
    }
    const beganAt = this.#anchor === "wall_clock" ? Math.floor(now / windowMs) * windowMs : now;
    const goesOn = this.#anchor === "wall_clock" ? beganAt === window.beganAt : now < window.beganAt + windowMs;
    if (!goesOn) {
      window.beganAt = beganAt;
      window.used = 0;
    }
    return window;
  }

  add(window: Window, amount: number, now: number): void {
    window.used += amount;
    if (this.#anchor === "sliding") window.charges.push({ at: now, amount });
    if (window.used > this.peak) this.peak = window.used;
  }

  #open(id: string, now: number): Window {
    if (this.#windows.size >= windowsMax) this.#forgetSilent(now);
    const never = Number.NEGATIVE_INFINITY;
    const window = { beganAt: never, used: 0, blockedUntil: never, charges: [] };
    this.#windows.set(id, window);
    return window;
  }

  #forgetSilent(now: number): void {
    for (const [id, { beganAt, blockedUntil }] of this.#windows) {
      if (beganAt + this.#windowMs <= now && blockedUntil <= now) this.#windows.delete(id);
    }
  }
}

const unspecific: Content = { endpoint: undefined, elements: 1 };

/** A layer of the profile's own. */
class ExtraLayerWindows {
  readonly scope: ExtraLayer["scope"];
  /** The described layer that its refusals are counted with. */
  readonly refuser: LayerName;
  readonly #layer: ExtraLayer;
  readonly #windows: LayerWindows;

  constructor(layer: ExtraLayer) {
    this.scope = layer.scope;
    this.refuser = layer.scope === "instrument" ? "uid" : layer.scope;
    this.#layer = layer;
    this.#windows = new LayerWindows(layer, layer.anchor);
  }

  /** `times` is -1 to take a charge back. */
  charge(times: 1 | -1, ip: string, caller: Caller | undefined, weight: number, content: Content, now: number): void {
    for (const [id, elements] of this.#idsOf(ip, caller, content))
      this.#windows.add(this.#windows.at(id, now), times * this.#amountOf(weight, elements), now);
  }

  /** Says whether the request may pass; shuts the layer when not, where it bans. */
  admit(ip: string, caller: Caller | undefined, weight: number, content: Content, now: number): boolean {
    // All are asked, so that each of them that is full may shut.
    const fits = this.#idsOf(ip, caller, content).map(([id, elements]) => this.#admits(id, this.#amountOf(weight, elements), now));
    return fits.every((fit) => fit);
  }

  #admits(id: string, amount: number, now: number): boolean {
    const { capacity, windowMs, banMs, anchor } = this.#layer;
    const window = this.#windows.at(id, now);
    if (now < window.blockedUntil) return false;
    if (window.used + amount <= capacity) return true;
    if (banMs > 0) window.blockedUntil = (anchor === "sliding" ? now : window.beganAt) + windowMs + banMs;
    return false;
  }

  /** Whose request counts, if it does, and with how many elements. */
  #idsOf(
    ip: string,
    caller: Caller | undefined,
    { endpoint, elements, products }: Content,
  ): readonly (readonly [id: string, elements: number])[] {
    const { scope, endpoints } = this.#layer;
    if (endpoints !== undefined && (endpoint === undefined || !endpoints.includes(endpoint))) return [];
    if (scope === "ip") return [[ip, elements]];
    if (caller === undefined) return [];
    if (scope !== "instrument") {
      const id = caller[scope];
      return id === undefined ? [] : [[id, elements]];
    }
    if (products === undefined) return [[caller.uid, elements]];
    return [...products].map(([instId, count]) => [`${caller.uid} ${instId}`, count] as const);
  }

  #amountOf(weight: number, elements: number): number {
    const { unit } = this.#layer;
    return unit === "requests" ? 1 : unit === "weight" ? weight : elements;
  }
}

export class RateLimiter {
  readonly layers: Readonly<Record<LayerName, LayerWindows>>;
  readonly #contract: Contract;
  readonly #capacities: Record<LayerName, number>;
  readonly #enforce: boolean;
  readonly #onArrival: readonly ExtraLayerWindows[];
  readonly #within: readonly ExtraLayerWindows[];
  readonly #refused = { ip: 0, key: 0, uid: 0 };
  #requests = 0;
  #weight = 0;
  #blockedMinutes = 0;

  /** Without `enforce` all requests are counted and none is refused. */
  constructor(contract: Contract, enforce: boolean) {
    const { anchor, extraLayers } = contract.profile.limits;
    const { ip, key, uid } = contract.layers;
    const extras = extraLayers.map((layer) => new ExtraLayerWindows(layer));
    this.#contract = contract;
    this.#capacities = { ip: ip.capacity, key: key.capacity, uid: uid.capacity };
    this.#enforce = enforce;
    this.layers = { ip: new LayerWindows(ip, anchor), key: new LayerWindows(key, anchor), uid: new LayerWindows(uid, anchor) };
    this.#onArrival = extras.filter(({ scope }) => scope === "ip");
    this.#within = extras.filter(({ scope }) => scope !== "ip");
  }

  /** A layer has another capacity from now on, whatever the description says. */
  setCapacity(layer: LayerName, capacity: number): void {
    this.#capacities[layer] = capacity;
  }

  /** What is left of a layer to one address or key. */
  remaining(layer: LayerName, id: string, now: number): number {
    return Math.max(0, this.#capacities[layer] - this.layers[layer].at(id, now).used);
  }

  /** Counts the arrival at an address. False: refused; `caller` and `weight` matter only where refused calls are charged to all. */
  arrive(address: string, caller: Caller | undefined, weight: number, now: number, content: Content = unspecific): boolean {
    this.#requests++;
    const { ip } = this.layers;
    const window = ip.at(address, now);
    let fits = !this.#enforce || window.used + 1 <= this.#capacities.ip;
    if (this.#enforce) for (const extra of this.#onArrival) fits &&= extra.admit(address, undefined, weight, content, now);
    if (fits || this.#contract.profile.limits.refusedCounts !== "none") {
      ip.add(window, 1, now);
      for (const extra of this.#onArrival) extra.charge(1, address, undefined, weight, content, now);
    }
    return fits || this.#refuse("ip", caller, weight, content, now);
  }

  /** Charges key and user. False: refused. */
  spend(caller: Caller, weight: number, now: number, content: Content = unspecific): boolean {
    const { key, uid } = this.layers;
    // Each window is looked up once, for the check and for the charge.
    const ofKey = caller.key === undefined ? undefined : key.at(caller.key, now);
    let layer: LayerName | undefined;
    if (this.#enforce)
      layer = ofKey !== undefined && ofKey.used + 1 > this.#capacities.key ? "key" : this.#refuserWithin(caller, weight, content, now);
    if (layer === undefined) {
      const ofUser = uid.at(caller.uid, now);
      if (!this.#enforce || this.#admit(ofUser, weight, now)) {
        this.#weight += weight;
        if (ofKey !== undefined) key.add(ofKey, 1, now);
        uid.add(ofUser, weight, now);
        for (const extra of this.#within) extra.charge(1, caller.ip, caller, weight, content, now);
        return true;
      }
      layer = "uid";
    }
    // The address was charged on arrival; here the charge is taken back where refused calls are free.
    if (this.#contract.profile.limits.refusedCounts === "none") {
      const { ip } = this.layers;
      ip.add(ip.at(caller.ip, now), -1, now);
      for (const extra of this.#onArrival) extra.charge(-1, caller.ip, undefined, weight, content, now);
    }
    return this.#refuse(layer, caller, weight, content, now);
  }

  /** Weight used by another program of the same user: no address, no key of ours. */
  spendElsewhere(user: string, weight: number, now: number): void {
    const { uid } = this.layers;
    const window = uid.at(user, now);
    if (!this.#enforce || this.#admit(window, weight, now)) uid.add(window, weight, now);
  }

  /** Takes a failed call's charge back from key and user. */
  forgive(caller: Caller, weight: number, now: number, content: Content = unspecific): void {
    this.#charge(caller, -1, weight, content, now);
    this.#weight -= weight;
  }

  report(): RateLimiterReport {
    const { ip, key, uid } = this.layers;
    return {
      requests: this.#requests,
      weight: this.#weight,
      refused: { ...this.#refused },
      blockedMinutes: this.#blockedMinutes,
      peak: { ip: ip.peak, key: key.peak, uid: uid.peak },
    };
  }

  /** Says whether the user may spend; blocks the user when not. */
  #admit(window: Window, weight: number, now: number): boolean {
    const { windowMs } = this.#contract.layers.uid;
    if (now < window.blockedUntil) return false;
    if (window.used + weight <= this.#capacities.uid) return true;
    window.blockedUntil = window.beganAt + windowMs;
    this.#blockedMinutes++;
    return false;
  }

  /** The first of the profile's own layers that says no. */
  #refuserWithin(caller: Caller, weight: number, content: Content, now: number): LayerName | undefined {
    for (const extra of this.#within) if (!extra.admit(caller.ip, caller, weight, content, now)) return extra.refuser;
    return undefined;
  }

  #charge(caller: Caller, times: 1 | -1, weight: number, content: Content, now: number): void {
    const { key, uid } = this.layers;
    if (caller.key !== undefined) key.add(key.at(caller.key, now), times, now);
    uid.add(uid.at(caller.uid, now), times * weight, now);
    for (const extra of this.#within) extra.charge(times, caller.ip, caller, weight, content, now);
  }

  #refuse(layer: LayerName, caller: Caller | undefined, weight: number, content: Content, now: number): false {
    this.#refused[layer]++;
    if (this.#contract.profile.limits.refusedCounts === "all" && caller !== undefined) this.#charge(caller, 1, weight, content, now);
    return false;
  }
}
