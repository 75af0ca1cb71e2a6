/** A connection to one server or by a sentinel: what did not leave is told apart, and a server that hangs is dialled anew. */
import { type ChildProcess, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NotSent } from "../../../plugins/redis/not-sent.ts";
import { RedisConnection } from "../../../plugins/redis/redis-connection.ts";
import { RedisAnswerStore } from "../../../plugins/shared-quota/redis-answer-store.ts";
import { RedisClaimStore } from "../../../plugins/shared-quota/redis-claim-store.ts";
import { RedisLeaseStore } from "../../../plugins/standby/redis-lease-store.ts";
import { freePort } from "../../support/harness/free-port.ts";
import { type OwnRedis, redisServer, startRedis } from "../../support/harness/redis.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

/** Asks until the connection is made. */
const answered = async <T>(ask: () => Promise<T>): Promise<T> => {
  for (;;) {
    try {
      return await ask();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
};

describe.skipIf(redisServer === undefined)(
  `A connection to Redis${redisServer === undefined ? " (no redis-server here)" : ""}`,
  () => {
    let redis: OwnRedis;
    let sentinel: ChildProcess;
    let watched: string;
    const closed: { close(): void }[] = [];
    const kept = <T extends { close(): void }>(one: T): T => {
      closed.push(one);
      return one;
    };
    const open = async (url: string, answerMs = 1_000) =>
      kept(await RedisConnection.open({ url, needs: "a test", answerMs, scripts: { double: "return ARGV[1] * 2" } }));

    beforeAll(async () => {
      redis = await startRedis();
      const port = await freePort();
      const file = join(temporaryFolder("redis-connection"), "sentinel.conf");
      writeFileSync(
        file,
        `port ${port}\nbind 127.0.0.1\nsentinel monitor desk 127.0.0.1 ${new URL(redis.url).port} 1\n`,
      );
      sentinel = spawn(redisServer as string, [file, "--sentinel"], { stdio: "ignore" });
      watched = `sentinel://127.0.0.1:${port}/desk`;
    });
    afterAll(async () => {
      for (const one of closed) one.close();
      sentinel.kill("SIGKILL");
      await redis.stop();
    });

    it.each([
      ["a server", () => redis.url],
      ["the primary that a sentinel names", () => watched],
    ])("reaches %s, with its scripts", async (_, url) => {
      const connection = await open(url());
      expect(await answered(() => connection.ask((client) => client.double(0, 21)))).toBe(42);
      expect(await connection.serverId()).toMatch(/^[0-9a-f]{40}$/);
      expect(Math.abs((await connection.now()) - Date.now())).toBeLessThan(5_000);
    });

    it("by a sentinel serves every kind of store", async () => {
      const claims = kept(await RedisClaimStore.open(watched, "g"));
      const leases = kept(await RedisLeaseStore.open(watched, "g", "mm-1"));
      const answers = kept(await RedisAnswerStore.open(watched, "g", "1:a", "one"));
      expect(await answered(() => claims.members())).toEqual([]);
      expect((await answered(() => leases.look({ name: "a", session: "s", owner: "o" }))).record).toBeUndefined();
      expect((await answered(() => answers.look("positions", 1_000))).kind).toBe("ask");
    });

    it("finds keys under a prefix that holds the signs of a pattern", async () => {
      const connection = await open(redis.url);
      const keys = ["a*[1]:x", "a*[1]:y", "ab[1]:z"];
      await answered(() => connection.ask((client) => Promise.all(keys.map((key) => client.set(key, "1")))));
      expect([...(await connection.keysUnder("a*[1]:"))].sort()).toEqual(["a*[1]:x", "a*[1]:y"]);
    });

    it("says that nothing was sent where nobody listens, and why", async () => {
      const connection = await open(`redis://127.0.0.1:${await freePort()}`);
      const failure = async (): Promise<unknown> =>
        connection.ask((client) => client.ping()).catch((error: unknown) => error);
      let error = await failure();
      while (/not connected/.test(String(error))) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        error = await failure();
      }
      expect(error).toBeInstanceOf(NotSent);
      expect(String(error)).toContain("ECONNREFUSED");
    });

    it("dials a server anew that hangs, and knows another one that took its place", async () => {
      const port = await freePort();
      const first = await startRedis(port);
      const connection = await open(first.url, 1_000);
      const before = await answered(() => connection.serverId());
      first.process.kill("SIGSTOP");
      const asked = await Promise.all(
        [1, 2].map(() => connection.ask((client) => client.ping()).catch((error: unknown) => error)),
      );
      // They may have arrived.
      for (const error of asked) {
        expect(error).toBeInstanceOf(Error);
        expect(error).not.toBeInstanceOf(NotSent);
      }
      await expect(connection.ask((client) => client.ping())).rejects.toBeInstanceOf(NotSent);
      await first.stop();
      const second = await startRedis(port);
      expect(await answered(() => connection.serverId())).not.toBe(before);
      await second.stop();
    });
  },
);
