/**
 * Market exits that the service accepted and does not know any more: the account's position shows whether they were
 * executed.
 *
 * A service may forget orders that ended without trading. An exit that was canceled while pushes were lost then leaves
 * no record.
 *
 * Invariants: a position is evidence if it was read after the exit was proved absent, every record of the answer is
 * readable, and no own order of the instrument is in doubt; it has to cover what all strategies hold together; the
 * pause between two reads doubles up to a minute; no read is sent once the exit no longer waits.
 * Not here: the proof of absence (order-search.ts), when the exit is placed again (exits.ts).
 */
import type { Outcome } from "../client/outcome.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import type { PositionRecord } from "../contract/schemas.ts";
import { compare, type Decimal, read, sum } from "../decimal-value.ts";
import { type Effect, type Effects, evaluate, noEffects } from "./effects.ts";
import { against } from "./exit-size.ts";
import type { FollowUp } from "./follow-up.ts";
import type { Order } from "./order-state.ts";
import type { Slot } from "./slot.ts";
import type { OrderSpec } from "./wanted-order.ts";
import type { World } from "./world.ts";

export const lostWords = "the service forgot it";
/** Number of reads for one exit that may use the reserve for exits. */
const urgentReadsMax = 3;
const firstPauseMs = 1_000;
const pauseMsMax = 60_000;

/** Waits for a position that shows that the exit was not executed. Returns undefined if no position can show it. */
export const awaitPosition = (
  state: World,
  slot: Slot,
  { serves: wanted, spec }: Order,
  qty: Decimal,
): { readonly rest: FollowUp; readonly effects: Effects } | undefined => {
  // The account lists no positions for spot products.
  if (instTypeOf(spec.instId) === "SPOT" || state.options.contractValues === undefined) return undefined;
  const at = Number.POSITIVE_INFINITY;
  const rest: FollowUp = { wanted, kind: "exit", qty, at, failures: 0, awaits: "position", reason: lostWords };
  return { rest, effects: [readPosition(state, slot, rest, spec, 0)] };
};

const readPosition = (state: World, slot: Slot, followUp: FollowUp, exit: OrderSpec, reads: number): Effect => {
  const waits = (): boolean => slot.followUp === followUp;
  const then = (outcome: Outcome<PositionRecord>): Effects => {
    if (!waits()) return noEffects;
    const { now } = state;
    if (isHeld(state, exit, outcome)) {
      slot.followUp = { ...followUp, at: now, awaits: undefined };
      return [{ kind: "schedule", at: now, due: () => (slot.followUp === undefined ? noEffects : [evaluate(slot)]) }];
    }
    const again = (): Effects => (waits() ? [readPosition(state, slot, followUp, exit, reads + 1)] : noEffects);
    const at = now + Math.min(firstPauseMs * 2 ** reads, pauseMsMax);
    return [{ kind: "schedule", at, due: again }];
  };
  return { kind: "outside", what: "readPositions", isUrgent: reads < urgentReadsMax, needed: waits, then };
};

/** Returns true if the account holds at least what the strategies hold by their own fills. */
const isHeld = (
  { options: { contractValues }, slots, exitLimits }: World,
  { instId, side }: OrderSpec,
  outcome: Outcome<PositionRecord>,
): boolean => {
  if (outcome.kind !== "done" || outcome.problems.length > 0 || contractValues?.isKnown !== true) return false;
  const own = slots.orders().filter(({ spec }) => spec.instId === instId);
  if (own.some(({ state }) => state.kind === "submitted" || state.kind === "unknown")) return false;
  const held = contractValues.positionsOf(outcome.records).filter((position) => position.instId === instId);
  return compare(against(side, sum(held.map(({ pos }) => read(pos)))), exitLimits.net(instId, side)) >= 0;
};
