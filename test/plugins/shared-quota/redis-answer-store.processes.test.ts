import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { RedisAnswerStore } from "../../../plugins/shared-quota/redis-answer-store.ts";
import type { AnswerReply } from "../../../plugins/shared-quota/shared-reads.ts";
import { type OwnRedis, redisServer, startRedis } from "../../support/harness/redis.ts";

describe.skipIf(redisServer === undefined)(
  `Answer store in Redis${redisServer === undefined ? " (no redis-server here)" : ""}`,
  () => {
    let redis: OwnRedis;
    let raw: Redis;
    const open: RedisAnswerStore[] = [];
    beforeAll(async () => {
      redis = await startRedis();
      raw = new Redis(redis.url);
    });
    afterAll(async () => {
      for (const store of open) store.close();
      raw.disconnect();
      await redis.stop();
    });

    const reached = async (group: string, member: string, kind = "1:a"): Promise<RedisAnswerStore> => {
      const store = await RedisAnswerStore.open(redis.url, group, kind, member);
      open.push(store);
      for (;;) {
        try {
          // A name of its own: nobody waits for it.
          await store.look(`hello ${member}`, 0);
          return store;
        } catch {
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    };
    const asked = (reply: AnswerReply): string => {
      expect(reply.kind).toBe("ask");
      return reply.kind === "ask" ? reply.mark : "";
    };
    const answer = (text: string) => expect.objectContaining({ kind: "answer", text });

    it("has one engine ask, lets the others wait, and gives them its answer with its age", async () => {
      const [first, second] = [await reached("one", "a"), await reached("one", "b")];
      const mark = asked(await first.look("ann:positions", 5_000));
      expect((await second.look("ann:positions", 5_000)).kind).toBe("wait");
      const begunAt = performance.now();
      await new Promise((resolve) => setTimeout(resolve, 30));
      await first.leave("ann:positions", mark, '[{"posSz":"1"}]');
      const reply = await second.look("ann:positions", 5_000);
      expect(reply).toEqual(answer('[{"posSz":"1"}]'));
      if (reply.kind !== "answer") return;
      expect(reply.ageMs).toBeGreaterThanOrEqual(30);
      expect(reply.ageMs).toBeLessThanOrEqual(performance.now() - begunAt + 100);
      // Too old for one who wants it fresh: who asks first has it read.
      asked(await second.look("ann:positions", 10));
      expect((await first.look("ann:positions", 10)).kind).toBe("wait");
    });

    it("lets the next one ask when nothing came of it", async () => {
      const store = await reached("two", "a");
      await store.leave("list", asked(await store.look("list", 5_000)));
      asked(await store.look("list", 5_000));
    });

    it("keeps the answer that was asked for last, whichever comes first", async () => {
      const store = await reached("three", "a");
      const early = asked(await store.look("list", 0));
      await store.leave("list", early);
      await new Promise((resolve) => setTimeout(resolve, 5));
      const late = asked(await store.look("list", 0));
      await store.leave("list", late, '["late"]');
      await store.leave("list", early, '["early"]');
      expect(await store.look("list", 5_000)).toEqual(answer('["late"]'));
    });

    it("keeps groups, kinds of engines and names apart", async () => {
      const store = await reached("four", "a");
      await store.leave("list", asked(await store.look("list", 0)), "[]");
      expect(await store.look("list", 5_000)).toEqual(answer("[]"));
      for (const other of [await reached("five", "a"), await reached("four", "a2", "2:a")])
        asked(await other.look("list", 5_000));
      asked(await store.look("other list", 5_000));
    });

    it("drops an answer from the future, as a clock that was set back leaves one", async () => {
      const store = await reached("six", "a");
      await raw.hset("{six}:r:1:a:list", "at", Date.now() + 60_000, "text", "[]");
      asked(await store.look("list", 90_000));
      expect(await raw.exists("{six}:r:1:a:list")).toBe(0);
      await store.leave("list", `${Date.now() + 60_000}:a:1`, "[]");
      expect(await raw.exists("{six}:r:1:a:list")).toBe(0);
    });

    it("lets what nobody looks at expire", async () => {
      const store = await reached("seven", "a");
      await store.leave("list", asked(await store.look("list", 0)), "[]");
      // Older than nothing at all by then.
      await new Promise((resolve) => setTimeout(resolve, 5));
      asked(await store.look("list", 0));
      for (const key of await raw.keys("{seven}*")) expect(await raw.pttl(key), key).toBeGreaterThan(0);
    });
  },
);
