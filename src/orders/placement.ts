/**
 * Placement of orders: queued without content, decided when quota is granted, read when answered.
 *
 * Invariants: what is sent is the wanted order as it is then, by the instruments as they are then; a placement is sent once whatever
 * becomes of its response; it was rejected only by a code that is known to mean so; a refusal costs no request.
 * Not here: whether there should be one (plan.ts), what may be sent (risk/pre-trade-checks.ts).
 */

import type { Gateway } from "../client/gateway.ts";
import type { Outcome } from "../client/outcome.ts";
import type { Clock } from "../clock/clock.ts";
import type { Contract } from "../contract/contract.ts";
import { instTypeOf } from "../contract/inst-id.ts";
import { elementVerdict } from "../contract/rejections.ts";
import type { ElementResult, PlaceBody } from "../contract/schemas.ts";
import { isSluiceError } from "../errors.ts";
import type { ActionClass } from "../journal/events.ts";
import type { OrderLifecycle } from "./order-lifecycle.ts";
import type { Ruling } from "./risk/pre-trade-checks.ts";
import type { Slot, Slots } from "./slots.ts";
import { isOver, type TrackedOrder } from "./tracked-order.ts";
import type { UnknownOrders } from "./unknown-orders.ts";
import { isSettled, type WantedOrder } from "./wanted-order.ts";

export interface Placement {
  queue(slot: Slot): void;
  /** Takes a waiting placement out of the queue. */
  readonly unqueue: (slot: Slot) => void;
  /** The queue a placement of this wish belongs to: urgency and permission differ. */
  laneOf(wish: WantedOrder): string;
}

interface PlacementOptions {
  readonly clock: Clock;
  readonly contract: Contract;
  readonly gateway: Gateway;
  readonly slots: Slots;
  readonly lifecycle: () => OrderLifecycle;
  readonly unknownOrders: UnknownOrders;
  readonly ruling: (slot: Slot, wish: WantedOrder) => Ruling;
  /** False while it may not be placed at all, or has to wait. */
  readonly mayPlace: (slot: Slot, wish: WantedOrder) => boolean;
  readonly refuse: (slot: Slot, wish: WantedOrder, ruling: Extract<Ruling, { approved: false }>) => void;
  /** The service took the order. */
  readonly onAccepted: (order: TrackedOrder, ordId: string) => void;
}

const classOf = ({ reduceOnly }: WantedOrder): ActionClass => (reduceOnly === true ? "close" : "place");

export const createPlacement = (options: PlacementOptions): Placement => {
  const { clock, contract, gateway, slots, unknownOrders, ruling, refuse } = options;
  const { permissions } = contract.profile;

  const permissionOf = ({ instId }: WantedOrder): string => (instTypeOf(instId) === "SPOT" ? permissions.placeSpot : permissions.placeSwap);
  const laneOf = (wish: WantedOrder): string => `${classOf(wish)} ${permissionOf(wish)}`;

  /** What to send now that the slot has opened. */
  const decide = (slot: Slot): TrackedOrder | undefined => {
    slot.queued = undefined;
    const { wish } = slot;
    if (wish === undefined || slot.order !== undefined || isSettled(wish, slot.settledMark) || !options.mayPlace(slot, wish))
      return undefined;
    const verdict = ruling(slot, wish);
    if (!verdict.approved) {
      refuse(slot, wish, verdict);
      return undefined;
    }
    const order = slots.open(slot, wish, verdict.spec, verdict.baseQty, clock.now());
    options.lifecycle().transition(order, "sent", "placed");
    return order;
  };

  const read = (order: TrackedOrder, outcome: Outcome<ElementResult>): void => {
    switch (outcome.kind) {
      case "done":
        readElement(order, outcome.records[0]);
        return;
      case "refused":
        reject(order, wordsOf(outcome));
        return;
      case "limited":
        if (order.record === undefined) options.lifecycle().requeue(order, "refused by a rate limit");
        return;
      case "dropped":
        if (order.record === undefined) options.lifecycle().requeue(order, outcome.reason);
        return;
      case "unknown":
        order.verdict = outcome.unlisted === undefined ? "" : wordsOf(outcome.unlisted);
        unknownOrders.doubt(order, outcome.message);
    }
  };
  const readElement = (order: TrackedOrder, element: ElementResult | undefined): void => {
    const { sCode, sMsg, ordId, clOrdId } = element ?? { sCode: "0", sMsg: "", ordId: "", clOrdId: "" };
    // Whatever it says, it says it of another order.
    if (clOrdId !== "" && clOrdId !== order.clOrdId) {
      unknownOrders.doubt(order, `the answer to the placement names another order (${clOrdId})`);
      return;
    }
    // An order that was given an id exists, and ids of ours are never used twice: one that is taken was taken by this very order.
    const verdict = sCode === "0" || ordId !== "" ? "unproven" : elementVerdict(contract.profile, sCode);
    if (verdict === "rejected") reject(order, wordsOf({ code: sCode, msg: sMsg }));
    else if (sCode !== "0") {
      if (verdict === "unlisted") order.verdict = wordsOf({ code: sCode, msg: sMsg });
      unknownOrders.doubt(order, wordsOf({ code: sCode, msg: sMsg }));
    } else if (ordId === "") unknownOrders.doubt(order, "the answer to the placement cannot be read");
    else if (!isOver(order)) options.onAccepted(order, ordId);
  };
  /** A record outranks a reply: an order that was seen exists, whatever the answer says. */
  const reject = (order: TrackedOrder, reason: string): void => {
    if (order.record === undefined) options.lifecycle().end(order, "rejected", reason);
  };

  return {
    laneOf,
    unqueue: (slot) => {
      slot.queued?.withdraw();
      slot.queued = undefined;
    },
    queue: (slot) => {
      const wish = slot.wish as WantedOrder;
      const early = ruling(slot, wish);
      if (!early.approved) {
        refuse(slot, wish, early);
        return;
      }
      let order: TrackedOrder | undefined;
      const late = (): PlaceBody | undefined => {
        order = decide(slot);
        return order === undefined ? undefined : bodyOf(order);
      };
      const failed = (reason: string): void => {
        slot.queued = undefined;
        refuse(slot, wish, { approved: false, reason });
      };
      let ended = false;
      const done = (outcome: Outcome<ElementResult>): void => {
        ended = true;
        if (order !== undefined) read(order, outcome);
        else if (outcome.kind === "refused") failed(outcome.msg);
        else slot.queued = undefined;
      };
      try {
        const permission = permissionOf(wish);
        const withdraw = gateway.submit({
          endpoint: "placeOrder",
          class: classOf(wish),
          owner: slot.strategy,
          permission,
          input: late,
          done,
        });
        if (order === undefined && !ended) slot.queued = { withdraw, lane: laneOf(wish) };
      } catch (error) {
        if (!isSluiceError(error)) throw error;
        failed(error.message);
      }
    },
  };
};

const wordsOf = ({ code, msg }: { readonly code: string; readonly msg: string }): string => `${code} ${msg}`.trim();

const bodyOf = ({ spec, clOrdId }: TrackedOrder): PlaceBody => ({
  instId: spec.instId,
  side: spec.side,
  ordType: spec.ordType,
  sz: spec.sz,
  ...(spec.px === "" ? {} : { px: spec.px }),
  clOrdId,
  ...(spec.reduceOnly ? { reduceOnly: true } : {}),
});
