/**
 * Windows of the service's rate-limit layers, by address, key or user, and the layers that only a profile has.
 *
 * Invariants: a window begins at its layer's anchor; windows of silent addresses are dropped before there are too many.
 * Not here: who is charged in which order (rate-limiter.ts).
 */
import type { Layer, LayerName } from "../contract/limits.ts";
import type { Anchor, ExtraLayer } from "../contract/profile.ts";

export interface Caller {
  readonly ip: string;
  /** Undefined when a user is charged for a call without a key. */
  readonly key: string | undefined;
  readonly uid: string;
}

/** Facts of a request that layers besides the three may use. */
export interface Content {
  readonly endpoint: string | undefined;
  readonly elements: number;
  /** Elements by product, for layers that count each by itself; none for a call that names no product. */
  readonly products?: ReadonlyMap<string, number>;
}

export interface Window {
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
export class LayerWindows {
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

/** A layer of the profile's own. */
export class ExtraLayerWindows {
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

  /** Returns true if the request may pass. Otherwise shuts the layer, if it bans. */
  admit(ip: string, caller: Caller | undefined, weight: number, content: Content, now: number): boolean {
    // All windows are checked, so that each full one may be shut.
    const fits = this.#idsOf(ip, caller, content).map(([id, elements]) =>
      this.#admits(id, this.#amountOf(weight, elements), now),
    );
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

  /** Identities for which a request counts, if any, each with its number of elements. */
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
