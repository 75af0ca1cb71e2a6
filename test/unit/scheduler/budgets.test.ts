/** What one strategy may spend a minute, whatever the others leave. */
import { describe, expect, it } from "vitest";
import { createVirtualClock } from "../../../src/clock/virtual-clock.ts";
import { EventLog } from "../../../src/journal/event-log.ts";
import type { ActionClass } from "../../../src/journal/events.ts";
import { Budgets } from "../../../src/scheduler/priority.ts";
import { createLedger } from "../../../src/scheduler/quota/ledger.ts";
import { createScheduler } from "../../../src/scheduler/scheduler.ts";

const account = { uid: "u", ip: "home", keys: ["k"] };

const stage = (budgets: Readonly<Record<string, number>>) => {
  const clock = createVirtualClock(0);
  const sent: { owner: string; at: number }[] = [];
  const journal = new EventLog(() => clock.now());
  journal.attach((event) => {
    if (event.type === "action.sent") sent.push({ owner: event.owner, at: event.at });
  });
  const scheduler = createScheduler({
    clock,
    journal,
    budgets,
    ledger: createLedger({ layers: [], startedAt: 0, quietMs: 0 }),
    transport: (_, sink) => {
      sink.response({ status: 200, headers: {}, body: undefined });
    },
  });
  const ask = (owner: string, kind: ActionClass = "place") =>
    scheduler.submit({
      endpoint: "placeOrder",
      class: kind,
      owner,
      weight: 10,
      account,
      build: () => ({ endpoint: "placeOrder", method: "POST", path: "", query: {}, body: undefined, key: "k" }),
      done: () => undefined,
    });
  return { clock, sent, ask };
};

describe("A strategy's quota budget", () => {
  it("holds back its strategy until the next minute and nobody else", () => {
    const it = stage({ greedy: 30 });
    for (let i = 0; i < 5; i++) it.ask("greedy");
    for (let i = 0; i < 5; i++) it.ask("other");
    it.clock.advanceTo(59_999);
    expect(it.sent.filter(({ owner }) => owner === "greedy")).toHaveLength(3);
    expect(it.sent.filter(({ owner }) => owner === "other")).toHaveLength(5);
    it.clock.advanceTo(60_001);
    expect(it.sent.filter(({ owner }) => owner === "greedy")).toHaveLength(5);
  });

  it("never holds back an exit, nor counts it", () => {
    const it = stage({ greedy: 10 });
    it.ask("greedy", "cancel");
    it.ask("greedy", "emergency");
    it.ask("greedy");
    it.ask("greedy");
    it.ask("greedy", "cancel");
    it.clock.advanceTo(1_000);
    // Three exits and the one placement the budget allows.
    expect(it.sent).toHaveLength(4);
  });

  it("lets a single call through that weighs more than all of it", () => {
    const budgets = new Budgets({ small: 5 });
    expect(budgets.blockedUntil("small", 10, 0)).toBeUndefined();
    budgets.spend("small", 10, 0);
    expect(budgets.blockedUntil("small", 10, 100)).toBe(60_000);
    expect(budgets.blockedUntil("small", 10, 60_000)).toBeUndefined();
  });
});
