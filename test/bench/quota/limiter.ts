/**
 * What every limiter on the bench is given and must do.
 *
 * Invariants: `submit` settles once the call has been accepted and answered, however often that took; `send` puts one
 * request on the wire at the moment it is called and never repeats it.
 * Not here: how a limiter decides (peers/, sluice.ts, reference.ts), what the service thinks of it (meter.ts).
 */
import type { Clock } from "../../../src/clock/clock.ts";
import type { Random } from "../../../src/random.ts";
import type { SharingTroubles } from "./shared-engines.ts";

export interface Answer {
  readonly status: number;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
}

export type CallKind = "place" | "cancel" | "query" | "positions" | "instruments";

export interface Task {
  readonly kind: CallKind;
  readonly weight: number;
  readonly urgent: boolean;
  /** Whose quota it is; limiters that know of one user only need not look. */
  readonly user: string;
  /** It leaves on this key of the user's, where some calls do. */
  readonly key?: string | undefined;
  /** Never settles when the process is restarted; rejects when no answer comes in time. */
  send(): Promise<Answer>;
}

export interface Limiter {
  submit(task: Task): Promise<void>;
}

/** What only the oracle may look at: the service's clock and the way of the next request. */
export interface Truth {
  now(): number;
  nextLegMs(): number;
}

export interface Bench {
  /** The client's own clock: skewed, drifting, late. */
  readonly clock: Clock;
  readonly random: Random;
  /** A call of the limiter's own, such as one that reads the headers. It costs what it weighs. */
  probe(kind: CallKind, weight: number): Promise<Answer>;
  /** What a user would know of his own calls: their mean weight. */
  readonly meanWeight: number;
  readonly urgentPerMinute: number;
  /** The service is known, and said, to count the last minute and the last second, not minutes and seconds of a clock. */
  readonly sliding: boolean;
  /** Changes of the limits that the service announces; instants on its clock, as ISO 8601 text. */
  readonly announced: readonly {
    readonly layer: "ip" | "key" | "uid";
    readonly at: string;
    readonly capacity: number;
  }[];
  /** Orders of the user at rest. */
  readonly openOrders: number;
  readonly truth: Truth;
  /** Engines of one cell meet under the same object; each has a name of its own. */
  readonly group: {
    readonly cell: object;
    readonly member: string;
    readonly engines: number;
    /** What befalls the group's store. */
    readonly sharing: SharingTroubles;
    readonly now: () => number;
  };
}

export type CreateLimiter = (bench: Bench) => Limiter;
