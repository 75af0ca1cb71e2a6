import { describe, expect, it } from "vitest";
import { failWith } from "../../../src/cli/halts.ts";
import { closingText, count, createTally, eventLine, progressLine } from "../../../src/cli/run-progress.ts";
import type { Event, EventBody } from "../../../src/journal/events.ts";
import { orderRecord } from "../../support/harness/records.ts";

const event = (body: EventBody): Event => ({ ...body, seq: 1, at: Date.UTC(2026, 0, 5, 1, 2, 3, 45) });
const order = {
  type: "order.changed",
  strategy: "ladder",
  slot: "bid",
  instId: "BTC-USDT-SWAP",
  clOrdId: "c",
  record: undefined,
  reason: "why",
} as const;

const foreign = {
  type: "order.external",
  ordId: "7",
  clOrdId: "",
  instId: "BTC-USDT",
  side: "buy",
  px: "42000",
  sz: "5",
  state: "live",
} as const;

const tallied = (...bodies: readonly EventBody[]) => {
  const tally = createTally(0);
  for (const body of bodies) count(tally, event(body));
  return tally;
};
const sent = (endpoint: "placeOrder" | "getOrder", weight: number): EventBody => ({
  type: "action.sent",
  action: 1,
  endpoint,
  class: "place",
  owner: "ladder",
  weight,
  key: "a",
  waitedMs: 0,
});

describe("The counters of a run", () => {
  it("counts requests, weight and placements", () => {
    expect(tallied(sent("placeOrder", 10), sent("getOrder", 5))).toMatchObject({ sent: 2, weight: 15, placed: 1 });
  });

  it("counts endings of orders, not their steps", () => {
    const phases = [
      "planned",
      "sent",
      "acked",
      "live",
      "partially_filled",
      "filled",
      "canceled",
      "rejected",
      "unknown",
    ] as const;
    expect(tallied(...phases.map((phase) => ({ ...order, phase })))).toMatchObject({
      filled: 1,
      canceled: 1,
      rejected: 1,
    });
  });

  it("counts what went wrong", () => {
    const tally = tallied(
      { type: "quota.rejected", layer: "uid", until: 5 },
      { type: "action.answered", endpoint: "placeOrder", outcome: "unknown", status: 0, code: "", elapsedMs: 1 },
      { type: "action.held", action: 1, endpoint: "placeOrder", class: "place", layer: "uid", until: 5 },
      { type: "order.refused", strategy: "ladder", slot: "bid", reason: "no exit" },
      { type: "strategy.failed", strategy: "ladder", message: "boom" },
      { type: "plugin.failed", plugin: "recorder", message: "full" },
      { type: "anomaly", what: "order", detail: "fell" },
      { type: "mode.changed", mode: "reducing", reason: "asked" },
    );
    expect(tally).toMatchObject({ limited: 1, unknown: 1, held: 1, refused: 1, anomalies: 1, mode: "reducing" });
    expect(tally.failures).toEqual(["strategy ladder: boom", "plugin recorder: full"]);
  });
});

const bare = {
  type: "position.unprotected",
  strategy: "a",
  slot: "in.exit",
  instId: "BTC-USDT-SWAP",
  side: "sell",
  qty: "0.02",
} as const;
const money = {
  px: "59885.7",
  qty: "0.5",
  fee: "-1.2",
  cost: "1.2",
  currency: "USDT",
  liquidity: "taker",
  position: "0",
} as const;
const shared = {
  type: "fill",
  strategy: "a",
  instId: "BTC-USDT-SWAP",
  clOrdId: "c",
  ordId: "1",
  side: "sell",
  ...money,
  recovered: false,
} as const;

