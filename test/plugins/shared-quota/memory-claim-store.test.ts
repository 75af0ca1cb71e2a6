import { describe, expect, it } from "vitest";
import type { ClaimItem, ClaimReply, Grant } from "../../../plugins/shared-quota/claim.ts";
import { MemoryClaimStore } from "../../../plugins/shared-quota/memory-claim-store.ts";

const item = (over: Partial<ClaimItem> = {}): ClaimItem => ({
  scope: "uid:u1",
  window: 100,
  windowMs: 60_000,
  remainingMs: 30_000,
  capacity: 1_200,
  has: 0,
  settled: 0,
  used: 0,
  need: 10,
  want: 100,
  hungry: 1,
  exits: 0,
  leave: 0,
  floor: 0,
  openOrders: 0,
  exitsPerHour: 0,
  spreadMs: 60_000,
  ...over,
});

const group = (fresh = true) => {
  let now = 1_000_000;
  const store = new MemoryClaimStore(() => now, fresh);
  const seqs = new Map<string, number>();
  const claim = (
    member: string,
    over: Partial<ClaimItem> = {},
    { share = 1, of = 100, epoch = 1 } = {},
  ): Promise<ClaimReply> => {
    const seq = (seqs.get(member) ?? 0) + 1;
    seqs.set(member, seq);
    return store.claim({ member, epoch, seq, share, of, items: [item(over)], evenly: [] });
  };
  const granted = async (...asked: Parameters<typeof claim>): Promise<Grant> => {
    const reply = await claim(...asked);
    if (reply.kind !== "granted") throw new Error(reply.kind);
    return reply.grants[0] as Grant;
  };
  return { store, claim, granted, pass: (ms: number) => (now += ms) };
};

