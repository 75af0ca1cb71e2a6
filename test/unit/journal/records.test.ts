/** What the lasting journal's records add up to: orders that may exist, and decisions that hold. */
import { describe, expect, it } from "vitest";
import { createDecisions, type DecisionRecord } from "../../../src/journal/decisions.ts";
import { createIntents, type Intent, type IntentRecord } from "../../../src/journal/intents.ts";

const intent = (clOrdId: string, over: Partial<Intent> = {}): Intent => ({
  uid: "ann",
  clOrdId,
  instId: "BTC-USDT-SWAP",
  side: "buy",
  ordType: "limit",
  px: "60000",
  sz: "10",
  reduceOnly: false,
  sentAt: 1_000,
  ...over,
});
const sent = (clOrdId: string, over: Partial<Intent> = {}): IntentRecord => ({
  type: "sent",
  ...intent(clOrdId, over),
});
const over = (clOrdId: string, uid = "ann"): IntentRecord => ({ type: "over", uid, clOrdId, phase: "filled" });
const unsent = (clOrdId: string): IntentRecord => ({ type: "unsent", uid: "ann", clOrdId });
const life = (number: number, at = number * 100): IntentRecord => ({ type: "life", number, at });
const intents = (...records: readonly IntentRecord[]) => {
  const taken = createIntents();
  for (const record of records) taken.take(record);
  return taken;
};

describe("Journalled intents", () => {
  it.each<[string, readonly IntentRecord[], readonly Intent[]]>([
    ["none, before anything was read", [], []],
    ["what was sent, oldest first", [sent("b"), sent("a")], [intent("b"), intent("a")]],
    ["what was sent once, though read twice", [sent("a"), sent("b"), sent("a")], [intent("a"), intent("b")]],
    ["not what is over", [sent("a"), sent("b"), over("a")], [intent("b")]],
    ["not what is over, though its sending is read again", [sent("a"), over("a"), sent("a")], []],
    ["not what is over, though that was read first", [over("a"), sent("a")], []],
    ["not what was kept back", [sent("a"), sent("b"), unsent("a")], [intent("b")]],
    ["what was kept back and sent after all", [sent("a"), unsent("a"), sent("a")], [intent("a")]],
    [
      "what another user sent under the same id",
      [sent("a"), sent("a", { uid: "bob" }), over("a")],
      [intent("a", { uid: "bob" })],
    ],
    [
      "what is told apart only by where the names end",
      [sent("b c", { uid: "a" }), over("bc", "a")],
      [intent("b c", { uid: "a" })],
    ],
    ["what was sent, whatever lives began", [life(1), sent("a"), life(2)], [intent("a")]],
  ])("are %s", (_, records, open) => {
    expect(intents(...records).open()).toEqual(open);
  });

  it("are told by a snapshot, and so is the life", () => {
    const taken = intents(life(3, 50), sent("a"), sent("b"), over("a"));
    const snapshot = taken.snapshot();
    expect(snapshot).toEqual([life(3, 50), sent("b")]);
    const again = intents(...snapshot);
    expect([again.life, again.open()]).toEqual([3, [intent("b")]]);
    expect(again.snapshot()).toEqual(snapshot);
  });

  it("tell of no end twice: after a snapshot no older record is read again", () => {
    const taken = intents(sent("a"), over("a"));
    taken.snapshot();
    taken.take(sent("a"));
    expect(taken.open()).toEqual([intent("a")]);
  });
});

describe("The run counter of a journal:", () => {
  it.each<[string, readonly IntentRecord[], number, number]>([
    ["is none at first", [], 0, 0],
    ["is the latest", [life(1), life(2)], 2, 200],
    ["is no earlier one that is read again", [life(2), life(1)], 2, 200],
    ["began when it was first said to", [life(2, 5), life(2, 9)], 2, 5],
    ["is not changed by orders", [life(2), sent("a"), over("a")], 2, 200],
  ])("%s", (_, records, number, at) => {
    const taken = intents(...records);
    expect(taken.life).toBe(number);
    expect(taken.snapshot()[0]).toEqual(life(number, at));
  });
});

describe("Journalled decisions:", () => {
  const mode = (strategy: string, word: "active" | "reducing" | "halted", reason = "why"): DecisionRecord =>
    ({ type: "mode", strategy, mode: word, reason }) as const;
  const held = (strategy: string, word: "reducing" | "halted", reason = "why") => ({ strategy, mode: word, reason });
  const decisions = (...records: readonly DecisionRecord[]) => {
    const taken = createDecisions();
    for (const record of records) taken.take(record);
    return taken;
  };

  it.each<[string, readonly DecisionRecord[], readonly object[]]>([
    ["are none at first", [], []],
    ["hold for whom they were made", [mode("grid", "halted")], [held("grid", "halted")]],
    [
      "are the latest of each",
      [mode("grid", "halted", "one"), mode("grid", "reducing", "two")],
      [held("grid", "reducing", "two")],
    ],
    [
      "end when it may trade again",
      [mode("grid", "halted"), mode("maker", "reducing"), mode("grid", "active")],
      [held("maker", "reducing")],
    ],
    [
      "of all do not end those of one",
      [mode("", "halted"), mode("grid", "halted"), mode("", "active")],
      [held("grid", "halted")],
    ],
    ["do not change by being read twice", [mode("grid", "halted"), mode("grid", "halted")], [held("grid", "halted")]],
  ])("%s", (_, records, expected) => {
    expect(decisions(...records).held()).toEqual(expected);
  });

  it("on all come first, then those on each by name, in whatever order they were made", () => {
    const names = ["maker", "", "grid", "arb"];
    for (const order of [names, names.toReversed()]) {
      const taken = decisions(...order.map((name) => mode(name, "halted")));
      expect(taken.held().map(({ strategy }) => strategy)).toEqual(["", "arb", "grid", "maker"]);
    }
  });

  it("keep the latest limits, and a snapshot tells all of it", () => {
    const taken = decisions(mode("grid", "halted"));
    expect(taken.limits).toBeUndefined();
    expect(taken.snapshot()).toEqual([mode("grid", "halted")]);
    taken.take({ type: "limits", limits: { maxOpen: 5 } });
    taken.take({ type: "limits", limits: { maxOpen: 9, maxLoss: "100" } });
    expect(taken.limits).toEqual({ maxOpen: 9, maxLoss: "100" });
    expect(taken.snapshot()).toEqual([
      { type: "limits", limits: { maxOpen: 9, maxLoss: "100" } },
      mode("grid", "halted"),
    ]);
    expect(decisions(...taken.snapshot()).snapshot()).toEqual(taken.snapshot());
  });

  it("hold nothing that was written beside them", () => {
    const taken = decisions(Object.assign({ note: "by hand" }, mode("grid", "halted")));
    expect(taken.held()).toEqual([held("grid", "halted")]);
  });
});
