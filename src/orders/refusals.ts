/**
 * Wanted orders that were refused before they were sent: each is reported once, and tried again when the cause of the
 * refusal has changed.
 *
 * Invariants: the same wanted order of a slot is refused once; when an order ends, one wanted order that found no room
 * is tried again; a product that is not listed causes a new read of the list, at most once a minute; an order waits for
 * the first quote of its product before it is reported as refused: ten seconds in real time, else until the engine
 * ends.
 * Not here: the rules (orders/risk/pre-trade-checks.ts).
 */
import { type Effect, type Effects, evaluate, next, noEffects } from "./effects.ts";
import type { Approval, Ruling } from "./risk/pre-trade-checks.ts";
import type { Slot } from "./slot.ts";
import { sameWanted, type WantedOrder } from "./wanted-order.ts";
import type { RefusalState, World } from "./world.ts";

export const noRefusals = (): RefusalState => ({
  retried: undefined,
  relistedAt: Number.NEGATIVE_INFINITY,
  phase: "running",
});

/** `isNews` is true if it was not reported before. */
interface Refused {
  readonly effects: Effects;
  readonly isNews: boolean;
}

/** Shortest time between two reads of the list of instruments. */
const relistMs = 60_000;
/**
 * A general reason with an event of its own, such as a journal that cannot be written, is reported at most once in this
 * time for a slot.
 */
const generalMs = 600_000;
/** Time for which an order waits for the first quote of its product before it is reported as refused. */
const firstQuoteMs = 10_000;
/** Time between two checks of a refused order that closes a protected position. A check costs no request. */
const reservedMs = 1_000;

export const refuseWanted = (
  state: World,
  slot: Slot,
  wanted: WantedOrder,
  ruling: Exclude<Ruling, Approval>,
): Refused => {
  const { reason, crowded, isGeneral, isUnquoted } = ruling;
  if (crowded === true) state.waits.set("room", slot);
  if (sameWanted(wanted, slot.settled)) return { effects: noEffects, isNews: false };
  slot.settled = wanted;
  slot.refused = true;
  const effects: Effect[] = slot.reserved ? [...lookAgain(state, slot)] : [];
  if (isUnquoted === true && waitsForQuote(state, slot, effects)) return { effects, isNews: false };
  const before = slot.refusal;
  const { now } = state;
  const isRecent = isGeneral === true && !slot.byHand && before !== undefined && now - before.at < generalMs;
  // The order was checked again and refused for the same reason. That is not news.
  const isRetried = state.refusals.retried === slot && sameWanted(wanted, before?.wanted);
  const isKnown = before?.reason === reason && (isRecent || isRetried);
  slot.refusal = { wanted, reason, at: isKnown ? before.at : now };
  if (isKnown)
    return { effects: slot.reserved ? [...effects, ...relist(state, wanted.instId)] : effects, isNews: false };
  effects.push({ kind: "outside", what: "refuse", refusal: { strategy: slot.strategy, slot: slot.name, reason } });
  return { effects, isNews: true };
};

/** Requests the list of instruments if it lacks this one, at most once a minute. */
export const relist = ({ options, refusals, now }: World, instId: string): Effects => {
  if (options.instruments().has(instId) || now - refusals.relistedAt < relistMs) return noEffects;
  refusals.relistedAt = now;
  return [{ kind: "outside", what: "relist", instId }];
};

/** Called when the reason of a refusal may be over. The slot is checked again. */
export const retryRefused = (state: World, slot: Slot): Effects => {
  state.waits.delete("room", slot);
  if (slot.refused && slot.order === undefined) slot.settled = undefined;
  slot.refused = false;
  state.refusals.retried = slot;
  return [evaluate(slot), next(() => endRetry(state, slot))];
};

const endRetry = ({ refusals, waits }: World, slot: Slot): Effects => {
  refusals.retried = undefined;
  if (slot.refused) return noEffects;
  slot.refusal = undefined;
  waits.delete("first quote", slot);
  return noEffects;
};

/** Called when an order has ended. The first `most` orders that found no room are tried again. */
export const retryCrowded = (state: World, most: number): Effects => {
  if (state.waits.count("room") === 0) return noEffects;
  return state.waits
    .of("room")
    .slice(0, most)
    .map((slot) => next(() => retryRefused(state, slot)));
};

/** Called when the engine ends. Reports the orders for whose product no quote has arrived. */
export const endQuoteWaits = (state: World): Effects => {
  state.refusals.phase = "ending";
  const waiting = state.waits.of("first quote").filter((slot) => slot.refused && slot.wanted !== undefined);
  return waiting.map((slot) => next(() => retryRefused(state, slot)));
};

/**
 * Returns true while the order waits for the first quote of its product without being reported. An order placed by hand
 * is answered at once.
 */
const waitsForQuote = (state: World, slot: Slot, effects: Effect[]): boolean => {
  const { waits, refusals, options } = state;
  if (slot.byHand || refusals.phase !== "running") return false;
  const known = waits.get("first quote", slot);
  if (known !== undefined) return state.now < known.until;
  if (options.priceSilenceMs === undefined) waits.set("first quote", slot);
  else effects.push(retryAfter(state, "first quote", slot, firstQuoteMs));
  return true;
};

/** No strategy repeats an order that closes a protected position, so it is checked again until it may leave. */
const lookAgain = (state: World, slot: Slot): Effects =>
  state.waits.get("ruling", slot) === undefined ? [retryAfter(state, "ruling", slot, reservedMs)] : noEffects;

const retryAfter = (state: World, cause: "first quote" | "ruling", slot: Slot, ms: number): Effect => {
  const { waits, refusals } = state;
  const wait = waits.set(cause, slot, state.now + ms);
  const due = (): Effects => {
    if (waits.get(cause, slot) !== wait) return noEffects;
    if (cause === "ruling") waits.delete(cause, slot);
    const isWanted = refusals.phase !== "ended" && slot.refused && slot.wanted !== undefined;
    return isWanted ? retryRefused(state, slot) : noEffects;
  };
  return { kind: "schedule", at: wait.until, due };
};
