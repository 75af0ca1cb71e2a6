/**
 * State of the quota for display: one row for each scope of each layer met so far.
 *
 * Invariants: reading the state changes nothing.
 */
import type { Allowances } from "./allowance.ts";
import type { LimitWindow, QuotaMode } from "./limit-window.ts";

/** One layer of the quota for one address, user or key, in its current window. */
export interface LayerState {
  /** Name of the layer: `ip`, `uid`, `key`, or one of your own. */
  readonly layer: string;
  /** Name of the address, user or key that the layer counts. */
  readonly scope: string;
  /** Capacity of a window, in requests or weight. */
  readonly capacity: number;
  /** Units of the current window used by this engine and others. */
  readonly used: number;
  /** Part that is kept for exits. */
  readonly reserved: number;
  /** `capacity` less `used`. */
  readonly free: number;
  /** Part of `used` that belongs to other clients. */
  readonly foreign: number;
  /** Instant at which the window ends, milliseconds on the engine's clock. */
  readonly windowEndsAt: number;
  /**
   * `measured` while the service's counts are used; `floor` while they are not reliable and a part of the capacity is
   * spent evenly.
   */
  readonly mode: QuotaMode;
}

/** Use of one window by others. */
export type OthersUse = Pick<LayerState, "layer" | "scope" | "capacity" | "foreign" | "windowEndsAt">;

const none: readonly OthersUse[] = [];

export const othersUseOf = (windows: readonly LimitWindow[], now: number): readonly OthersUse[] => {
  let rows: OthersUse[] | undefined;
  for (let index = 0; index < windows.length; index++) {
    const gauge = windows[index] as LimitWindow;
    const foreign = gauge.foreign(now);
    if (foreign === 0) continue;
    const { capacity } = gauge;
    const { name } = gauge.spec;
    rows ??= [];
    rows.push({ layer: name, scope: gauge.scope, capacity, foreign, windowEndsAt: gauge.windowEndsAt(now) });
  }
  return rows ?? none;
};

export const layerStates = (
  windows: Iterable<LimitWindow>,
  allowances: Pick<Allowances, "reserved">,
  now: number,
): LayerState[] =>
  Array.from(windows, (gauge) => {
    const used = gauge.used(now);
    const foreign = gauge.foreign(now);
    const windowEndsAt = gauge.windowEndsAt(now);
    const { capacity } = gauge;
    const { mode } = gauge;
    const { name } = gauge.spec;
    const reserved = allowances.reserved(gauge, now, windowEndsAt);
    return {
      layer: name,
      scope: gauge.scope,
      capacity,
      used,
      reserved,
      free: Math.max(0, capacity - used),
      foreign,
      windowEndsAt,
      mode,
    };
  });
