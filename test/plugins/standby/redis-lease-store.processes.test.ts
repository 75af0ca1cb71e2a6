/**
 * Lease store in a real Redis: the scripts say what the store in memory says.
 */
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { LeaseRecord, LeaseStore } from "../../../plugins/standby/lease-store.ts";
import { MemoryLeaseStore } from "../../../plugins/standby/memory-lease-store.ts";
import { RedisLeaseStore } from "../../../plugins/standby/redis-lease-store.ts";
import { createRandom } from "../../../src/random.ts";
import { type OwnRedis, redisServer, startRedis } from "../../support/harness/redis.ts";

describe.skipIf(redisServer === undefined)(
  `Lease store in Redis${redisServer === undefined ? " (no redis-server here)" : ""}`,
  () => {
    let redis: OwnRedis;
    beforeAll(async () => {
      redis = await startRedis();
    });
    afterAll(() => redis.stop());

    const connected = async (instance: string): Promise<RedisLeaseStore> => {
      const store = await RedisLeaseStore.open(redis.url, "desk", instance);
      for (;;) {
        try {
          await store.files();
          return store;
        } catch {
          await new Promise((resolve) => setImmediate(resolve));
        }
      }
    };

    it("answers three thousand random calls as the store in memory does", async () => {
      const random = createRandom("lease store");
      const stores: readonly LeaseStore[] = [await connected("random"), new MemoryLeaseStore(() => 0)];
      const raw = new Redis(redis.url);
      const names = ["a", "b", "c"];
      // Epochs of the two differ, as one has a calendar; they are told apart by their place.
      const epochs: (readonly [number, number])[] = [[0, 0]];
      const seen: [LeaseRecord | undefined, LeaseRecord | undefined] = [undefined, undefined];
      const known = new Map<string, number>();
      let adopted = 0;
      const plain = (record: LeaseRecord | undefined, side: 0 | 1) =>
        record && { ...record, epoch: epochs.findIndex((pair) => pair[side] === record.epoch) };
      const pick = <T>(list: readonly T[]): T => list[random.whole(0, list.length - 1)] as T;
      for (let turn = 0; turn < 3_000; turn++) {
        const name = pick(names);
        const candidate = { name, session: `${name} session`, owner: "o" };
        const place = random.next() < 0.8 ? epochs.length - 1 : random.whole(0, epochs.length - 1);
        const pair = epochs[place] as readonly [number, number];
        const file = pick(["one", "two"]);
        const bytes = Buffer.from(Array.from({ length: random.whole(0, 6) }, () => random.whole(0, 255)));
        const both = async <T>(call: (store: LeaseStore, side: 0 | 1) => Promise<T>): Promise<readonly [T, T]> => [
          await call(stores[0] as LeaseStore, 0),
          await call(stores[1] as LeaseStore, 1),
        ];
        switch (random.whole(0, 9)) {
          case 0: {
            const looks = await both((store) => store.look(candidate));
            [seen[0], seen[1]] = looks.map(({ record }) => record) as typeof seen;
            expect(plain(seen[0], 0)).toEqual(plain(seen[1], 1));
            break;
          }
          case 1: {
            const [mine, theirs] = await both((store, side) => store.take(candidate, seen[side]));
            expect(mine === undefined).toBe(theirs === undefined);
            if (mine === undefined || theirs === undefined) break;
            expect(mine).toBeGreaterThan(epochs.at(-1)?.[0] ?? 0);
            epochs.push([mine, theirs]);
            break;
          }
          case 2: {
            const seq = (known.get(name) ?? 0) + random.whole(-1, 2);
            known.set(name, seq);
            const valid = random.next() < 0.5;
            const replies = await both(async (store, side) => {
              const { memory } = await store.look(candidate);
              return store.renew({ ...candidate, epoch: pair[side], seq, valid, memory });
            });
            const facts = replies.map((reply) =>
              reply.kind !== "renewed"
                ? reply
                : { kind: reply.kind, standbys: reply.standbys.map((one) => one.name).sort() },
            );
            expect(facts[0]).toEqual(facts[1]);
            break;
          }
          case 3:
            if (random.next() < 0.3)
              await both((store, side) => store.release({ epoch: pair[side], session: candidate.session }));
            break;
          case 4:
          case 5: {
            const at = random.whole(0, 12);
            const [mine, theirs] = await both((store, side) => store.append(pair[side], file, at, bytes));
            expect(mine).toBe(theirs);
            break;
          }
          case 6: {
            const isGone = random.next() < 0.3;
            const [mine, theirs] = await both((store, side) =>
              isGone ? store.remove(pair[side], file) : store.replace(pair[side], file, bytes),
            );
            expect(mine).toBe(theirs);
            break;
          }
          case 7: {
            const at = random.whole(0, 6);
            const [mine, theirs] = await both((store, side) => store.stage(pair[side], file, at, bytes));
            expect(mine).toBe(theirs);
            break;
          }
          case 8: {
            const length = random.whole(0, 6);
            const [mine, theirs] = await both((store, side) => store.replaceStaged(pair[side], file, length));
            expect(mine).toBe(theirs);
            adopted += mine === "copied" ? 1 : 0;
            break;
          }
          default: {
            const [mine, theirs] = await both((store) => store.files());
            expect([mine.version, new Map(mine.bytes)]).toEqual([theirs.version, new Map(theirs.bytes)]);
            const from = random.whole(0, 8);
            const [read, other] = await both((store) => store.read(file, from, 5));
            expect(Buffer.from(read)).toEqual(Buffer.from(other));
          }
        }
      }
      expect(epochs.length).toBeGreaterThan(20);
      expect(adopted).toBeGreaterThan(5);
      for (const store of stores) store.close();
      raw.disconnect();
    });

    it("says which store does not answer and why, without its password, and tells a refusal apart", async () => {
      const port = Number(new URL(redis.url).port);
      const raw = new Redis(redis.url);
      await raw.config("SET", "requirepass", "right");
      const errorOf = async (url: string): Promise<unknown> => {
        const store = await RedisLeaseStore.open(url, "desk", "refused");
        try {
          for (;;) {
            const error = await store.look({ name: "a", session: "s", owner: "o" }).then(
              () => undefined,
              (failed: unknown) => failed,
            );
            if (!/not connected/.test(String(error))) return error;
            await new Promise((resolve) => setImmediate(resolve));
          }
        } finally {
          store.close();
        }
      };
      try {
        const wrong = await errorOf(`redis://:wrong@127.0.0.1:${port}`);
        expect(wrong).toMatchObject({
          code: "CONFIG_INVALID",
          message: expect.stringMatching(/127\.0\.0\.1.*refuses.*WRONGPASS/),
        });
        expect(await errorOf(`redis://127.0.0.1:${port}`)).toMatchObject({
          code: "CONFIG_INVALID",
          message: expect.stringMatching("NOAUTH"),
        });
        expect(await errorOf(`redis://:right@127.0.0.1:${port}`)).toBeUndefined();
        const absent = await errorOf("redis://:wrong@127.0.0.1:1");
        expect(String(absent)).toMatch(/redis:\/\/127\.0\.0\.1:1 does not answer.*ECONNREFUSED/);
        expect(String(wrong) + String(absent)).not.toMatch("wrong@");
      } finally {
        await raw.config("SET", "requirepass", "");
        raw.disconnect();
      }
    });

    it("says of each process that stands by how long ago it was heard, and of a server that restarts that its memory is another", async () => {
      const store = await connected("heard");
      const candidate = { name: "a", session: "s", owner: "o" };
      const { memory } = await store.look(candidate);
      const epoch = (await store.take(candidate, undefined)) as number;
      await store.look({ ...candidate, name: "b" });
      const renewal = await store.renew({ ...candidate, epoch, seq: 1, valid: true, memory });
      expect(renewal).toMatchObject({ kind: "renewed", memory, standbys: [{ name: "b" }] });
      expect(renewal.kind === "renewed" && (renewal.standbys[0]?.ms ?? -1)).toBeLessThan(1_000);
      const port = Number(new URL(redis.url).port);
      await redis.stop();
      await expect(store.look(candidate)).rejects.toThrow("store");
      redis = await startRedis(port);
      const again = await connected("heard");
      const sighting = await again.look(candidate);
      expect(sighting.record).toBeUndefined();
      expect(sighting.memory).not.toBe(memory);
      for (const one of [store, again]) one.close();
    });
  },
);
