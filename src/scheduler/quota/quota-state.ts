/**
 * How the quota stands, for whoever looks at it: one row for each scope of each layer met so far.
 *
 * Invariants: looking changes nothing.
 */
import type { Ceilings } from "./allowance.ts";
import type { Gauge } from "./limit-window.ts";

export interface LayerState {
  readonly layer: string;
  readonly scope: string;
  readonly capacity: number;
  readonly used: number;
  readonly reserved: number;
  readonly free: number;
  readonly foreign: number;
  readonly windowEndsAt: number;
}

export const layerStates = (gauges: Iterable<Gauge>, ceilings: Pick<Ceilings, "reserved">, now: number): LayerState[] =>
  Array.from(gauges, (gauge) => {
    const { used, foreign, windowEndsAt } = gauge.state(now);
    const { capacity, name } = gauge.spec;
    const reserved = ceilings.reserved(gauge, now, windowEndsAt);
    return { layer: name, scope: gauge.scope, capacity, used, reserved, free: Math.max(0, capacity - used), foreign, windowEndsAt };
  });
