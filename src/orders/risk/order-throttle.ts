/**
 * How fast a strategy's wanted orders are acted on: a bucket of tokens on the engine's clock.
 *
 * Invariants: never more than a second's worth at once nor more than the rate over time; of what waits for one slot only the
 * latest counts, so that memory is bounded by slots; a wanted order that goes away never waits, and one that only takes the place of a
 * wanted order that waits for quota is not acted on, and not counted.
 * Not here: what is done with a slot (orders/order-manager.ts).
 */
import type { Clock } from "../../clock/clock.ts";
import type { Slot } from "../slot.ts";

/** The instant at which the bucket is full. */
type Bucket = number;

const secondMs = 1_000;

/** Takes one token: the bucket after it, or the instant from which there is one. */
export const takeToken = (
  fullAt: Bucket,
  perSecond: number,
  now: number,
): { readonly taken: true; readonly fullAt: Bucket } | { readonly taken: false; readonly at: number } => {
  const tokenMs = secondMs / perSecond;
  const next = Math.max(fullAt, now) + tokenMs;
  // Less than one a second: the first may still go at once.
  const slackMs = Math.max(secondMs, tokenMs);
  return next - now <= slackMs ? { taken: true, fullAt: next } : { taken: false, at: next - slackMs };
};

interface OrderThrottle {
  /** The slot's wanted order changed: it is considered now or when its strategy's turn comes. */
  readonly admit: (slot: Slot) => void;
}

interface Lane {
  fullAt: Bucket;
  armed: boolean;
  readonly waiting: Set<Slot>;
}

export const createOrderThrottle = (
  clock: Clock,
  perSecond: number | undefined,
  consider: (slot: Slot) => void,
): OrderThrottle => {
  const lanes = new Map<string, Lane>();
  if (perSecond === undefined) return { admit: consider };

  const laneOf = (strategy: string): Lane => {
    const lane = lanes.get(strategy) ?? { fullAt: Number.NEGATIVE_INFINITY, armed: false, waiting: new Set<Slot>() };
    lanes.set(strategy, lane);
    return lane;
  };
  const drain = (lane: Lane): void => {
    for (const slot of lane.waiting) {
      if (slot.wanted === undefined) {
        // Withdrawn meanwhile; whoever did that saw to it.
        lane.waiting.delete(slot);
        continue;
      }
      const verdict = takeToken(lane.fullAt, perSecond, clock.now());
      if (!verdict.taken) {
        wake(lane, verdict.at);
        return;
      }
      lane.fullAt = verdict.fullAt;
      lane.waiting.delete(slot);
      consider(slot);
    }
  };
  const wake = (lane: Lane, at: number): void => {
    if (lane.armed) return;
    lane.armed = true;
    clock.setTimer(at, () => {
      lane.armed = false;
      drain(lane);
    });
  };

  return {
    admit: (slot) => {
      const lane = laneOf(slot.strategy);
      if (slot.wanted === undefined) {
        lane.waiting.delete(slot);
        consider(slot);
        return;
      }
      lane.waiting.add(slot);
      if (!lane.armed) drain(lane);
    },
  };
};
