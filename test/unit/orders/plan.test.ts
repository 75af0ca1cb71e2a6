/**
 * The next step of a slot, as a table.
 */
import { describe, expect, it } from "vitest";
import type { OrderPhase } from "../../../src/journal/events.ts";
import { advance, type Order } from "../../../src/orders/order-state.ts";
import { planSlot } from "../../../src/orders/plan.ts";
import { type Specified, sameWanted, type WantedOrder, wantedMark } from "../../../src/orders/wanted-order.ts";
import { builtOrder } from "../../support/built-orders.ts";
import { bid } from "../../support/harness/orders.ts";

type SlotView = Parameters<typeof planSlot>[0];

const specOf = (wanted: WantedOrder) =>
  ({
    instId: wanted.instId,
    side: wanted.side,
    ordType: "limit",
    px: wanted.px ?? "",
    sz: wanted.qty ?? "",
    reduceOnly: false,
  }) as const;
const specify = (wanted: WantedOrder): Specified =>
  wanted.qty === "0" ? { ok: false, reason: "zero" } : { ok: true, spec: specOf(wanted), baseQty: undefined };
const order = (phase: OrderPhase, cancel?: "cancel"): Order =>
  builtOrder({ wanted: bid(), spec: specOf(bid()), phase, ...(cancel !== undefined && { cancel }) });
const wanted = bid();
const dearer = bid({ px: "60001" });
const changing = (): Order => {
  const changed = order("live");
  advance(changed, { type: "change", move: "asked" });
  return changed;
};

describe("The next step of a slot:", () => {
  it.each<[string, Partial<SlotView>, string]>([
    ["nothing wanted, nothing there", {}, "nothing"],
    ["wanted and nothing there", { wanted }, "place"],
    ["wanted and queued", { wanted, isQueued: true }, "nothing"],
    ["queued and not wanted any more", { isQueued: true }, "withdraw"],
    ["queued and not allowed any more", { wanted, isQueued: true, mayPlace: false }, "withdraw"],
    ["not allowed", { wanted, mayPlace: false }, "nothing"],
    ["settled", { wanted, settled: wanted }, "nothing"],
    ["another one is settled", { wanted, settled: dearer }, "place"],
    ["the last one is over", { wanted, order: order("filled") }, "place"],
    ["rests as wanted", { wanted, order: order("live") }, "nothing"],
    ["rests and is not wanted", { order: order("live") }, "cancel unwanted"],
    ["rests at another price", { wanted: dearer, order: order("partially_filled") }, "cancel replaced"],
    ["is being changed, and another price is wanted", { wanted: dearer, order: changing(), mayAmend: true }, "nothing"],
    [
      "is being changed, and an exit is wanted",
      { wanted: bid({ reduceOnly: true, px: "60001" }), order: changing() },
      "cancel replaced",
    ],
    ["rests and the new wanted cannot be said", { wanted: bid({ qty: "0" }), order: order("live") }, "cancel replaced"],
    ["rests on the other side", { wanted: bid({ side: "sell" }), order: order("live") }, "cancel replaced"],
    ["leaves and is wanted again", { wanted, order: order("live", "cancel") }, "keep"],
    ["leaves and is not wanted", { order: order("canceling", "cancel") }, "cancel unwanted"],
    ["on its way and not wanted", { order: order("sent") }, "nothing"],
    ["unknown and not wanted", { order: order("unknown") }, "nothing"],
    ["unknown and wanted otherwise", { wanted: dearer, order: order("unknown") }, "nothing"],
    ["accepted and not wanted", { order: order("acked") }, "cancel unwanted"],
  ])("%s", (_, view, expected) => {
    const whole: SlotView = {
      wanted: undefined,
      order: undefined,
      isQueued: false,
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
  expect(sameWanted(bid(), bid(over))).toBe(same);
  expect(wantedMark(bid()) === wantedMark(bid(over))).toBe(same);
});
