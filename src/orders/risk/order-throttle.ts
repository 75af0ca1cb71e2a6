/**
 * Rate at which a strategy's wanted orders are acted on: a bucket of tokens on the engine's clock.
 *
 * Invariants: never more changes at once than the rate allows in a second, and never more than the rate over time; of
 * the wanted orders that wait for one slot only the latest counts, so that memory is bounded by the number of slots;
 * withdrawing a wanted order never waits; a wanted order that only replaces one that waits for quota is neither delayed
 * nor counted.
 * Not here: what is done with a slot (orders/slot-step.ts).
 */
import { type Effect, type Effects, evaluate, noEffects } from "../effects.ts";
import type { Slot } from "../slot.ts";
import type { Pace, World } from "../world.ts";

const secondMs = 1_000;

/** Takes one token. Returns the bucket after it, or the instant at which there will be one. */
export const takeToken = (
  fullAt: number,
  perSecond: number,
  now: number,
): { readonly taken: true; readonly fullAt: number } | { readonly taken: false; readonly at: number } => {
  const tokenMs = secondMs / perSecond;
  const next = Math.max(fullAt, now) + tokenMs;
  // At a rate below one a second, the first change may still go at once.
  const slackMs = Math.max(secondMs, tokenMs);
  return next - now <= slackMs ? { taken: true, fullAt: next } : { taken: false, at: next - slackMs };
};

type Paced = Pick<World, "now" | "waits" | "paces">;

/**
 * Called when the slot's wanted order changed. Evaluates the slot now, or when the turn of its strategy comes.
 * `perSecond` is the rate limit for changes of one strategy.
 */
export const admit = (state: Paced, slot: Slot, perSecond: number): Effects => {
  if (slot.wanted === undefined) {
    state.waits.delete("pace", slot);
    return [evaluate(slot)];
  }
  state.waits.set("pace", slot);
  const { strategy } = slot;
  const pace = state.paces.get(strategy) ?? { fullAt: Number.NEGATIVE_INFINITY, armed: false };
  state.paces.set(strategy, pace);
  return pace.armed ? noEffects : drain(state, strategy, pace, perSecond);
};

const drain = (state: Paced, strategy: string, pace: Pace, perSecond: number): Effects => {
  const effects: Effect[] = [];
  for (const slot of state.waits.of("pace")) {
    if (slot.strategy !== strategy) continue;
    const token = takeToken(pace.fullAt, perSecond, state.now);
    if (!token.taken) {
      pace.armed = true;
      const due = (): Effects => {
        pace.armed = false;
        return drain(state, strategy, pace, perSecond);
      };
      effects.push({ kind: "schedule", at: token.at, due });
      return effects;
    }
    pace.fullAt = token.fullAt;
    state.waits.delete("pace", slot);
    effects.push(evaluate(slot));
  }
  return effects;
};
