/**
 * Follow-up of market orders that are no exits: at once where the amount bought too little, later each time where the market had no more.
 *
 * Invariants: where the market had no more, so many further orders of one wanted order at most, each after a longer pause; then what is
 * executed and what is missing is told once, and the wanted order is settled. One placed by hand is not followed then: its strategy sees
 * it end, and decides.
 * Not here: how much is left (remainder.ts), exits (exits.ts).
 */
import type { Clock } from "../clock/clock.ts";
import { sub } from "../decimal.ts";
import type { EventLog } from "../journal/event-log.ts";
import { endingOf, executedOf, pauseMs, type Remainder, takesOnly, wholeOf } from "./remainder.ts";
import type { Execution } from "./risk/exposure-entry.ts";
import type { Rest, Slot, Whole } from "./slot.ts";
import type { TrackedOrder } from "./tracked-order.ts";
import { sameWish } from "./wanted-order.ts";

type FollowedLeft = Extract<Remainder, { kind: "cut" | "rest" }>;

/** With the pauses between them they take two minutes. */
const followsMax = 8;

export class MarketFollowUp {
  readonly #clock: Clock;
  readonly #journal: EventLog;
  readonly #owner: { consider(slot: Slot): void };

  constructor(clock: Clock, journal: EventLog, owner: { consider(slot: Slot): void }) {
    this.#clock = clock;
    this.#journal = journal;
    this.#owner = owner;
  }

  /** False where no further order follows. */
  follow(slot: Slot, order: TrackedOrder, left: FollowedLeft, { filled }: Execution): boolean {
    const whole = wholeOf(slot.rest, order, filled);
    const before = slot.rest !== undefined && sameWish(slot.rest.wish, order.serves) ? (slot.rest.follows ?? 0) : 0;
    const isCut = left.kind === "cut";
    if (isCut && (slot.byHand || before === followsMax)) {
      slot.settled = order.serves;
      const orders = before === 0 ? "" : ` in ${before + 1} orders`;
      this.#tell(
        order,
        whole,
        `${executedOf(whole)}: the market had no more${orders}; ${sub(whole.wantedQty, whole.filledQty)} is missing`,
      );
      return false;
    }
    const follows = isCut ? before + 1 : before;
    const at = this.#clock.now() + (isCut ? pauseMs(follows) : 0);
    slot.rest = { wish: order.serves, ...left, whole, follows, at, vain: 0, reason: endingOf(order) };
    order.goesOn = true;
    if (!isCut) return true;
    this.#clock.setTimer(at, () => {
      if (slot.rest !== undefined && slot.order === undefined) this.#owner.consider(slot);
    });
    return true;
  }

  /** No further order follows this one; `rest` is what it was sent for. */
  end(slot: Slot, order: TrackedOrder, rest: Rest | undefined, left: Remainder, { filled }: Execution): void {
    const whole = wholeOf(rest, order, filled);
    // Also where a cancel was asked for meanwhile: it came to its end by itself.
    if (takesOnly(order) && order.phase === "canceled") slot.settled = order.serves;
    if (left.kind === "differs") this.#tell(order, whole, left.reason);
    else if (rest?.kind === "cut" && (order.phase === "rejected" || order.phase === "absent"))
      this.#tell(order, whole, `${executedOf(whole)}; the order for the rest is ${order.phase}: ${order.reason}`);
  }

  #tell(order: TrackedOrder, { wantedQty: qty, filledQty }: Whole, reason: string): void {
    const { strategy, slot, spec, clOrdId } = order;
    this.#journal.append({ type: "order.inexact", strategy, slot, instId: spec.instId, clOrdId, qty, filledQty, reason });
    // The strategy reads it in the last update of the order.
    if (order.phase !== "filled") order.reason = reason;
  }
}
