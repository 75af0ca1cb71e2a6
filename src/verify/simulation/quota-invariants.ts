/**
 * Watches what the service's limits say of our requests: who caused a refusal, and whether the way out stays affordable.
 *
 * Invariants: judged by the service's own windows at the instant of arrival; whatever anybody else did in a window excuses that
 * window and no other.
 */
import type { Contract } from "../../contract/contract.ts";
import { limitedStatus, limitHeaders } from "../../contract/limits.ts";
import type { WireRequest, WireResponse } from "../../contract/transport.ts";
import { defaultReserve } from "../../scheduler/quota/reserve.ts";
import type { Invariant } from "./invariants.ts";

export interface QuotaInvariants {
  /** Somebody or something else weighs on the present window. */
  excuse(): void;
  /** The service's clock has moved: windows cannot be told for a while. */
  excuseFor(ms: number): void;
  arrived(request: WireRequest, response: WireResponse, liveOrders: number): void;
  left(request: WireRequest): void;
  /** An answer was told to the engine: a refusal by a limit shuts the minute in its eyes, anything else opens it. */
  heard(refused: boolean): void;
  readonly counts: { refused: number; excused: number };
}

/** Once it has heard of a refusal by a minute's limit, an engine may knock this often at the shut door in that minute. */
const knocksMax = 3;
/** So near to a window's end the reserve may have been lent, and nobody can tell the windows apart. */
const edgeMs = 3_000;

export const createQuotaInvariants = (
  { layers }: Contract,
  serviceNow: () => number,
  fail: (invariant: Invariant, text: string) => void,
): QuotaInvariants => {
  const { windowMs, capacity } = layers.uid;
  const { exitWeight, ordersPerExit } = defaultReserve;
  const counts = { refused: 0, excused: 0 };
  let excusedUntil = Number.NEGATIVE_INFINITY;
  const windowEnd = (): number => (Math.floor(serviceNow() / windowMs) + 1) * windowMs;
  const excuseTo = (at: number): void => {
    excusedUntil = Math.max(excusedUntil, at);
  };
  const minute = (): number => Math.floor(serviceNow() / windowMs);
  let shutMinute = Number.NEGATIVE_INFINITY;
  let knocks = 0;
  const leftInto = new WeakMap<WireRequest, boolean>();
  const knocked = (request: WireRequest, headers: WireResponse["headers"]): void => {
    // The key's second opens again at once; only the minute stays shut.
    if (headers[limitHeaders.keyRemaining] === "0" || leftInto.get(request) !== true) return;
    if (++knocks > knocksMax) fail("I7", `${request.endpoint} is the ${knocks}th request into a minute known to be shut`);
  };
  return {
    counts,
    left: (request) => {
      leftInto.set(request, minute() === shutMinute);
    },
    heard: (refused) => {
      if (!refused) shutMinute = Number.NEGATIVE_INFINITY;
      if (!refused || shutMinute === minute()) return;
      shutMinute = minute();
      knocks = 0;
    },
    excuse: () => {
      excuseTo(windowEnd());
    },
    excuseFor: (ms) => {
      excuseTo(serviceNow() + ms);
    },
    arrived: (request, { status, headers }, liveOrders) => {
      const { endpoint } = request;
      const excused = serviceNow() < excusedUntil;
      if (status === limitedStatus) {
        counts.refused++;
        knocked(request, headers);
        if (excused) counts.excused++;
        else fail("I7", `${endpoint} is refused by a limit (${JSON.stringify(headers)})`);
        return;
      }
      const used = Number(headers[limitHeaders.uidUsed]);
      if (endpoint !== "placeOrder" || excused || Number.isNaN(used) || windowEnd() - serviceNow() < edgeMs) return;
      const needed = exitWeight * Math.ceil(liveOrders / ordersPerExit);
      if (capacity - used < needed) {
        fail("I5", `${capacity - used} weight is left of the minute while cancelling ${liveOrders} orders takes ${needed}`);
      }
    },
  };
};
