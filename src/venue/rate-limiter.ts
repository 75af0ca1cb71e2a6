/**
 * Rate limiter of the service: the three layers, and others where its profile has them; a request passes all or is
 * refused.
 *
 * Invariants: windows live on the service's clock; a layer never grants more than its capacity in one window; a user
 * whose consumption would exceed the capacity is blocked, on every key, until the next window begins. Checked in the
 * order address, key, other layers, user, so that a request refused early is not charged further on; overflowing
 * another layer shuts it only where it bans.
 * Not here: the client's ledger, which must be able to disagree with this one.
 */
import type { Contract } from "../contract/contract.ts";
import { type LayerName, limitHeaders } from "../contract/limits.ts";
import { type Caller, type Content, ExtraLayerWindows, LayerWindows, type Window } from "./layer-windows.ts";

export interface RateLimiterReport {
  readonly requests: number;
  readonly weight: number;
  readonly refused: { readonly ip: number; readonly key: number; readonly uid: number };
  readonly blockedMinutes: number;
  readonly peak: { readonly ip: number; readonly key: number; readonly uid: number };
}

const unspecific: Content = { endpoint: undefined, elements: 1 };

export class RateLimiter {
  readonly layers: Readonly<Record<LayerName, LayerWindows>>;
  readonly #contract: Contract;
  readonly #capacities: Record<LayerName, number>;
  readonly #enforce: boolean;
  /** Declared changes of a capacity that are still to come, next one first. */
  readonly #changes: { readonly layer: LayerName; readonly at: number; readonly capacity: number }[];
  readonly #onArrival: readonly ExtraLayerWindows[];
  readonly #within: readonly ExtraLayerWindows[];
  readonly #refused = { ip: 0, key: 0, uid: 0 };
  /** Windows that the latest request was counted in: the headers of its answer are theirs. */
  readonly #latest: { ip: Window | undefined; key: Window | undefined; uid: Window | undefined } = {
    ip: undefined,
    key: undefined,
    uid: undefined,
  };
  #requests = 0;
  #weight = 0;
  #blockedMinutes = 0;

  /** `enforce`: false counts all requests and refuses none. */
  constructor(contract: Contract, enforce: boolean) {
    const { anchor, changes, extraLayers } = contract.profile.limits;
    const { ip, key, uid } = contract.layers;
    const extras = extraLayers.map((layer) => new ExtraLayerWindows(layer));
    this.#contract = contract;
    this.#capacities = { ip: ip.capacity, key: key.capacity, uid: uid.capacity };
    this.#enforce = enforce;
    this.#changes = changes
      .map(({ layer, at, capacity }) => ({ layer, at: Date.parse(at), capacity }))
      .toSorted((one, other) => one.at - other.at);
    this.layers = {
      ip: new LayerWindows(ip, anchor),
      key: new LayerWindows(key, anchor),
      uid: new LayerWindows(uid, anchor),
    };
    this.#onArrival = extras.filter(({ scope }) => scope === "ip");
    this.#within = extras.filter(({ scope }) => scope !== "ip");
  }

  /** Makes the declared changes that are due at `now`. */
  #changeCapacities(now: number): void {
    for (let next = this.#changes[0]; next !== undefined && next.at <= now; next = this.#changes[0]) {
      this.#capacities[next.layer] = next.capacity;
      this.#changes.shift();
    }
  }

  /** Changes the capacity of a layer from now on. */
  setCapacity(layer: LayerName, capacity: number): void {
    this.#capacities[layer] = capacity;
  }

  /** Adds to the headers of the latest request's answer the rest for its address and key, and the use by its user. */
  tell(headers: Record<string, string>, address: string, caller: Caller | undefined, now: number): void {
    const { ip, key, uid } = this.layers;
    const latest = this.#latest;
    const ofAddress = latest.ip ?? ip.at(address, now);
    headers[limitHeaders.ipRemaining] = String(Math.max(0, this.#capacities.ip - ofAddress.used));
    if (caller?.key === undefined) {
      if (this.#contract.profile.limits.headersWithoutKey !== "all") return;
      headers[limitHeaders.keyRemaining] = String(this.#capacities.key);
      headers[limitHeaders.uidUsed] = "0";
      return;
    }
    const ofKey = latest.key ?? key.at(caller.key, now);
    const ofUser = latest.uid ?? uid.at(caller.uid, now);
    headers[limitHeaders.keyRemaining] = String(Math.max(0, this.#capacities.key - ofKey.used));
    headers[limitHeaders.uidUsed] = String(ofUser.used);
  }

  /**
   * Counts the arrival at an address. False: refused; `caller` and `weight` matter only where refused calls are charged
   * to all.
   */
  arrive(
    address: string,
    caller: Caller | undefined,
    weight: number,
    now: number,
    content: Content = unspecific,
  ): boolean {
    this.#requests++;
    this.#changeCapacities(now);
    const { ip } = this.layers;
    const extras = this.#onArrival;
    const window = ip.at(address, now);
    const latest = this.#latest;
    latest.ip = window;
    latest.key = latest.uid = undefined;
    let fits = !this.#enforce || window.used + 1 <= this.#capacities.ip;
    if (this.#enforce && extras.length > 0)
      for (const extra of extras) fits &&= extra.admit(address, undefined, weight, content, now);
    if (fits || this.#contract.profile.limits.refusedCounts !== "none") {
      ip.add(window, 1, now);
      if (extras.length > 0) for (const extra of extras) extra.charge(1, address, undefined, weight, content, now);
    }
    return fits || this.#refuse("ip", caller, weight, content, now);
  }

  /** Charges key and user. False: refused. */
  spend(caller: Caller, weight: number, now: number, content: Content = unspecific): boolean {
    this.#changeCapacities(now);
    const { key, uid } = this.layers;
    const latest = this.#latest;
    const within = this.#within.length > 0;
    // Each window is looked up once, for the check, the charge and the answer.
    const ofKey = caller.key === undefined ? undefined : key.at(caller.key, now);
    latest.key = ofKey;
    let layer: LayerName | undefined;
    if (this.#enforce) {
      if (ofKey !== undefined && ofKey.used + 1 > this.#capacities.key) layer = "key";
      else if (within) layer = this.#refuserWithin(caller, weight, content, now);
    }
    if (layer === undefined) {
      const ofUser = uid.at(caller.uid, now);
      latest.uid = ofUser;
      const hasRoom = now >= ofUser.blockedUntil && ofUser.used + weight <= this.#capacities.uid;
      if (hasRoom || !this.#enforce || this.#admit(ofUser, weight, now)) {
        this.#weight += weight;
        if (ofKey !== undefined) key.add(ofKey, 1, now);
        uid.add(ofUser, weight, now);
        if (within) for (const extra of this.#within) extra.charge(1, caller.ip, caller, weight, content, now);
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
    this.#changeCapacities(now);
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

  /** Returns true if the user may spend; a call beyond the limit blocks the user, whether or not it is served. */
  #admit(window: Window, weight: number, now: number): boolean {
    const { windowMs } = this.#contract.layers.uid;
    if (now < window.blockedUntil) return false;
    if (window.used + weight <= this.#capacities.uid) return true;
    window.blockedUntil = window.beganAt + windowMs;
    this.#blockedMinutes++;
    return this.#contract.profile.limits.crossingCall === "served";
  }

  /** The first of the profile's own layers that refuses. */
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
    if (this.#contract.profile.limits.refusedCounts === "all" && caller !== undefined)
      this.#charge(caller, 1, weight, content, now);
    return false;
  }
}
