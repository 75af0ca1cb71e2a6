/**
 * A part of the service's state at one moment, as users of the engine see it.
 *
 * Invariants: every subscriber receives the same value, and none can change it: lists and maps are fixed when they are
 * read.
 */

/** A part of the service's state as last known, and whether it can be trusted. */
export interface Snapshot<T> {
  /** Latest value of the service; empty before anything was read. */
  readonly value: T;
  /**
   * Instant at which the service was last known to hold this value, on the engine's clock; -1 before anything was read.
   */
  readonly at: number;
  /** True when the last read failed or the value is older than requested. */
  readonly stale: boolean;
  /** Reason why it is stale, in words. */
  readonly problem?: string;
  /** True if the service does not let these keys read it. Another attempt will hardly succeed. */
  readonly denied?: true;
}

const refuseChange = (): never => {
  throw new TypeError("The map is read-only, because others receive the same one. Copy it: new Map(value).");
};
const refused = { value: refuseChange };

/** A map that throws when it is changed, as a frozen array does. */
const fixedMap = (map: object): object =>
  Object.freeze(Object.defineProperties(map, { set: refused, delete: refused, clear: refused }));

/** Fixes a list or map of frozen records; returns anything else as it is. */
export const fixed = <T>(value: T): T => {
  if (value instanceof Map) return (Object.isFrozen(value) ? value : fixedMap(value)) as T;
  return Array.isArray(value) ? Object.freeze(value) : value;
};
