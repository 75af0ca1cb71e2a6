/**
 * Pacing of probes: keeps them within the limits that are not under test, by its own count of requests.
 *
 * Invariants: no window of a layer, wherever it begins, holds more than a margin below its capacity; layers of the
 * profile's own are always kept within, as no rule is about them; the service's headers are not used, as they are under
 * test. Requests sent without pacing are counted too.
 * Not here: the engine's rate limiter (scheduler/quota), which is exact where this one is merely careful.
 */
import type { ExtraLayer, wire } from "sluice/dialect";

export interface Charge {
  readonly ip: string;
  readonly key: string | undefined;
  readonly uid: string | undefined;
  readonly weight: number;
  /** Endpoint of the call; absent for actions such as opening a socket. */
  readonly endpoint?: string;
  /** Number of elements of a batch; 1 when left out. */
  readonly elements?: number;
}

interface Entry {
  at: number;
  readonly amount: number;
}

/** A layer with its margin. */
interface PacedLayer {
  readonly name: string;
  /** It is one of the profile's own. */
  readonly extra: boolean;
  /** Scope of the layer. A product is paced as its user: slower than necessary. */
  readonly scope: wire.LayerName;
  /** Part of the capacity that may be used. */
  readonly room: number;
  /** Time for which a request counts: the window, plus the possible error of the instant at which it was counted. */
  readonly heldMs: number;
  amountOf(charge: Charge): number;
}

/** Part of the capacity used, and how much longer than its window a layer is remembered. */
const share = { ip: 0.9, key: 0.8, uid: 0.97 } as const;
const slackMs = { ip: 2_000, key: 100, uid: 2_000 } as const;
const extraShare = 0.9;

const pacedOf = (layers: Readonly<Record<wire.LayerName, wire.Layer>>): PacedLayer[] =>
  (["ip", "key", "uid"] as const).map((name) => ({
    name,
    extra: false,
    scope: name,
    room: layers[name].capacity * share[name],
    heldMs: layers[name].windowMs + slackMs[name],
    amountOf: ({ weight }) => (name === "uid" ? weight : 1),
  }));

const extraOf = ({ name, scope, unit, capacity, windowMs, endpoints }: ExtraLayer): PacedLayer => ({
  name,
  extra: true,
  scope: scope === "instrument" ? "uid" : scope,
  // Of a small capacity a part would be less than it holds in whole calls.
  room: Math.max(1, Math.floor(capacity * extraShare)),
  heldMs: windowMs + Math.max(slackMs.key, Math.min(slackMs.uid, windowMs / 10)),
  amountOf: ({ endpoint, weight, elements = 1 }) => {
    if (endpoints !== undefined && (endpoint === undefined || !endpoints.includes(endpoint))) return 0;
    return unit === "requests" ? 1 : unit === "weight" ? weight : elements;
  },
});

export class Pacing {
  readonly #layers: readonly PacedLayer[];
  readonly #entries = new Map<string, Entry[]>();
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(layers: Readonly<Record<wire.LayerName, wire.Layer>>, extraLayers: readonly ExtraLayer[] = []) {
    this.#layers = [...pacedOf(layers), ...extraLayers.map(extraOf)];
  }

  /** Instant at which the last request was answered. */
  get lastAt(): number {
    return this.#lastAt;
  }

  /** The earliest instant at which the charge fits all of `names` and the layers of the profile's own. */
  fitsAt(charge: Charge, names: readonly wire.LayerName[], now: number): number {
    return this.#layers.reduce((at, layer) => {
      const id = charge[layer.scope];
      const amount = layer.amountOf(charge);
      if (id === undefined || amount === 0 || !(layer.extra || names.includes(layer.scope))) return at;
      return Math.max(at, this.#freeAt(layer, id, amount, now));
    }, now);
  }

  /**
   * Counts a request. The returned function takes the instant of the answer, because the service may have counted the
   * request as late as that.
   */
  count(charge: Charge, now: number): (answeredAt: number) => void {
    const made = this.#layers.flatMap((layer) => {
      const id = charge[layer.scope];
      const amount = layer.amountOf(charge);
      if (id === undefined || amount === 0) return [];
      const entry = { at: now, amount };
      this.#listOf(layer, id).push(entry);
      return [entry];
    });
    return (answeredAt) => {
      for (const entry of made) entry.at = answeredAt;
      this.#lastAt = Math.max(this.#lastAt, answeredAt);
    };
  }

  /** Returns the layer of the profile that does not permit this number of calls within `ms`, if there is one. */
  tooNarrow(charge: Charge, calls: number, ms: number): string | undefined {
    const tooMany = (layer: PacedLayer): boolean =>
      layer.amountOf(charge) * calls * Math.min(1, layer.heldMs / ms) > layer.room;
    return this.#layers.find((layer) => layer.extra && charge[layer.scope] !== undefined && tooMany(layer))?.name;
  }

  #listOf({ name }: PacedLayer, id: string): Entry[] {
    const place = `${name} ${id}`;
    const known = this.#entries.get(place) ?? [];
    this.#entries.set(place, known);
    return known;
  }

  #freeAt(layer: PacedLayer, id: string, amount: number, now: number): number {
    const list = this.#listOf(layer, id);
    while (list[0] !== undefined && list[0].at + layer.heldMs <= now) list.shift();
    // An amount larger than the room is sent only when no other request is remembered.
    const room = Math.max(layer.room, amount);
    let used = list.reduce((total, entry) => total + entry.amount, amount);
    for (const entry of list) {
      if (used <= room) return now;
      used -= entry.amount;
      if (used <= room) return Math.max(now, entry.at + layer.heldMs);
    }
    return now;
  }
}
