/** One scope of a layer, taken apart: what its windows were told is set part by part. */
import { CountEvidence } from "../../../src/scheduler/quota/count-evidence.ts";
import { CountLag, StaleCounts } from "../../../src/scheduler/quota/count-lag.ts";
import type { LayerSpec } from "../../../src/scheduler/quota/layers.ts";
import { LearnedLimit } from "../../../src/scheduler/quota/learned-limit.ts";
import { OpenEnd } from "../../../src/scheduler/quota/open-end.ts";
import { WindowPhase } from "../../../src/scheduler/quota/window-phase.ts";
import { WindowUsage } from "../../../src/scheduler/quota/window-usage.ts";
import { minute } from "./allowance.ts";
import { fixedClock } from "./fixed-clock.ts";

const { header: _told, ...untold } = minute;
/** A user's minute whose answers tell nothing. */
export const silent: LayerSpec = untold;
export const user: LayerSpec = minute;
export const address: LayerSpec = {
  ...user,
  name: "ip",
  scope: "ip",
  capacity: 1_000,
  header: { kind: "remaining", name: "left" },
};
export const second: LayerSpec = {
  ...address,
  name: "key",
  scope: "key",
  unit: "requests",
  capacity: 10,
  windowMs: 1_000,
};

/** Keeps what it is told of stale counts. */
class NotedCounts extends StaleCounts {
  readonly noted: (readonly [number, number])[] = [];

  override note(window: number, units: number): void {
    this.noted.push([window, units]);
    super.note(window, units);
  }
}

/** All that takes part in the evidence of one scope. The calendar stands at `lo..hi`. */
export const stage = (spec: LayerSpec, { lo = 0, hi = lo }: { lo?: number; hi?: number } = {}) => {
  const boundaries: (readonly [number, number, number])[] = [];
  const clock = {
    ...fixedClock(lo, hi),
    observeBoundary: (...proof: readonly [number, number, number]) => boundaries.push(proof) > 0,
  };
  const lag = new CountLag();
  const of = {
    spec,
    clock,
    phase: new WindowPhase(spec.windowMs, clock),
    usage: new WindowUsage(spec.scope === "key"),
    openEnd: new OpenEnd(spec.capacity, spec.windowMs),
    lag,
    stale: new NotedCounts(lag, spec),
    limit: new LearnedLimit(spec.capacity, spec.windowMs),
  };
  const evidence = new CountEvidence(of);
  /** One call of `units` that was answered in `window`, and told `used` of it. */
  const told = (window: number, used: number, at: number, units = 1): void => {
    of.usage.begin(window, units);
    of.usage.end(window, window, window, units, true);
    of.usage.report(window, used);
    evidence.hear(at - 20, at, used, window, window);
  };
  return { ...of, evidence, boundaries, told };
};
export type Stage = ReturnType<typeof stage>;

/** Counts were found to lag. */
export const lagging = (of: Stage): Stage => {
  of.lag.lagging = true;
  of.lag.turns++;
  return of;
};