describe("Claim store in memory", () => {
  it("grants half of the fair part at a time, and never more than is wanted", async () => {
    const { granted } = group();
    expect(await granted("a", { want: 50 })).toMatchObject({ ordinary: 50, free: 1_150 });
    expect(await granted("a", { has: 50, want: 2_000 })).toMatchObject({ ordinary: 575 });
  });

  it("keeps another hungry member's part until the window is nearly over", async () => {
    const { granted } = group();
    await granted("b", { want: 10 });
    // Of 1200, 600 are b's; 10 of them are held: a's own part is 600, of which it gets a quarter.
    expect(await granted("a", { want: 2_000 })).toMatchObject({ ordinary: 150 });
    expect(await granted("a", { has: 600, want: 2_000 })).toMatchObject({ ordinary: 0, free: 590 });
    expect(await granted("a", { has: 600, want: 2_000, remainingMs: 1_900 })).toMatchObject({ ordinary: 147 });
    expect(await granted("a", { has: 747, want: 2_000, remainingMs: 900 })).toMatchObject({ ordinary: 443, free: 0 });
  });

  it("opens the part of a member that fell silent after four seconds", async () => {
    const { granted, pass } = group();
    await granted("b", { want: 10 });
    pass(4_001);
    expect(await granted("a", { has: 600, want: 2_000 })).toMatchObject({ ordinary: 147 });
  });

  it("divides by shares", async () => {
    const { granted } = group();
    await granted("b", { want: 10 }, { share: 1 });
    expect(await granted("a", { has: 890, want: 500 }, { share: 3 })).toMatchObject({ ordinary: 10 });
    expect(await granted("a", { has: 900, want: 500 }, { share: 3 })).toMatchObject({ ordinary: 0 });
  });

  it("leaves the reserve to exits, whoever asks for them", async () => {
    const { granted } = group();
    expect(await granted("a", { leave: 1_195 })).toMatchObject({ ordinary: 0, free: 1_200 });
    expect(await granted("b", { leave: 1_195, want: 0, exits: 15 })).toMatchObject({ exits: 15, free: 1_185 });
  });

  it("keeps a silent member's floor for two windows, and what it had under way", async () => {
    const { granted } = group();
    await granted("b", { floor: 300, want: 500, hungry: 0 });
    expect(await granted("a", { window: 101, want: 0 })).toMatchObject({ free: 700 });
    await granted("b", { has: 400, settled: 390, floor: 300, want: 0, hungry: 0 });
    expect(await granted("a", { window: 101, want: 0 })).toMatchObject({ free: 900 });
    expect(await granted("a", { window: 102, want: 0 })).toMatchObject({ free: 900 });
    expect(await granted("a", { window: 103, want: 0 })).toMatchObject({ free: 1_200 });
  });

  it("tells use that no member can have made, and takes back what one explains", async () => {
    const { granted } = group();
    expect(await granted("a", { has: 100, want: 0, used: 400 })).toMatchObject({ foreign: 300, free: 800 });
    expect(await granted("b", { has: 250, want: 0 })).toMatchObject({ foreign: 50, free: 800 });
  });

  it("tells everybody how long a scope is spent evenly, by the longest that a member needs it and ten minutes at most", async () => {
    const { store, pass } = group();
    const told = async (member: string, seq: number, forMs?: number) => {
      const evenly = forMs === undefined ? [] : [{ scope: "uid:u1", forMs }];
      const reply = await store.claim({ member, epoch: 1, seq, share: 1, of: 9, items: [], evenly });
      return reply.kind === "granted" ? reply.evenly : reply.kind;
    };
    expect(await told("b", 1)).toEqual([]);
    expect(await told("a", 1, 30_000)).toEqual([{ scope: "uid:u1", forMs: 30_000 }]);
    pass(1_000);
    expect(await told("b", 2, 10_000)).toEqual([{ scope: "uid:u1", forMs: 29_000 }]);
    pass(28_999);
    expect(await told("b", 3)).toEqual([{ scope: "uid:u1", forMs: 1 }]);
    pass(1);
    expect(await told("b", 4)).toEqual([]);
    expect(await told("a", 2, 9_000_000)).toEqual([{ scope: "uid:u1", forMs: 600_000 }]);
    store.lose();
    expect(await told("b", 5)).toEqual([]);
  });

  it("ignores a statement that comes twice or late", async () => {
    const { store } = group();
    const statement = { member: "a", epoch: 1, seq: 2, share: 1, of: 1, items: [item()], evenly: [] };
    expect((await store.claim(statement)).kind).toBe("granted");
    expect((await store.claim(statement)).kind).toBe("outdated");
    expect((await store.claim({ ...statement, seq: 1 })).kind).toBe("outdated");
  });

  it("makes an older process of the same name mute, and forgets its floor when it is known to be over", async () => {
    const { store, claim, granted } = group();
    const first = await store.register("a", false, []);
    await claim("a", { floor: 600, want: 0 }, { epoch: first });
    const second = await store.register("a", true, ["uid:u1"]);
    expect(second).toBeGreaterThan(first);
    expect((await claim("a", {}, { epoch: first })).kind).toBe("fenced");
    expect(await granted("b", { window: 101, want: 0 })).toMatchObject({ free: 1_200, members: 1 });
  });

  it("keeps one floor for all processes of a name that fell silent, and all that they had under way", async () => {
    const { store, granted } = group();
    for (const [has, settled] of [
      [200, 150],
      [100, 80],
      [0, 0],
    ] as const) {
      const epoch = await store.register("a", false, []);
      await granted("a", { has, settled, want: 0, floor: 600, hungry: 0 }, { epoch });
    }
    const epoch = await store.register("a", false, []);
    expect(await granted("a", { window: 101, want: 0, floor: 600 }, { epoch })).toMatchObject({ free: 600 });
    expect(await granted("b", { window: 101, want: 0, floor: 0 })).toMatchObject({ free: 600 });
    // More was under way than a floor.
    const { granted: granted2, store: other } = group();
    for (let life = 0; life < 2; life++)
      await granted2(
        "a",
        { has: 300, want: 0, floor: 400, hungry: 0 },
        { epoch: await other.register("a", false, []) },
      );
    expect(await granted2("b", { window: 101, want: 0 })).toMatchObject({ free: 600 });
  });

  it("admits nobody whose share does not fit beside those of the others, until one of them leaves or has been silent for long", async () => {
    const { store, claim, granted, pass } = group();
    const epoch = await store.register("a", true, []);
    await granted("a", {}, { share: 2, of: 4, epoch });
    pass(1_000);
    const second = await claim("b", {}, { share: 1, of: 4 });
    expect(second).toMatchObject({ kind: "granted", enrolled: [{ member: "a", share: 2, of: 4, heardMs: 1_000 }] });
    // It is told once.
    expect(await claim("b", {}, { share: 1, of: 4 })).not.toHaveProperty("enrolled");
    const others = [
      { member: "a", share: 2 },
      { member: "b", share: 1 },
    ];
    expect(await claim("c", {}, { share: 2, of: 4 })).toMatchObject({ kind: "full", enrolled: others });
    expect((await store.holdings())[0]?.held).not.toHaveProperty("c");
    await store.leave("a", epoch + 1, ["uid:u1"]);
    expect((await claim("c", {}, { share: 2, of: 4 })).kind).toBe("full");
    await store.leave("a", epoch, ["uid:u1"]);
    expect(await claim("c", {}, { share: 2, of: 4 })).toMatchObject({ kind: "granted", enrolled: [{ member: "b" }] });
    pass(150_001);
    expect(await claim("d", {}, { share: 4, of: 4 })).toMatchObject({ kind: "granted", enrolled: [] });
  });

  it("keeps no floor for a member that left, but what it has under way", async () => {
    const { store, granted } = group();
    const epoch = await store.register("a", true, []);
    await granted("a", { has: 100, settled: 60, want: 0, floor: 300 }, { epoch });
    expect(await granted("b", { window: 101, want: 0 })).toMatchObject({ free: 900 });
    await store.leave("a", epoch, ["uid:u1"]);
    expect(await granted("b", { window: 101, want: 0 })).toMatchObject({ free: 1_160 });
  });

  it("lets all of a group in again that it has forgotten, and looks at shares when it has heard them", async () => {
    const { store, claim, pass } = group();
    await claim("a", {}, { share: 2, of: 4 });
    store.lose();
    expect(await claim("b", {}, { share: 4, of: 4 })).toMatchObject({ learning: true });
    pass(3_001);
    expect((await claim("a", {}, { share: 2, of: 4 })).kind).toBe("granted");
    expect((await claim("b", {}, { share: 4, of: 4 })).kind).toBe("full");
  });

  it("only listens for three seconds after it lost its memory", async () => {
    const { store, granted, claim, pass } = group();
    await granted("a", { has: 500, want: 0 });
    store.lose();
    // What others hold is not known yet, so their use is nobody's.
    expect(await claim("a", { has: 500, used: 900 })).toMatchObject({
      learning: true,
      grants: [{ ordinary: 0, foreign: 0 }],
    });
    await claim("b", { has: 400, want: 0, hungry: 0 });
    pass(3_001);
    expect(await granted("a", { has: 500, used: 900 })).toMatchObject({ ordinary: 100, foreign: 0 });
  });

  it("tells of a halt with each grant, and grants what reads need meanwhile", async () => {
    const { store, claim } = group();
    await store.halt("too much lost");
    expect(await claim("a", { exits: 15 })).toMatchObject({
      halt: "too much lost",
      grants: [{ ordinary: 100, exits: 15 }],
    });
    await store.halt(undefined);
    expect(await claim("a", { has: 15 })).toMatchObject({ halt: "", grants: [{ ordinary: 100 }] });
    store.lose();
    expect(await claim("a", { has: 15 })).toMatchObject({ halt: undefined, learning: true });
  });

  it("shows who holds what", async () => {
    const { store, granted } = group();
    await granted("a", { has: 50, want: 0 });
    await granted("b", { has: 70, want: 0, used: 150 });
    expect(await store.holdings()).toEqual([{ scope: "uid:u1", window: 100, foreign: 30, held: { a: 50, b: 70 } }]);
  });
});
