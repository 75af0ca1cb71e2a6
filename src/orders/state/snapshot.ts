/** A part of the service's state at one moment, as users of the engine see it. */
/** A part of the service's state as last known, and whether it can be trusted. */
export interface Snapshot<T> {
  /** What the service said last; empty before anything was read. */
  readonly value: T;
  /** When the service was last known to hold this value, on the engine's clock; -1 before anything was read. */
  readonly at: number;
  /** True when the last attempt failed or the value is older than asked. */
  readonly stale: boolean;
  /** Why it is stale, in words. */
  readonly problem?: string;
  /** The service does not let these keys read it: asking again will hardly help. */
  readonly denied?: true;
}
