import { concat, ignoreElements, map, NEVER, timer } from "rxjs";
import { describe, expect, it } from "vitest";
import { NotSent } from "../../../plugins/redis/not-sent.ts";
import type { GroupStores } from "../../../plugins/shared-quota/group-stores.ts";
import sharedQuota from "../../../plugins/shared-quota/index.ts";
import { MemoryClaimStore } from "../../../plugins/shared-quota/memory-claim-store.ts";
import type { AnswerReply } from "../../../plugins/shared-quota/shared-reads.ts";
import { linesOf, type Recording, record, replayed, rewrite, strategy, type Take } from "./harness/session.ts";

const far = (slot: string, px: string) => ({ slot, instId: "BTC-USDT-SWAP", side: "buy" as const, px, qty: "0.01" });
const same = { divergence: undefined, changed: [], notes: [] };

/** Moves its order every second and a half. */
const moving = strategy("moving", {
  wanted: () => concat(timer(0, 1_500).pipe(map((round) => [far("a", `${50_000 + round}`)])), NEVER),
});

/** Reads the balances again and again. */
const watching = strategy("watching", { wanted: ({ account }) => account.balances$.pipe(ignoreElements()) });

/** A group in memory. What was asked of it is counted; `fails` makes the next calls of the store of claims fail. */
class TestGroup {
  asked = 0;
  fails: (() => Error) | undefined;
  readonly claimed = new MemoryClaimStore(() => 0);
  answer: AnswerReply = { kind: "ask", mark: "m", storeMs: 0 };
  #storeMs = 0;

  readonly stores: GroupStores = {
    claims: async () => {
      const { claimed } = this;
      const call =
        <A extends readonly unknown[], T>(of: (...args: A) => Promise<T>) =>
        async (...args: A): Promise<T> => {
          this.asked++;
          if (this.fails !== undefined) throw this.fails();
          return of(...args);
        };
      return {
        register: call((...args) => claimed.register(...args)),
        claim: call((...args) => claimed.claim(...args)),
        leave: call((...args) => claimed.leave(...args)),
        members: call(() => claimed.members()),
        ping: call(() => claimed.ping()),
        halt: call((...args) => claimed.halt(...args)),
        halted: call(() => claimed.halted()),
        holdings: call(() => claimed.holdings()),
        close: () => claimed.close(),
      };
    },
    answers: async () => ({
      look: async () => {
        this.asked++;
        // Always later than ours, so that it was never set back.
        this.#storeMs += 1_000_000;
        return { ...this.answer, storeMs: this.#storeMs };
      },
      leave: async () => undefined,
      close: () => undefined,
    }),
  };
}

const recorded = (group: TestGroup, take: Take = {}): Promise<Recording> =>
  record([moving, watching], {
    freshness: { balancesMs: 1_000 },
    says: { watchful: true },
    plugins: [sharedQuota({ store: "redis://desk:pa55@127.0.0.1:1", group: "desk", of: 2 })],
    record: { groupStores: group.stores },
    ...take,
  });

const recordsOf = ({ dir }: Recording): string[] => linesOf(dir);

describe("A session of an engine in a group", () => {
  it("holds what the group's stores answered, and replays without asking them", async () => {
    const group = new TestGroup();
    const recording = await recorded(group, {
      during: () => {
        void group.claimed.halt("maintenance");
      },
    });
    const text = recordsOf(recording).join("\n");
    for (const part of ['"store":"claims","op":"claim"', '"store":"answers","op":"look"', "everywhere: maintenance"])
      expect(text).toContain(part);
    expect(text).not.toContain('"stray"');
    const { asked } = group;
    expect(asked).toBeGreaterThan(10);
    expect(await replayed(recording)).toMatchObject(same);
    expect(group.asked).toBe(asked);
  });

  it("keeps no password of the store's address", async () => {
    const text = recordsOf(await recorded(new TestGroup(), { ms: 500 })).join("\n");
    expect(text).toContain("redis://127.0.0.1:1");
    expect(text).not.toContain("pa55");
  });

  it.each([
    ["cannot be asked", () => new NotSent("not connected")],
    ["does not answer", () => new Error("no answer")],
  ])("whose store %s for a while replays how it went on alone", async (_, failure) => {
    const group = new TestGroup();
    const recording = await recorded(group, {
      ms: 60_000,
      during: () => {
        group.fails = failure;
      },
    });
    const text = recordsOf(recording).join("\n");
    expect(text.includes('"notSent":true')).toBe(failure() instanceof NotSent);
    expect(text).toMatch(/"in":"group","group":\d+,"error":/);
    expect(await replayed(recording)).toMatchObject(same);
  });

  it("replays a read that another engine had answered", async () => {
    const group = new TestGroup();
    group.answer = { kind: "answer", text: "[]", ageMs: 20, storeMs: 0 };
    const recording = await recorded(group);
    expect(recordsOf(recording).join("\n")).toContain('"value":{"kind":"answer","text":"[]"');
    expect(await replayed(recording)).toMatchObject(same);
  });

  it("replays a halt of the whole group that this engine asked for", async () => {
    const group = new TestGroup();
    const recording = await recorded(group, {
      during: (engine) => {
        engine.halt("enough", { everywhere: true }).subscribe();
      },
    });
    expect(recordsOf(recording).join("\n")).toContain('"op":"halt","args":["enough"]');
    expect(await replayed(recording)).toMatchObject(same);
  });

  it("says of one that another version recorded without the answers that it cannot be replayed alike", async () => {
    const group = new TestGroup();
    const recording = await recorded(group, { ms: 2_000 });
    const [header = "", ...rest] = recordsOf(recording);
    const { group: _, ...older } = JSON.parse(header) as { readonly group: boolean };
    rewrite(recording.dir, [JSON.stringify(older), ...rest.filter((line) => !/^\{"(?:in|out)":"group"/.test(line))]);
    const { asked } = group;
    const { divergence, notes } = await replayed(recording);
    expect(notes.join("\n")).toContain("the answers of the group's store were not recorded");
    expect(divergence).toBeDefined();
    expect(group.asked).toBe(asked);
  });
});
