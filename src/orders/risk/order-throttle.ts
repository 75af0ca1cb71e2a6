/**
 * Rate at which a strategy's wanted orders are acted on: a bucket of tokens on the engine's clock.
 *
 * Invariants: never more than a second's worth at once nor more than the rate over time; of what waits for one slot
 * only the latest counts, so that memory is bounded by slots; a wanted order that goes away never waits, and one that
 * only takes the place of a wanted order that waits for quota is not acted on, and not counted.
 * Not here: what is done with a slot (orders/slot-step.ts).
 */
import { type Effect, type Effects, evaluate } from "../effects.ts";
import type { Slot } from "../slot.ts";
import type { Waits } from "../waits.ts";

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

interface Lane {
  fullAt: Bucket;
  /** A timer gives the next slot its turn. */
  armed: boolean;
}

export class OrderThrottle {
  readonly #clock: { now(): number };
  readonly #perSecond: number | undefined;
  readonly #waits: Waits;
  readonly #lanes = new Map<string, Lane>();

  /** `perSecond`: changes of one strategy; not limited where left out. */
  constructor(clock: { now(): number }, perSecond: number | undefined, waits: Waits) {
    this.#clock = clock;
    this.#perSecond = perSecond;
    this.#waits = waits;
  }

  /** The slot's wanted order changed: it is evaluated now, or when the turn of its strategy comes. */
  admit(slot: Slot): Effects {
    if (this.#perSecond === undefined) return [evaluate(slot)];
    if (slot.wanted === undefined) {
      this.#waits.delete("pace", slot);
      return [evaluate(slot)];
    }
    this.#waits.set("pace", slot);
    const lane = this.#laneOf(slot.strategy);
    return lane.armed ? [] : this.#drain(slot.strategy, lane, this.#perSecond);
  }

  #laneOf(strategy: string): Lane {
    const lane = this.#lanes.get(strategy) ?? { fullAt: Number.NEGATIVE_INFINITY, armed: false };
    this.#lanes.set(strategy, lane);
    return lane;
  }

  #drain(strategy: string, lane: Lane, perSecond: number): Effects {
    const effects: Effect[] = [];
    for (const slot of this.#waits.of("pace")) {
      if (slot.strategy !== strategy) continue;
      const token = takeToken(lane.fullAt, perSecond, this.#clock.now());
      if (!token.taken) {
        lane.armed = true;
        const due = (): Effects => {
          lane.armed = false;
          return this.#drain(strategy, lane, perSecond);
        };
        effects.push({ kind: "schedule", at: token.at, due });
        return effects;
      }
      lane.fullAt = token.fullAt;
      this.#waits.delete("pace", slot);
      effects.push(evaluate(slot));
    }
    return effects;
  }
}
