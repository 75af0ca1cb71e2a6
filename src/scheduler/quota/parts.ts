/**
 * The replaceable parts of a rate limiter. The ablation bench leaves out each in turn.
 *
 * Not here: how they work together (fixed-window.ts, allowance.ts, ledger.ts).
 */
import { CountLag } from "./count-lag.ts";
import { Floor, type LatestDoubt, type OnMode } from "./floor.ts";
import { ForeignUsage, LateUsage } from "./foreign-usage.ts";
import type { LayerSpec } from "./layers.ts";
import { LearnedLimit } from "./learned-limit.ts";
import { OpenEnd } from "./open-end.ts";
import { ExitRate } from "./reserve.ts";
import { RoundTripTime, type ServerClock } from "./server-clock.ts";
import { WindowPhase } from "./window-phase.ts";
import { WindowUsage } from "./window-usage.ts";

export interface LimiterParts {
  lag(): CountLag;
  floor(spec: LayerSpec, doubt: LatestDoubt, trips?: Pick<RoundTripTime, "low" | "slow">): Floor;
  limit(spec: LayerSpec): LearnedLimit;
  /** `isOurs`: only calls of this engine count in the windows. */
  usage(isOurs: boolean): WindowUsage;
  phase(windowMs: number, clock: ServerClock): WindowPhase;
  openEnd(spec: LayerSpec): OpenEnd;
  exits(startedAt: number): ExitRate;
  foreign(): ForeignUsage;
  late(): LateUsage;
  trips(): RoundTripTime;
}

export const limiterParts: LimiterParts = {
  lag: () => new CountLag(),
  floor: (spec, doubt, trips) => new Floor(spec, doubt, trips),
  limit: ({ capacity, windowMs }) => new LearnedLimit(capacity, windowMs),
  usage: (isOurs) => new WindowUsage(isOurs),
  phase: (windowMs, clock) => new WindowPhase(windowMs, clock),
  openEnd: ({ capacity, windowMs }) => new OpenEnd(capacity, windowMs),
  exits: (startedAt) => new ExitRate(startedAt),
  foreign: () => new ForeignUsage(),
  late: () => new LateUsage(),
  trips: () => new RoundTripTime(),
};

/** Receives the name of a layer and a description of what was misread. */
export type OnMisread = (layer: string, what: string) => void;

/** Listeners of a window, and the parts that it is made of. */
export interface WindowOptions {
  readonly onMisread?: OnMisread | undefined;
  readonly onMode?: OnMode | undefined;
  readonly parts?: LimiterParts;
  /** Latest doubtful count of all layers of the service. */
  readonly doubt?: LatestDoubt;
  readonly trips?: Pick<RoundTripTime, "low" | "slow">;
}
