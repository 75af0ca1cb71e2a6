/** Weights learned from the service's own count. */
import { describe, expect, it } from "vitest";
import { createContract } from "../../../../src/contract/contract.ts";
import { layersOf } from "../../../../src/scheduler/quota/layers.ts";
import { createLedger } from "../../../../src/scheduler/quota/ledger.ts";
import { Weights } from "../../../../src/scheduler/quota/weights.ts";

describe("Learned weights", () => {
  const serial = (weights: Weights, counts: readonly number[]): void => {
    for (const used of counts) {
      weights.noteSent("u");
      weights.noteUsed("u", "getOrder", used, 1, true);
    }
  };

  it("need three equal neighbouring differences, and fall at once with a smaller one", () => {
    const weights = new Weights();
    serial(weights, [100, 107, 114]);
    expect(weights.charged("getOrder", 5)).toBe(5);
    serial(weights, [121]);
    expect(weights.learned.get("getOrder")).toBe(7);
    expect(weights.charged("getOrder", 5)).toBe(7);
    serial(weights, [127]);
    expect(weights.charged("getOrder", 5)).toBe(5);
  });

  it("are not taught by answers that overtook each other", () => {
    const weights = new Weights();
    // Two placements of 10, the later one's answer first, then a cancel of 15: three times over.
    for (const start of [0, 35, 70]) {
      weights.noteSent("u");
      weights.noteSent("u");
      weights.noteUsed("u", "placeOrder", start + 20, 1, false);
      weights.noteUsed("u", "placeOrder", start + 10, 1, false);
      weights.noteSent("u");
      weights.noteUsed("u", "cancelBatch", start + 35, 1, true);
    }
    expect(weights.learned.get("cancelBatch")).toBe(15);
  });

  it("never make a call cheaper than it is said to be", () => {
    const weights = new Weights();
    serial(weights, [0, 2, 4, 6]);
    expect(weights.learned.get("getOrder")).toBe(2);
    expect(weights.charged("getOrder", 5)).toBe(5);
  });

  /** Each answer is told in turn: the count, and what was unusual about it. */
  interface Told {
    readonly used: number;
    readonly uid?: string;
    readonly window?: number;
    readonly alone?: boolean;
    readonly extra?: number;
    readonly sent?: number;
  }
  const plain = (...counts: readonly number[]): readonly Told[] => counts.map((used) => ({ used }));

  /** As many answers in a row, each larger by as much, from `from` on. */
  const repeated = (difference: number, times: number, from = 0): readonly Told[] =>
    Array.from({ length: times }, (_, index) => ({ used: from + difference * (index + 1) }));

  it.each<[string, readonly Told[], number | undefined]>([
    ["three equal differences teach", plain(0, 7, 14, 21), 7],
    ["two do not", plain(0, 9, 18), undefined],
    ["a larger one shows that others call, and forgets what was learned from few", plain(0, 7, 14, 21, 40), undefined],
    ["but not what was seen often", [...repeated(7, 13), { used: 110 }], 7],
    [
      "a smaller one does also then, since no call is counted for less than it weighs",
      [...repeated(7, 20), { used: 145 }],
      undefined,
    ],
    ["beside others equal ones teach nothing", plain(0, 9, 16, 32, 41, 50, 59, 68), undefined],
    ["until forty have repeated, when others have gone", [...plain(0, 20), ...repeated(7, 42, 20)], 7],
    ["a weight that was raised is learned after twelve equal ones", [...repeated(7, 20), ...repeated(9, 12, 140)], 9],
    ["a call under way beside it teaches nothing", [...plain(0, 9, 18), { used: 27, alone: false }], undefined],
    ["but the next does, compared with it", [...plain(0, 9, 18), { used: 27, alone: false }, { used: 36 }], 9],
    ["a new window teaches nothing", [...plain(0, 9, 18), { used: 27, window: 2 }], undefined],
    ["but the next in it does", [...plain(0, 9, 18), { used: 1, window: 2 }, { used: 10, window: 2 }], 9],
    ["two calls between two counts teach nothing", [...plain(0, 9, 18), { used: 27, sent: 2 }], undefined],
    ["nor does none", [...plain(0, 9, 18), { used: 27, sent: 0 }], undefined],
    ["but one after them does", [...plain(0, 9, 18), { used: 27, sent: 2 }, { used: 36 }], 9],
    ["a count that stood still teaches nothing", plain(0, 9, 18, 18), undefined],
    ["nor one that fell", plain(0, 9, 18, 17), undefined],
    ["a call as heavy as any teaches", plain(0, 100, 200, 300), 100],
    ["a heavier one does not exist", plain(0, 101, 202, 303, 404), undefined],
    ["and shows that others call", plain(0, 101, 110, 119, 128), undefined],
    [
      "elements are not the call's own weight",
      [{ used: 0 }, { used: 18, extra: 8 }, { used: 30, extra: 2 }, { used: 40 }],
      10,
    ],
    ["of another user are other counts", [...plain(0, 9, 18), { used: 27, uid: "other" }], undefined],
    ["and compared with their own", [...plain(0, 9, 18), { used: 20, uid: "other" }, { used: 29, uid: "other" }], 9],
  ])("%s", (_, answers, learned) => {
    const weights = new Weights();
    for (const { used, uid = "u", window = 1, alone = true, extra, sent = 1 } of answers) {
      for (let call = 0; call < sent; call++) weights.noteSent(uid);
      weights.noteUsed(uid, "getOrder", used, window, alone, extra);
    }
    expect(weights.learned.get("getOrder")).toBe(learned);
    expect(weights.charged("getOrder", 1)).toBe(learned ?? 1);
    expect(weights.learned.get("placeOrder")).toBeUndefined();
  });

  it("reach the ledger: a heavier call than stated is charged as heavy as it is", () => {
    const noon = 1_767_600_000_000;
    const ledger = createLedger({
      layers: layersOf(createContract()),
      startedAt: noon,
      quietMs: 0,
      clock: { dateSlackMs: 0, driftPpm: 0 },
    });
    const charge = { endpoint: "getOrder", weight: 5, elements: 1, ip: "home", uid: "u", key: "k" } as const;
    ledger.clock.observeDate(noon + 400, noon + 400, noon - 600);
    ledger.clock.observeDate(noon + 400, noon + 400, noon + 400);
    for (let call = 1; call <= 4; call++) {
      const at = noon + 1_000 * call;
      const ticket = ledger.spend(charge, at);
      const headers = { date: new Date(at).toUTCString(), "x-ratelimit-uid-weight-used": String(8 * call) };
      ledger.settle(ticket, { status: 200, headers }, at + 10);
    }
    expect(ledger.learned.get("getOrder")).toBe(8);
    const used = (): number => ledger.state(noon + 6_000).find(({ layer }) => layer === "uid")?.used ?? -1;
    const before = used();
    ledger.spend(charge, noon + 6_000);
    expect(used() - before).toBe(8);
  });
});
