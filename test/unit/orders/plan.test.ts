/**
 * The next step of a slot, as a table.
 */
import { describe, expect, it } from "vitest";
import type { OrderPhase } from "../../../src/journal/events.ts";
import { planSlot } from "../../../src/orders/plan.ts";
import { newOrder, type TrackedOrder } from "../../../src/orders/tracked-order.ts";
import { type Specified, sameWish, type WantedOrder, wishMark } from "../../../src/orders/wanted-order.ts";
import { bid } from "../../support/harness/orders.ts";

type SlotView = Parameters<typeof planSlot>[0];

const specOf = (wish: WantedOrder) =>
  ({
    instId: wish.instId,
    side: wish.side,
    ordType: "limit",
    px: wish.px ?? "",
    sz: wish.qty ?? "",
    reduceOnly: false,
  }) as const;
const specify = (wish: WantedOrder): Specified =>
  wish.qty === "0" ? { ok: false, reason: "zero" } : { ok: true, spec: specOf(wish), baseQty: "" };
const order = (phase: OrderPhase, over: Partial<TrackedOrder> = {}): TrackedOrder => ({
  ...newOrder("s", "bid", "c", bid(), specOf(bid()), 0),
  phase,
  ...over,
});
const wanted = bid();
const dearer = bid({ px: "60001" });
const changing = { amendment: { spec: specOf(dearer), qty: "1", wish: dearer, sent: false } } as const;
const leaving = { cancelClass: "cancel" } as const;

describe("The next step of a slot:", () => {
  it.each<[string, Partial<SlotView>, string]>([
    ["nothing wanted, nothing there", {}, "nothing"],
    ["wanted and nothing there", { wish: wanted }, "place"],
    ["wanted and queued", { wish: wanted, queued: true }, "nothing"],
    ["queued and not wanted any more", { queued: true }, "unqueue"],
    ["queued and not allowed any more", { wish: wanted, queued: true, mayPlace: false }, "unqueue"],
    ["not allowed", { wish: wanted, mayPlace: false }, "nothing"],
    ["settled", { wish: wanted, settled: wanted }, "nothing"],
    ["another one is settled", { wish: wanted, settled: dearer }, "place"],
    ["the last one is over", { wish: wanted, order: order("filled") }, "place"],
    ["rests as wanted", { wish: wanted, order: order("live") }, "nothing"],
    ["rests and is not wanted", { order: order("live") }, "cancel unwanted"],
    ["rests at another price", { wish: dearer, order: order("partially_filled") }, "cancel replaced"],
    [
      "is being changed, and another price is wanted",
      { wish: dearer, order: order("live", changing), mayAmend: true },
      "nothing",
    ],
    [
      "is being changed, and an exit is wanted",
      { wish: bid({ reduceOnly: true, px: "60001" }), order: order("live", changing) },
      "cancel replaced",
    ],
    ["rests and the new wish cannot be said", { wish: bid({ qty: "0" }), order: order("live") }, "cancel replaced"],
    ["rests on the other side", { wish: bid({ side: "sell" }), order: order("live") }, "cancel replaced"],
    ["leaves and is wanted again", { wish: wanted, order: order("live", leaving) }, "keep-cancel-off"],
    ["leaves and is not wanted", { order: order("canceling", leaving) }, "cancel unwanted"],
    ["on its way and not wanted", { order: order("sent") }, "nothing"],
    ["unknown and not wanted", { order: order("unknown") }, "nothing"],
    ["unknown and wanted otherwise", { wish: dearer, order: order("unknown") }, "nothing"],
    ["accepted and not wanted", { order: order("acked") }, "cancel unwanted"],
  ])("%s", (_, view, expected) => {
    const whole: SlotView = {
      wish: undefined,
      order: undefined,
      queued: false,
      settled: undefined,
      mayPlace: true,
      ...view,
    };
    const step = planSlot(whole, specify);
    expect(step.kind === "cancel" ? `cancel ${step.reason}` : step.kind).toBe(expected);
  });
});

it.each<[Partial<WantedOrder>, boolean]>([
  [{}, true],
  [{ ordType: "limit" }, true],
  [{ reduceOnly: false }, true],
  [{ tag: "x", keepWithin: "1" }, true],
  [{ px: "1" }, false],
  [{ qty: "1" }, false],
  [{ notional: "1" }, false],
  [{ sz: "1" }, false],
  [{ side: "sell" }, false],
  [{ instId: "A-B" }, false],
  [{ ordType: "ioc" }, false],
  [{ reduceOnly: true }, false],
  [{ round: 1 }, false],
])("A wanted order that differs by %o is the same: %s, quickly and by its mark", (over, same) => {
  expect(sameWish(bid(), bid(over))).toBe(same);
  expect(wishMark(bid()) === wishMark(bid(over))).toBe(same);
});
