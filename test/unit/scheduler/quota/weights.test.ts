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

  it("need three neighbouring differences and take the least, since others can only add", () => {
    const weights = new Weights();
    serial(weights, [100, 107, 114]);
    expect(weights.charged("getOrder", 5)).toBe(5);
    serial(weights, [131]);
    expect(weights.learned.get("getOrder")).toBe(7);
    expect(weights.charged("getOrder", 5)).toBe(7);
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

  it.each<[string, readonly Told[], number | undefined]>([
    ["three differences teach the least of them", plain(0, 9, 16, 24), 7],
    ["the least of the last three", plain(0, 5, 14, 22, 31), 8],
    ["two do not", plain(0, 9, 18), undefined],
    ["a call under way beside it teaches nothing", [...plain(0, 9, 18), { used: 27, alone: false }], undefined],
    ["but the next does, compared with it", [...plain(0, 9, 18), { used: 27, alone: false }, { used: 33 }], 6],
    ["a new window teaches nothing", [...plain(0, 9, 18), { used: 27, window: 2 }], undefined],
    ["but the next in it does", [...plain(0, 9, 18), { used: 1, window: 2 }, { used: 7, window: 2 }], 6],
    ["two calls between two counts teach nothing", [...plain(0, 9, 18), { used: 27, sent: 2 }], undefined],
    ["nor does none", [...plain(0, 9, 18), { used: 27, sent: 0 }], undefined],
    ["but one after them does", [...plain(0, 9, 18), { used: 27, sent: 2 }, { used: 33 }], 6],
    ["a count that stood still teaches nothing", plain(0, 9, 18, 18), undefined],
    ["nor one that fell", plain(0, 9, 18, 17), undefined],
    ["a call as heavy as any teaches", plain(0, 100, 200, 300), 100],
    ["a heavier one does not exist", plain(0, 100, 200, 301), undefined],
    ["elements are not the call's own weight", [{ used: 0 }, { used: 20, extra: 8 }, { used: 33, extra: 2 }, { used: 43 }], 10],
    ["of another user are other counts", [...plain(0, 9, 18), { used: 27, uid: "other" }], undefined],
    ["and compared with their own", [...plain(0, 9, 18), { used: 20, uid: "other" }, { used: 27, uid: "other" }], 7],
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