describe("The text line of an event", () => {
  it.each<[string, EventBody, string]>([
    ["start", { type: "engine.started", strategies: ["a", "b"], plugins: ["c"] }, "started a, b with plugins c"],
    ["empty start", { type: "engine.started", strategies: [], plugins: [] }, "started without strategies"],
    ["stop", { type: "engine.stopped", reason: "asked" }, "stopped: asked"],
    ["fill", { ...order, phase: "filled", record: orderRecord() }, "filled ladder/bid buy BTC-USDT-SWAP 50 at 42000.5"],
    ["fill without a record", { ...order, phase: "filled" }, "filled ladder/bid"],
    ["rejection", { ...order, phase: "rejected" }, "rejected ladder/bid: why"],
    ["unknown outcome", { ...order, phase: "unknown" }, "unknown ladder/bid: why"],
    [
      "local refusal",
      { type: "order.refused", strategy: "ladder", slot: "bid", reason: "no exit" },
      "refused ladder/bid: no exit",
    ],
    ["another client's order", foreign, "open order not placed by this instance: buy 5 BTC-USDT at 42000 (7)"],
    [
      "another client's order that ended",
      { ...foreign, px: "", state: "canceled" },
      "canceled order not placed by this instance: buy 5 BTC-USDT at the market (7)",
    ],
    [
      "429",
      { type: "quota.rejected", layer: "uid", until: Date.UTC(2026, 0, 5, 1, 3) },
      "429 by the uid limit, blocked until 01:03:00.000",
    ],
    [
      "429 without end",
      { type: "quota.rejected", layer: "unknown", until: Number.POSITIVE_INFINITY },
      "429 by the unknown limit, blocked until -",
    ],
    [
      "a position without its stop in a halt",
      { ...bare, reason: "trading is stopped, exits included: loss" },
      "UNPROTECTED a/in.exit: 0.02 of BTC-USDT-SWAP without the wanted sell: trading is stopped, exits included: loss; `sluice ctl close --yes` closes it, a resume puts its exit back",
    ],
    [
      "a spot holding without its stop in a halt",
      { ...bare, instId: "BTC-USDT", reason: "trading is stopped, exits included: loss" },
      "UNPROTECTED a/in.exit: 0.02 of BTC-USDT without the wanted sell: trading is stopped, exits included: loss; `sluice ctl close --strategy a --yes` closes it, a resume puts its exit back",
    ],
    [
      "a position without its stop when the engine stops",
      { ...bare, reason: "the engine stops, and it holds this protection itself" },
      "UNPROTECTED a/in.exit: 0.02 of BTC-USDT-SWAP without the wanted sell: the engine stops, and it holds this protection itself; `sluice close <config>` closes it",
    ],
    [
      "a close of the account",
      { type: "position.closing", uid: "main", instId: "BTC-USDT-SWAP", pos: "0.5", clOrdId: "c" },
      "closing 0.5 BTC-USDT-SWAP of main at the market",
    ],
    [
      "what is closed",
      { type: "position.closed", uid: "main", instId: "BTC-USDT-SWAP", pos: "0.5" },
      "closed 0.5 BTC-USDT-SWAP of main",
    ],
    [
      "a share of what a close executed",
      { ...shared, slot: "#close" },
      "sold by the close: 0.5 BTC-USDT-SWAP of a at 59885.7, fee 1.2 USDT",
    ],
    ["halt", { type: "mode.changed", mode: "halted", reason: "loss" }, "HALTED: loss"],
    ["halt of one", { type: "strategy.halted", strategy: "ladder", reason: "loss" }, "HALTED ladder: loss"],
    ["mode", { type: "mode.changed", mode: "reducing", reason: "late" }, "mode reducing: late"],
    [
      "failure that begins with the name",
      { type: "strategy.failed", strategy: "ladder", message: "ladder: `wanted` emitted 7" },
      "strategy failed ladder: `wanted` emitted 7",
    ],
    [
      "failure",
      { type: "strategy.failed", strategy: "ladder", message: "\u001b[2J" },
      "strategy failed ladder: \\u001b[2J",
    ],
  ])("%s", (_, body, words) => expect(eventLine(event(body))).toBe(`01:02:03.045  ${words}`));

  it.each<[string, EventBody]>([
    [
      "an exit that nothing is left for",
      { type: "position.protected", strategy: "a", slot: "b.exit", instId: "BTC-USDT-SWAP", closed: true },
    ],
    ["fills of a strategy's orders", { ...shared, slot: "in" }],
    ["requests", sent("placeOrder", 10)],
    ["the mode in which an engine stops", { type: "mode.changed", mode: "halted", reason: "stop" }],
    ["orders that merely live", { ...order, phase: "live" }],
    ["cancels", { ...order, phase: "canceled" }],
  ])("is not written for %s", (_, body) => expect(eventLine(event(body))).toBeUndefined());
});

