/**
 * Effects: what the order manager has decided but not done yet.
 *
 * A decision changes state and returns effects. Each is performed together with all that follows from it before the
 * next one (perform.ts), so that a listener that an effect calls finds a consistent state and may raise further events.
 */
import type { Outcome } from "../client/outcome.ts";
import type { PositionRecord } from "../contract/schemas.ts";
import type { EventBody } from "../journal/events.ts";
import type { ProtectionRecord } from "../journal/protection-records.ts";
import type { Order } from "./order-state.ts";
import type { FillBody } from "./positions.ts";
import type { Approval } from "./risk/pre-trade-checks.ts";
import type { Slot } from "./slot.ts";
import type { WantedOrder } from "./wanted-order.ts";

/** A wanted order that was refused before it was sent. */
export interface Refusal {
  readonly strategy: string;
  readonly slot: string;
  readonly reason: string;
}

/** Effect beyond the order manager: reads of the account, the journal, listeners and callbacks. */
export type OuterEffect =
  /** Reads the account's positions, unless `needed` returns false when the request may leave. */
  | {
      readonly kind: "outside";
      readonly what: "readPositions";
      readonly isUrgent: boolean;
      readonly needed: () => boolean;
      readonly then: (outcome: Outcome<PositionRecord>) => Effects;
    }
  /** Writes an event to the journal. */
  | { readonly kind: "outside"; readonly what: "record"; readonly event: EventBody }
  /** The order's own record for the next run. */
  | { readonly kind: "outside"; readonly what: "keep"; readonly order: Order }
  /** The protection's record for the next run. */
  | { readonly kind: "outside"; readonly what: "protect"; readonly record: ProtectionRecord }
  | { readonly kind: "outside"; readonly what: "refuse"; readonly refusal: Refusal }
  /** The list of instruments may be outdated, because it lacks this one. */
  | { readonly kind: "outside"; readonly what: "relist"; readonly instId: string }
  /** A fill was journalled and published: listeners of positions are called, and protections follow it. */
  | { readonly kind: "outside"; readonly what: "filled"; readonly fill: FillBody }
  /** The number of open orders may have changed. */
  | { readonly kind: "outside"; readonly what: "countOpen" };

export type Effect =
  | OuterEffect
  /**
   * The order has changed: it is counted, journalled, published and followed up (changes.ts). `at` is for callers that
   * have already read the clock.
   */
  | { readonly kind: "publish"; readonly order: Order; readonly at: number }
  /** The slot takes its next step, which depends on the state at that moment (slot-step.ts). */
  | { readonly kind: "evaluate"; readonly slot: Slot }
  | { readonly kind: "place"; readonly slot: Slot; readonly wanted: WantedOrder; readonly approval: Approval }
  /** The slot's waiting placement leaves the queue. */
  | { readonly kind: "withdraw"; readonly slot: Slot }
  /** A cancel of the order is packed into the next call of its urgency. */
  | { readonly kind: "cancel"; readonly order: Order }
  | { readonly kind: "amend"; readonly slot: Slot; readonly order: Order }
  | { readonly kind: "query"; readonly order: Order; readonly how: QueryKind }
  | { readonly kind: "schedule"; readonly at: number; readonly due: () => Effects }
  /** A loss is beyond its limit, of one strategy or of all together (undefined): trading is restricted. */
  | { readonly kind: "restrict"; readonly strategy: string | undefined; readonly reason: string }
  /** The order rests: its slot takes its next step, and a cancel that was asked for before can leave. */
  | { readonly kind: "resume"; readonly order: Order }
  /** A decision that depends on the effects before it. */
  | { readonly kind: "decide"; readonly decide: () => Effects };

/**
 * `look`: one question. `search`: questions until there is evidence. `expect`: a question if no record comes in time.
 */
type QueryKind = "look" | "search" | "expect";

export type Effects = readonly Effect[];

/**
 * Performs effects in turn, each with all that follows from it. Used by parts that a timer, an answer or a grant calls.
 */
export type Run = (effects: Effects) => void;

export const noEffects: Effects = [];

export const publish = (order: Order, at = 0): Effect => ({ kind: "publish", order, at });
export const evaluate = (slot: Slot): Effect => ({ kind: "evaluate", slot });
export const next = (decide: () => Effects): Effect => ({ kind: "decide", decide });
export const record = (event: EventBody): Effect => ({ kind: "outside", what: "record", event });

/** Joins lists of effects. Makes no copy if at most one of them has effects. */
export const joined = (first: Effects, second: Effects, third = noEffects): Effects => {
  if (second.length + third.length === 0) return first;
  if (first.length + third.length === 0) return second;
  return first.length + second.length === 0 ? third : [...first, ...second, ...third];
};
