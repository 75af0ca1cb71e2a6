/**
 * Keeps the suite within the limits it is not testing, by its own count of what it sent.
 *
 * Invariants: no window of a layer, wherever it begins, holds more than a margin below its capacity; the service's headers are not
 * used, as they are under test. What was sent unpaced is counted too.
 * Not here: the engine's ledger (quota/), which is exact where this one is merely careful.
 */
import type { Layer, LayerName } from "../contract/limits.ts";

export interface Charge {
  readonly ip: string;
  readonly key: string | undefined;
  readonly uid: string | undefined;
  readonly weight: number;
}

export interface Pace {
  /** The earliest instant at which the charge fits all of `layers`. */
  fitsAt(charge: Charge, layers: readonly LayerName[], now: number): number;
  /** Counts a request; the returned function tells when it was answered, as it may have been counted as late as that. */
  count(charge: Charge, now: number): (answeredAt: number) => void;
  /** When the last request was answered. */
  readonly lastAt: number;
}

interface Entry {
  at: number;
  readonly amount: number;
}

/** Part of the capacity used, and how much longer than its window a layer is remembered. */
const share = { ip: 0.9, key: 0.8, uid: 0.97 } as const;
const slackMs = { ip: 2_000, key: 100, uid: 2_000 } as const;

export const createPace = (layers: Readonly<Record<LayerName, Layer>>): Pace => {
  const entries = new Map<string, Entry[]>();
  let lastAt = Number.NEGATIVE_INFINITY;

  const partsOf = ({ ip, key, uid, weight }: Charge) =>
    [
      { name: "ip", id: ip, amount: 1 },
      { name: "key", id: key, amount: 1 },
      { name: "uid", id: uid, amount: weight },
    ] as const;
  const listOf = (name: LayerName, id: string): Entry[] => {
    const place = `${name} ${id}`;
    const known = entries.get(place) ?? [];
    entries.set(place, known);
    return known;
  };
  const freeAt = (name: LayerName, id: string, amount: number, now: number): number => {
    const { capacity, windowMs } = layers[name];
    const list = listOf(name, id);
    const heldMs = windowMs + slackMs[name];
    while (list[0] !== undefined && list[0].at + heldMs <= now) list.shift();
    let used = list.reduce((total, entry) => total + entry.amount, amount);
    for (const entry of list) {
      if (used <= capacity * share[name]) return now;
      used -= entry.amount;
      if (used <= capacity * share[name]) return Math.max(now, entry.at + heldMs);
    }
    return now;
  };
  return {
    fitsAt: (charge, names, now) =>
      partsOf(charge).reduce(
        (at, { name, id, amount }) => (id === undefined || !names.includes(name) ? at : Math.max(at, freeAt(name, id, amount, now))),
        now,
      ),
    count: (charge, now) => {
      const made = partsOf(charge).flatMap(({ name, id, amount }) => {
        if (id === undefined) return [];
        const entry = { at: now, amount };
        listOf(name, id).push(entry);
        return [entry];
      });
      return (answeredAt) => {
        for (const entry of made) entry.at = answeredAt;
        lastAt = Math.max(lastAt, answeredAt);
      };
    },
    get lastAt() {
      return lastAt;
    },
  };
};
