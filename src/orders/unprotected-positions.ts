/**
 * Slots whose exit is not in force although the strategy has a position. Each is reported once when this begins, and
 * once when it ends.
 *
 * Not here: when the exit is placed again (exits.ts).
 */
import { type Decimal, isPositive, spell } from "../decimal-value.ts";
import { type Effects, noEffects, record } from "./effects.ts";
import type { Slot } from "./slot.ts";
import type { WantedOrder } from "./wanted-order.ts";
import type { World } from "./world.ts";

/**
 * Called when the exit that the slot wants is not in force. `qty` is the base quantity of the position that stays open.
 */
export const beginUnprotected = (
  slot: Slot,
  { instId, side }: Pick<WantedOrder, "instId" | "side">,
  qty: Decimal,
  reason: string,
): Effects => {
  if (slot.unprotected !== undefined) return noEffects;
  slot.unprotected = { instId, side };
  const { strategy, name } = slot;
  return [record({ type: "position.unprotected", strategy, slot: name, instId, side, qty: spell(qty), reason })];
};

/** Called when the exit is in force, or nothing is left to reduce. */
export const endUnprotected = ({ exitLimits }: Pick<World, "exitLimits">, slot: Slot): Effects => {
  if (slot.unprotected === undefined) return noEffects;
  const { strategy, name, unprotected } = slot;
  const { instId, side } = unprotected;
  slot.unprotected = undefined;
  const how = isPositive(exitLimits.held(strategy, instId, side)) ? {} : { closed: true as const };
  return [record({ type: "position.protected", strategy, slot: name, instId, ...how })];
};
