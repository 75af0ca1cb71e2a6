/** Every state of an order under every event, found by breadth-first search from the ways in which an order begins. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { createContract } from "../../../src/contract/contract.ts";
import type { OrderRecord } from "../../../src/contract/schemas.ts";
import { read } from "../../../src/decimal-value.ts";
import { advance, foundOrder, isClosed, isResting, Order, recalledOrder } from "../../../src/orders/order-state.ts";
import { builtOrder, builtSpec, builtTerms } from "../../support/built-orders.ts";
import { bid } from "../../support/harness/orders.ts";

type OrderEvent = Parameters<typeof advance>[1];

const termsAt = (px: string) =>
  builtTerms({ spec: { ...builtSpec, px, sz: "1" }, qty: read("1"), wanted: bid({ px }) });
const recordIn = (state: OrderRecord["state"], accFillSz = "0", px = "10"): OrderRecord => ({
  instId: builtSpec.instId,
  ordId: "7",
  clOrdId: "c",
  px,
  sz: "1",
  ordType: "limit",
  side: "buy",
  state,
  avgPx: "",
  accFillSz,
  fee: "",
  createdAt: "0",
  updatedAt: "0",
});
const events: readonly OrderEvent[] = [
  { type: "notExecuted", reason: "r" },
  { type: "withdrawn" },
  { type: "rejected", reason: "r" },
  { type: "acknowledged", ordId: "7" },
  { type: "doubted", reason: "r", verdict: "" },
  { type: "doubted", reason: "r", verdict: "51000 no" },
  ...(["10", "11"] as const).flatMap((px): OrderEvent[] => [
    { type: "recorded", record: recordIn("live", "0", px) },
    { type: "recorded", record: recordIn("partially_filled", "0.5", px) },
    { type: "recorded", record: recordIn("filled", "1", px) },
    { type: "recorded", record: recordIn("canceled", "0", px) },
  ]),
  { type: "provedAbsent" },
  { type: "noted", reason: "n" },
  { type: "left", at: 1 },
  { type: "claimed", strategy: "t", slot: "b" },
  { type: "suited", wanted: bid({ px: "12" }) },
  { type: "cancel", move: "asked", urgency: "place", reason: "replaced" },
  { type: "cancel", move: "asked", urgency: "cancel", reason: "unwanted" },
  { type: "cancel", move: "asked", urgency: "emergency", reason: "halted" },
  { type: "cancel", move: "recalled" },
  { type: "cancel", move: "sent" },
  { type: "cancel", move: "ended", end: "accepted", reason: "" },
  { type: "cancel", move: "ended", end: "failed", reason: "f" },
  { type: "cancel", move: "ended", end: "unsure", reason: "" },
  { type: "change", move: "asked" },
  { type: "change", move: "sent", to: termsAt("11") },
  { type: "change", move: "ended", end: "notSent" },
  { type: "change", move: "ended", end: "barred" },
  { type: "change", move: "ended", end: "refused" },
  { type: "change", move: "ended", end: "doubtful" },
];

const failuresMax = 2;
const nameOf = ({ state }: Order): string => (state.kind === "closed" ? `closed: ${state.ending.kind}` : state.kind);
const keyOf = (order: Order): string =>
  [
    nameOf(order),
    order.phase,
    order.state.kind === "unknown" ? order.state.verdict : "",
    order.record?.state,
    order.record?.px,
    order.unwanted?.urgency,
    order.unwanted?.isReplaced,
    order.cancel.kind,
    order.cancel.mayHaveCut,
    Math.min(order.cancel.failures, failuresMax),
    order.change.kind,
    order.spec.px,
    order.serves?.px,
  ].join("|");
const copyOf = (order: Order): Order => Object.assign(Object.create(Order.prototype as object) as Order, order);

interface Move {
  readonly from: Order;
  readonly event: OrderEvent;
  readonly to: Order;
  readonly isSame: boolean;
  readonly isVisible: boolean;
}

const allMoves = (): readonly Move[] => {
  const found = foundOrder(recordIn("live"), createVirtualClock(0), createContract().profile);
  const queue = [
    new Order("s", "a", "c", termsAt("10"), "placed", 0),
    recalledOrder("c", { ...builtSpec, px: "10", sz: "1" }, 0),
    found,
  ];
  const seen = new Set(queue.map(keyOf));
  const moves: Move[] = [];
  for (let from = queue.shift(); from !== undefined; from = queue.shift()) {
    const fromKey = keyOf(from);
    for (const event of events) {
      const to = copyOf(from);
      const isVisible = advance(to, event);
      const key = keyOf(to);
      moves.push({ from, event, to, isSame: key === fromKey, isVisible });
      if (seen.has(key)) continue;
      seen.add(key);
      queue.push(to);
    }
  }
  return moves;
};

const moves = allMoves();
const broken = (isBroken: (move: Move) => boolean): readonly string[] =>
  moves
    .filter(isBroken)
    .slice(0, 3)
    .map(({ from, event, to }) => `${keyOf(from)} -- ${event.type} --> ${keyOf(to)}`);

const evidence: readonly OrderEvent["type"][] = ["recorded", "rejected", "provedAbsent", "notExecuted", "withdrawn"];
const rank = { submitted: 0, notExecuted: 0, unknown: 0, acknowledged: 1, open: 2, closed: 3 } as const;

describe("An order", () => {
  it("moves between its states as its table says, and in no other way", () => {
    const table = new Map<string, Set<string>>();
    for (const { from, event, to } of moves) {
      if (nameOf(from) === nameOf(to)) continue;
      const row = `${nameOf(from)} > ${nameOf(to)}`;
      table.set(row, (table.get(row) ?? new Set()).add(event.type));
    }
    expect(Object.fromEntries([...table].map(([row, types]) => [row, [...types].join(" ")]))).toEqual({
      "submitted > notExecuted": "notExecuted",
      "submitted > closed: withdrawn": "notExecuted",
      "submitted > closed: rejected": "rejected",
      "submitted > acknowledged": "acknowledged",
      "submitted > unknown": "doubted",
      "submitted > open": "recorded",
      "submitted > closed: filled": "recorded",
      "submitted > closed: canceled": "recorded",
      "notExecuted > closed: withdrawn": "withdrawn",
      "unknown > open": "recorded",
      "unknown > closed: filled": "recorded",
      "unknown > closed: canceled": "recorded",
      "unknown > closed: neverExisted": "provedAbsent",
      "unknown > closed: rejected": "provedAbsent",
      "acknowledged > open": "recorded",
      "acknowledged > closed: filled": "recorded",
      "acknowledged > closed: canceled": "recorded",
      "acknowledged > closed: lost": "provedAbsent",
      "open > closed: filled": "recorded",
      "open > closed: canceled": "recorded",
      "open > closed: lost": "provedAbsent",
    });
    expect(moves.length).toBeGreaterThan(100_000);
  });

  it("stays closed once it is", () => {
    const known: readonly OrderEvent["type"][] = ["left", "claimed"];
    const isBroken = ({ from, event, isSame, isVisible }: Move): boolean =>
      isClosed(from) && (isVisible || (!known.includes(event.type) && !isSame));
    expect(broken(isBroken)).toEqual([]);
  });

  it("is closed by evidence only: a record, a code that means no, or a proof of absence", () => {
    expect(broken(({ from, event, to }) => !isClosed(from) && isClosed(to) && !evidence.includes(event.type))).toEqual(
      [],
    );
  });

  it("loses no knowledge: neither a state further on, nor its record, its id, or a cancel that may have taken effect", () => {
    expect(broken(({ from, to }) => rank[to.state.kind] < rank[from.state.kind])).toEqual([]);
    expect(broken(({ from, to }) => from.record !== undefined && to.record === undefined)).toEqual([]);
    expect(broken(({ from, to }) => from.ordId !== "" && to.ordId === "")).toEqual([]);
    expect(broken(({ from, to }) => from.cancel.mayHaveCut && !to.cancel.mayHaveCut)).toEqual([]);
  });

  it("takes no answer for more than a record", () => {
    const answers: readonly OrderEvent["type"][] = ["rejected", "acknowledged", "doubted", "notExecuted"];
    expect(
      broken(
        ({ from, event, to }) => from.record !== undefined && answers.includes(event.type) && from.state !== to.state,
      ),
    ).toEqual([]);
  });

  it("says so whenever its phase, its record's figures, its price or its size change", () => {
    const shown = ({ phase, record, spec }: Order): string =>
      [phase, record?.state, record?.accFillSz, spec.px, spec.sz].join(" ");
    expect(broken(({ from, to, isVisible }) => shown(from) !== shown(to) && !isVisible)).toEqual([]);
  });

  it("is canceling only while it rests, and changed one change at a time", () => {
    expect(broken(({ to }) => to.phase === "canceling" && !isResting(to))).toEqual([]);
    const isSecond = ({ from, event, to }: Move): boolean =>
      event.type === "change" && event.move === "asked" && from.change.kind !== "none" && from.change !== to.change;
    expect(broken(isSecond)).toEqual([]);
  });

  it("that a rate limit kept from being executed is over at once if a cancel of it was asked for meanwhile", () => {
    const order = builtOrder();
    advance(order, { type: "cancel", move: "asked", urgency: "cancel", reason: "unwanted" });
    expect(advance(order, { type: "notExecuted", reason: "refused by a rate limit" })).toBe(true);
    expect([order.phase, order.reason]).toEqual(["canceled", "withdrawn before it was executed"]);
  });

  it("counts cancels in a row that changed nothing, and an accepted one ends the row", () => {
    const order = builtOrder({ phase: "live", cancel: "cancel" });
    const failures: number[] = [];
    for (const end of ["failed", "unsure", "failed", "accepted"] as const) {
      advance(order, { type: "cancel", move: "sent" });
      advance(order, { type: "cancel", move: "ended", end, reason: "no" });
      failures.push(order.cancel.failures);
    }
    expect(failures).toEqual([1, 2, 3, 0]);
    expect(order.cancel.mayHaveCut).toBe(true);
  });

  it("becomes what it was changed to when a record shows that, and is not changed again after doubt", () => {
    const changed = (end: "doubtful" | undefined) => {
      const order = builtOrder({ ...termsAt("10"), phase: "live" });
      advance(order, { type: "change", move: "asked" });
      advance(order, { type: "change", move: "sent", to: termsAt("11") });
      if (end !== undefined) advance(order, { type: "change", move: "ended", end });
      const isVisible = advance(order, { type: "recorded", record: recordIn("live", "0", "11") });
      return [isVisible, order.spec.px, order.serves?.px, order.change.kind];
    };
    expect(changed(undefined)).toEqual([true, "11", "11", "none"]);
    expect(changed("doubtful")).toEqual([true, "11", "11", "barred"]);
  });
});
