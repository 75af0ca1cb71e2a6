/**
 * The algebra of waiting cancels: a call takes along whatever it can at the moment it leaves.
 */
import { expect, it } from "vitest";
import { singly, unshared } from "../support/harness/gateway-variants.ts";
import { bid, lostAnswer, lostRequest, ready } from "../support/harness/orders.ts";
import { cancellingStories, savedBy, stories } from "../support/scenarios/orders.ts";

it("Cancels are packed as they leave: none that could go along stays behind, and the same orders rest in the end", () => {
  let most = 0;
  const saved = savedBy({
    stories: cancellingStories,
    seed: 3,
    on: { door: unshared },
    off: { door: (gateway) => singly(unshared(gateway)) },
    promise: ({ cancels }) => {
      for (const { taken, left } of cancels) {
        expect(left).toBe(0);
        most = Math.max(most, taken);
      }
    },
  });
  expect(most).toBeGreaterThan(2);
  expect(saved).toBeGreaterThan(0);
});

it("Cancels are packed as they leave whatever else goes on, and the same orders rest in the end", () => {
  const saved = savedBy({
    stories,
    seed: 6,
    on: { door: unshared },
    off: { door: (gateway) => singly(unshared(gateway)) },
    // Slower calls leave placements more time to become unnecessary.
    anyCost: true,
    promise: ({ cancels }) => {
      expect(cancels.filter(({ left }) => left > 0)).toEqual([]);
    },
  });
  expect(saved).toBeGreaterThan(0);
});

it("A cancel that was accepted is not sent again because its order is asked for again or its first record comes late", () => {
  const rig = ready({ push: false });
  rig.want(bid());
  rig.run(50);
  rig.want();
  rig.run(50);
  rig.orderManager.cancel(rig.orderManager.orders(), "cancel");
  const [record] = rig.truth();
  if (record !== undefined) rig.pushes$.next({ ...record, state: "live" });
  rig.run(100);
  expect(rig.count("cancelBatch")).toBe(1);
});

it.each([
  ["went unanswered", lostAnswer],
  ["showed no effect", {}],
])(
  "An order whose cancel %s ends by our doing, also when the next cancel is denied and it is wanted again",
  (_, fault) => {
    const rig = ready({ push: false });
    rig.want(bid());
    rig.run(3_000);
    rig.next("cancelBatch", fault);
    // The question that would save the second cancel is lost.
    rig.next("getOrder", lostRequest);
    rig.want();
    // The order is wanted again while the second cancel is on its way.
    for (let ms = 0; rig.count("cancelBatch") < 2 && ms < 30_000; ms++) rig.run(1);
    expect(rig.count("cancelBatch")).toBe(2);
    rig.want(bid());
    rig.run(60_000);
    expect(rig.resting()).toEqual(["buy 60000"]);
  },
);
