/**
 * The algebra of waiting wanted orders: a replaced one never leaves, a withdrawn one takes its own placement with it.
 */
import { expect, it } from "vitest";
import type { Gateway } from "../../src/client/gateway.ts";
import { isResting } from "../../src/orders/order-state.ts";
import { sameWanted, type WantedOrder } from "../../src/orders/wanted-order.ts";
import { singly, unshared } from "../support/harness/gateway-variants.ts";
import type { Rig } from "../support/harness/orders.ts";
import { replacingStories, savedBy, stories, type WantedOrders } from "../support/scenarios/orders.ts";

/** What each slot wanted one after the other; undefined is a withdrawal. The first is what the desk knows. */
type Line = (WantedOrder | undefined)[];

/** How a new wanted order joins the line of those that were not carried out yet. */
type Joining = (line: Line, wanted: WantedOrder | undefined) => void;

/** Every replacement waits until the wanted order before it rests; a withdrawal still takes with it whatever waits. */
const replacementsWait: Joining = (line, wanted) => {
  if (wanted === undefined) line.length = 0;
  line.push(wanted);
};

/** A withdrawal waits until what it withdraws rests; of the wanted orders between two withdrawals the last counts. */
const withdrawalsWait: Joining = (line, wanted) => {
  if (wanted !== undefined && line.at(-1) !== undefined) line.pop();
  line.push(wanted);
};

/** Stands between a story and the desk, and gives each slot its next wanted order when the one before it was carried out. */
const oneByOne =
  (joining: Joining) =>
  (rig: Rig): WantedOrders => {
    const { orderManager, clock } = rig;
    const lines = new Map<string, Line>();
    const byHand = new Set<string>();
    const given = new Map<string, WantedOrder | undefined>();
    /** The wanted order of each slot that was cancelled by hand last: it has had its time. */
    const settled = new Map<string, WantedOrder>();

    const isDone = (name: string, wanted: WantedOrder | undefined): boolean => {
      const order = orderManager.orders().find((candidate) => candidate.slot === name);
      if (wanted === undefined) return order === undefined;
      return (
        sameWanted(settled.get(name), wanted) ||
        (order !== undefined && isResting(order) && sameWanted(order.serves, wanted))
      );
    };
    const giveAll = (strategy: string): void => {
      const declared: WantedOrder[] = [];
      for (const [name, [head]] of lines) {
        if (!byHand.has(name)) {
          if (head !== undefined) declared.push(head);
        } else if (!given.has(name) || given.get(name) !== head) {
          given.set(name, head);
          orderManager.wantOne(strategy, name, head);
        }
      }
      orderManager.want(strategy, declared);
    };
    const advance = (strategy: string): void => {
      let moved = false;
      for (const [name, line] of lines) {
        if (line.length < 2 || !isDone(name, line[0])) continue;
        line.shift();
        if (line[0] === undefined) settled.delete(name);
        moved = true;
      }
      if (moved) giveAll(strategy);
    };
    const join = (name: string, wanted: WantedOrder | undefined): void => {
      const line = lines.get(name) ?? [];
      lines.set(name, line);
      const last = line.at(-1);
      const isNews = last === undefined || wanted === undefined ? last !== wanted : !sameWanted(last, wanted);
      if (isNews) joining(line, wanted);
    };

    orderManager.listen(({ strategy }) => {
      clock.setTimer(clock.now(), () => {
        advance(strategy);
      });
    });
    return {
      want: (strategy, orders) => {
        for (const name of lines.keys())
          if (!byHand.has(name) && orders.every(({ slot }) => slot !== name)) join(name, undefined);
        for (const wanted of orders) join(wanted.slot, wanted);
        giveAll(strategy);
        advance(strategy);
      },
      wantOne: (strategy, name, wanted) => {
        byHand.add(name);
        join(name, wanted);
        giveAll(strategy);
        advance(strategy);
        return undefined;
      },
      cancel: (orders, urgency) => {
        for (const { slot } of orders) {
          const head = lines.get(slot)?.[0];
          if (head !== undefined) settled.set(slot, head);
        }
        orderManager.cancel(orders, urgency);
        for (const { strategy } of orders) advance(strategy);
      },
    };
  };

/** Neither packed nor shared: what is spent follows from what leaves, not from when. */
const plain = (gateway: Gateway): Gateway => singly(unshared(gateway));

it("A replaced wanted never leaves: the same orders rest in the end, for less", () => {
  const saved = savedBy({
    stories: replacingStories,
    seed: 1,
    on: { door: plain },
    off: { door: plain, wanted: oneByOne(replacementsWait) },
    promise: ({ placed }) => {
      for (const { px, wantedPx } of placed) expect(px).toBe(wantedPx);
    },
  });
  expect(saved).toBeGreaterThan(0);
});

it("A cancel annihilates its own queued placement: neither leaves, and the same orders rest in the end", () => {
  const saved = savedBy({
    stories,
    seed: 2,
    on: { door: plain },
    off: { door: plain, wanted: oneByOne(withdrawalsWait) },
    promise: ({ placed }) => {
      expect(placed.filter(({ wantedPx }) => wantedPx === undefined)).toEqual([]);
    },
  });
  expect(saved).toBeGreaterThan(0);
});
