/** Reason for which a slot may not place what it wants yet, with the events and timers that follow from it. */
import { both, type Effects, noEffects } from "./effects.ts";

export interface Hold {
  readonly isHeld: boolean;
  readonly effects: Effects;
}

/** Nothing holds the slot back. */
export const free: Hold = { isHeld: false, effects: noEffects };
/** It is held back, and what ends that is under way. */
export const held: Hold = { isHeld: true, effects: noEffects };

/** The second of two reasons, with the effects of both. */
export const after = (first: Hold, second: Hold): Hold =>
  first.effects.length === 0 ? second : { isHeld: second.isHeld, effects: both(first.effects, second.effects) };
