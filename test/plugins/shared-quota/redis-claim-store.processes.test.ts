import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NotSent } from "../../../plugins/redis/not-sent.ts";
import type { ClaimItem, ClaimReply, ClaimStore, Statement } from "../../../plugins/shared-quota/claim.ts";
import { MemoryClaimStore } from "../../../plugins/shared-quota/memory-claim-store.ts";
import { RedisClaimStore } from "../../../plugins/shared-quota/redis-claim-store.ts";
import { createRandom } from "../../../src/random.ts";
import { type OwnRedis, redisServer, startRedis } from "../../support/harness/redis.ts";

const connected = async (url: string, group: string): Promise<ClaimStore> => {
  const store = await RedisClaimStore.open(url, group);
  for (;;) {
    try {
      await store.ping();
      return store;
    } catch (error) {
      if (!(error instanceof NotSent)) throw error;
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
};

describe.skipIf(redisServer === undefined)(
  `Claim store in Redis${redisServer === undefined ? " (no redis-server here)" : ""}`,
  () => {
    let redis: OwnRedis;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());

    let groups = 0;
    /** A group that has existed for long, so that it is not learning; another one in a test that is tried again. */
    const settled = async (name: string): Promise<ClaimStore> => {
      const group = `${name}-${++groups}`;
      const store = await connected(redis.url, group);
      const raw = new Redis(redis.url);
      const run = /^run_id:(\w+)/m.exec(await raw.info("server"))?.[1] as string;
      await raw.hset(`{${group}}:who`, "!run", run, "!born", 0);
      raw.disconnect();
      return store;
    };

    it("answers ten thousand random statements as the store in memory does, and grants no more than there is", async () => {
      const random = createRandom("claims");
      const lua = await settled("random");
      const memory = new MemoryClaimStore(() => 1_000_000);
      const whole = (most: number): number => Math.floor(random.next() * (most + 1));
      const members = Array.from({ length: 8 }, (_, index) => ({
        name: `m${index}`,
        share: 1 + (index % 3),
        epoch: 1,
        spoke: false,
        seq: 0,
        has: new Map<string, number>(),
        last: [] as Statement[],
      }));
      const kinds = new Set<string>();
      let window = 100;
      for (let turn = 0; turn < 10_000; turn++) {
        if (random.next() < 0.01) window++;
        const member = members[whole(members.length - 1)] as (typeof members)[number];
        const items = [window, ...(random.next() < 0.2 ? [window + 1] : [])].map((number): ClaimItem => {
          const scope = random.next() < 0.8 ? "uid:u1" : "ip:home";
          const has = Math.min(
            400,
            Math.max(0, (member.has.get(`${scope} ${number}`) ?? whole(60)) + whole(20) - whole(25)),
          );
          const need = whole(15);
          return {
            scope,
            window: number,
            windowMs: 60_000,
            remainingMs: whole(60_000),
            capacity: 1_200,
            has,
            settled: whole(has),
            used: whole(900),
            need,
            want: random.next() < 0.6 ? need + whole(100) : 0,
            hungry: whole(1),
            exits: random.next() < 0.3 ? whole(30) : 0,
            leave: whole(300),
            floor: whole(100),
            openOrders: whole(20),
            exitsPerHour: whole(500),
            // Nothing is known of when its windows begin: another test compares that.
            spreadMs: 60_000,
          };
        });
        // One in ten comes again or late, one in ten is answered to nobody.
        const again = random.next() < 0.1 ? member.last[whole(member.last.length - 1)] : undefined;
        const { name, share } = member;
        // Now and then one stops or dies, and is started anew: what is said by its younger process is of another epoch.
        if (member.spoke && random.next() < 0.02) {
          member.spoke = false;
          const going = [name, member.epoch, ["uid:u1", "ip:home"]] as const;
          if (random.next() < 0.5) await Promise.all([lua.leave(...going), memory.leave(...going)]);
          member.epoch++;
        }
        // There is room for most of them.
        const statement = again ?? {
          member: name,
          epoch: member.epoch,
          seq: ++member.seq,
          share,
          of: 12 + whole(1),
          items,
          // More than the longest time for which it is kept, so that nothing ends during the test.
          evenly: random.next() < 0.002 ? [{ scope: `uid:u${whole(3)}`, forMs: 700_000 }] : [],
        };
        member.spoke ||= again === undefined;
        if (again === undefined) member.last = [...member.last.slice(-4), statement];
        const [said, expected] = await Promise.all([lua.claim(statement), memory.claim(statement)]);
        kinds.add(said.kind);
        expect(ageless(said), `statement ${turn}: ${JSON.stringify(statement)}`).toEqual(ageless(expected));
        if (said.kind !== "granted" || random.next() < 0.1) continue;
        for (const [index, { scope, window: number, has }] of statement.items.entries()) {
          const grant = said.grants[index];
          if (grant === undefined) continue;
          member.has.set(`${scope} ${number}`, has + grant.ordinary + grant.exits);
          // A grant never makes more of what is free than there was.
          if (grant.ordinary + grant.exits > 0) expect(grant.free, `statement ${turn}`).toBeGreaterThanOrEqual(0);
        }
      }
      expect([...kinds].toSorted()).toEqual(["fenced", "full", "granted", "outdated"]);
      expect((await lua.members()).map(({ member, share }) => [member, share])).toEqual(
        (await memory.members()).map(({ member, share }) => [member, share]),
      );
      lua.close();
      // Ten seconds alone; a machine that does much else took a minute.
    });

    it("judges beginnings of windows as the store in memory does", async () => {
      const lua = await settled("astray");
      const memory = new MemoryClaimStore(() => 1_000_000);
      const windowMs = 60_000;
      /** As the store's clock has it, windows of number n begin at `lateMs` past n minutes. */
      const say = async (member: string, seq: number, lateMs: number, window = 100): Promise<unknown> => {
        const one = (now: number): Statement => {
          const remainingMs = lateMs + windowMs - (now % windowMs);
          return {
            member,
            epoch: 1,
            seq,
            share: 1,
            of: 9,
            items: [{ ...anItem, window, windowMs, remainingMs, spreadMs: 100, floor: 150 }],
            evenly: [],
          };
        };
        // Both stores call the minute that runs the hundredth.
        const shifted = (now: number): Statement => {
          const statement = one(now);
          return {
            ...statement,
            items: statement.items.map((item) => ({ ...item, window: window + Math.floor(now / windowMs) })),
          };
        };
        const [said, expected] = await Promise.all([lua.claim(shifted(Date.now())), memory.claim(shifted(1_000_000))]);
        const figures = (reply: ClaimReply): unknown =>
          reply.kind === "granted" &&
          reply.grants.map(({ astrayMs, free, members }) => [Math.round(astrayMs / 100), free, members]);
        expect(figures(said), `${member} ${seq}`).toEqual(figures(expected));
        return figures(said);
      };
      expect(await say("a", 1, 0)).toEqual([[0, 1_200, 1]]);
      // Of two the one that was believed is; what the other may use is kept for it.
      expect(await say("b", 1, 20_000)).toEqual([[200, 0, 1]]);
      expect(await say("a", 2, 0)).toEqual([[0, 1_050, 1]]);
      // The majority is believed, whoever came first.
      expect(await say("c", 1, 20_000)).toEqual([[0, 1_050, 2]]);
      expect(await say("a", 3, 0)).toEqual([[-200, 0, 1]]);
      expect(await say("b", 2, 20_000)).toEqual([[0, 1_050, 2]]);
      // Who only numbers windows otherwise is told by how many.
      expect(await say("d", 1, 20_000, 103)).toEqual([[-1_800, 0, 1]]);
      expect(await say("d", 2, 20_000, 100)).toEqual([[0, 1_050, 3]]);
      lua.close();
    });

    it("tells everybody how long a scope is spent evenly", async () => {
      const store = await settled("evenly");
      const told = async (member: string, seq: number, evenly: Statement["evenly"] = []) => {
        const reply = await store.claim({ member, epoch: 1, seq, share: 1, of: 2, items: [anItem], evenly });
        if (reply.kind !== "granted") throw new Error(reply.kind);
        expect(reply.grants[0]).toMatchObject({ free: 1_200 });
        return reply.evenly;
      };
      const needed = [
        { scope: "uid:u1", forMs: 100 },
        { scope: "ip:home", forMs: 9_000_000 },
      ];
      expect(await told("a", 1, needed)).toEqual([needed[0], { scope: "ip:home", forMs: 600_000 }]);
      // A shorter time changes nothing.
      const [, address] = await told("b", 1, [{ scope: "ip:home", forMs: 1 }]);
      expect(address?.forMs).toBeGreaterThan(500_000);
      let seq = 2;
      while ((await told("b", seq++)).length > 1) await new Promise((resolve) => setImmediate(resolve));
      expect((await told("b", seq)).map(({ scope }) => scope)).toEqual(["ip:home"]);
      store.close();
    });

    it("halts and resumes a group, and shows who holds what", async () => {
      const store = await settled("desk");
      const epoch = await store.register("a", true, ["uid:u1"]);
      await store.halt("enough");
      expect(await store.halted()).toBe("enough");
      const items = [{ ...anItem, has: 40 }];
      expect(await store.claim({ member: "a", epoch, seq: 1, share: 1, of: 2, items, evenly: [] })).toMatchObject({
        kind: "granted",
        halt: "enough",
      });
      expect(await store.holdings()).toEqual([{ scope: "uid:u1", window: 7, foreign: 0, held: { a: 40 } }]);
      await store.halt(undefined);
      expect(await store.halted()).toBeUndefined();
      // That it may go on is known, which a store without its memory does not say.
      expect(await store.claim({ member: "a", epoch, seq: 2, share: 1, of: 2, items, evenly: [] })).toMatchObject({
        halt: "",
      });
      await store.halt("");
      expect(await store.halted()).toBe("no reason given");
      store.close();
    });

    it("fences an older process of the same name", async () => {
      const store = await settled("fence");
      const first = await store.register("a", false, []);
      const second = await store.register("a", false, []);
      expect(second).toBeGreaterThan(first);
      expect(await store.claim({ member: "a", epoch: first, seq: 1, share: 1, of: 2, items: [], evenly: [] })).toEqual({
        kind: "fenced",
      });
      store.close();
    });

    it("learns first when the server is another one, and says when nothing was sent", async () => {
      const own = await startRedis();
      const store = await connected(own.url, "fresh");
      const epoch = await store.register("a", true, []);
      expect(
        await store.claim({ member: "a", epoch, seq: 1, share: 1, of: 2, items: [anItem], evenly: [] }),
      ).toMatchObject({
        learning: true,
      });
      await own.stop();
      for (let seq = 2; ; seq++) {
        try {
          await store.claim({ member: "a", epoch, seq, share: 1, of: 2, items: [anItem], evenly: [] });
        } catch (error) {
          if (error instanceof NotSent) break;
        }
        await new Promise((resolve) => setImmediate(resolve));
      }
      store.close();
    });
  },
);

/** Without durations since others were heard or until scopes are no longer spent evenly, which a real clock tells. */
const ageless = (reply: ClaimReply): unknown => ({
  ...reply,
  ...("enrolled" in reply && { enrolled: reply.enrolled?.map((one) => ({ ...one, heardMs: 0 })) }),
  ...("evenly" in reply && { evenly: reply.evenly.map(({ scope }) => scope).toSorted() }),
});

const anItem: ClaimItem = {
  scope: "uid:u1",
  window: 7,
  windowMs: 60_000,
  remainingMs: 30_000,
  capacity: 1_200,
  has: 0,
  settled: 0,
  used: 0,
  need: 0,
  want: 0,
  hungry: 0,
  exits: 0,
  leave: 0,
  floor: 0,
  openOrders: 0,
  exitsPerHour: 0,
  spreadMs: 60_000,
};