describe("The progress line", () => {
  it.each([
    [
      "half way",
      { at: 50, startAt: 0, endAt: 100, tradesAt: 0, pnl: "0", events: 7 },
      10_000,
      "████████████░░░░░░░░░░░░  50 %  7 events, 0:00:10 left",
    ],
    [
      "at the start nobody knows how long",
      { at: 0, startAt: 0, endAt: 100, tradesAt: 0, pnl: "0", events: 0 },
      10,
      "░░░░░░░░░░░░░░░░░░░░░░░░   0 %  0 events",
    ],
    [
      "beyond the end",
      { at: 200, startAt: 0, endAt: 100, tradesAt: 0, pnl: "0", events: 9 },
      10,
      "████████████████████████ 100 %  9 events, 0:00:00 left",
    ],
    [
      "of no span",
      { at: 0, startAt: 0, endAt: 0, tradesAt: 0, pnl: "0", events: 0 },
      10,
      "████████████████████████ 100 %  0 events, 0:00:00 left",
    ],
  ])("%s", (_, progress, elapsedMs, expected) => expect(progressLine(progress, elapsedMs, 100)).toBe(expected));

  it("leaves the last column free", () => {
    expect(progressLine({ at: 50, startAt: 0, endAt: 100, tradesAt: 0, pnl: "0", events: 7 }, 1, 30)).toHaveLength(29);
  });
});

describe("The closing summary", () => {
  it("adds up the run, and speaks of trouble only where there was some", () => {
    const tally = { ...createTally(0), sent: 5, weight: 50, placed: 2, filled: 1 };
    expect(closingText(tally, 61_000)).toBe(
      "Ran 0:01:01: 5 requests, weight 50, 0 held for quota, 0 refused with 429\nOrders: 2 placed, 1 filled, 0 canceled, 0 rejected, 0 refused before they were sent\n",
    );
    const strange = tallied(
      { type: "anomaly", what: "socket.lost", detail: "" },
      { type: "engine.stalled", lateMs: 300 },
      { type: "engine.stalled", lateMs: 400 },
    );
    expect(closingText({ ...strange, unknown: 2 }, 0)).toContain(
      "2 requests had no answer that proves the result.\n3 anomalies: engine.stalled 2 times, socket.lost.\n",
    );
  });
});

describe("The end of a run in which orders came to nothing", () => {
  const refused = { type: "order.refused", strategy: "a", slot: "s", reason: "too small" };
  const rejected = { type: "order.changed", phase: "rejected", strategy: "a", slot: "s", reason: "51008 no balance" };
  const placed = { type: "action.sent", endpoint: "placeOrder", weight: 10 };
  const ended = (events: readonly object[], stopping = false): string => {
    const tally = createTally(0);
    tally.stopping = stopping;
    for (const event of events) count(tally, { seq: 1, at: 0, ...event } as unknown as Event);
    try {
      failWith(tally, "Failed:");
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  };

  it.each([
    [
      "all were refused",
      [refused, refused],
      "No order was accepted: 2 refused before sending, 0 rejected by the service, first:\n  - too small",
    ],
    [
      "all were rejected",
      [placed, rejected],
      "No order was accepted: 0 refused before sending, 1 rejected by the service, first:\n  - 51008 no balance",
    ],
    ["one was accepted", [placed, placed, rejected, refused], ""],
    ["none was wanted", [], ""],
  ])("fails with the reason only where none was accepted: %s", (_, events, expected) => {
    expect(ended(events)).toBe(expected);
  });

  it("does not fail for what the stop took back", () => {
    expect(ended([refused], true)).toBe("");
  });
});
