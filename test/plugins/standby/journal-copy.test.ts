/**
 * Copy of a leader's journal: what the store has, what a folder that follows it has, and what becomes of what contradicts it.
 */
import { describe, expect, it } from "vitest";
import { CopiedDisk } from "../../../plugins/standby/journal-copy.ts";
import { JournalFollower } from "../../../plugins/standby/journal-follower.ts";
import type { JournalCopyStore } from "../../../plugins/standby/lease-store.ts";
import { MemoryLeaseStore } from "../../../plugins/standby/memory-lease-store.ts";
import { openWriteAheadLog } from "../../../src/journal/write-ahead-log.ts";
import { type MemoryDisk, memoryDisk } from "../../support/harness/memory-disk.ts";

const owner = { service: "test", users: "u1", instance: "main" };
const candidate = { name: "a", session: "1", owner: "o" };

const setUp = async () => {
  let now = 1_000;
  const store = new MemoryLeaseStore(() => now);
  const leader = memoryDisk();
  const lead = async (disk: MemoryDisk): Promise<CopiedDisk> => {
    now++;
    const epoch = (await store.take(candidate, store.record)) as number;
    const copied = new CopiedDisk({ disk, store, epoch: () => epoch });
    await copied.catchUp();
    return copied;
  };
  return { store, leader, lead };
};

const log = (disk: CopiedDisk | MemoryDisk, segmentBytes = 1 << 20) =>
  openWriteAheadLog({ disk, owner, snapshot: () => [{ kind: "snapshot" }], segmentBytes });

const write = async (to: Awaited<ReturnType<typeof log>>, ...texts: string[]): Promise<void> => {
  for (const text of texts) to.append({ text });
  await to.commit();
};

const textsOf = async (disk: MemoryDisk): Promise<readonly unknown[]> => {
  const opened = await log(disk);
  await opened.close();
  return opened.past.map((record) => (record as { readonly text?: string }).text ?? record);
};

/** The folder as another process of its own finds it. */
const copyOf = (disk: MemoryDisk): MemoryDisk => {
  const copy = memoryDisk();
  for (const [name, bytes] of disk.files) copy.files.set(name, Buffer.from(bytes));
  return copy;
};

describe("The journal of a leader", () => {
  it("is at the store when a commit has resolved, byte for byte, over segments that begin and go", async () => {
    const { store, leader, lead } = await setUp();
    const own = await log(await lead(leader), 300);
    const follower = memoryDisk();
    const following = new JournalFollower({ disk: follower, store });
    for (let count = 0; count < 30; count++) {
      await write(own, `record ${count}`);
      if (count % 4 === 0) await following.follow();
      const { bytes } = await store.files();
      expect(bytes).toEqual(new Map([...leader.files].map(([name, { length }]) => [name, length])));
    }
    await following.follow();
    expect(follower.files).toEqual(leader.files);
    expect(leader.files.size).toBe(2);
    expect(await textsOf(follower)).toEqual(await textsOf(copyOf(leader)));
  });

  it("goes on in the folder alone while the store does not answer, and is made up for afterwards", async () => {
    const { store, leader, lead } = await setUp();
    const copied = await lead(leader);
    const own = await log(copied);
    await write(own, "one");
    const append = store.append.bind(store);
    let asked = 0;
    store.append = async () => {
      asked++;
      throw new Error("away");
    };
    await write(own, "two");
    await write(own, "three");
    // Nothing waits for a store that has not answered.
    expect([asked, copied.isBehind]).toEqual([1, true]);
    store.append = append;
    await copied.catchUp();
    expect(copied.isBehind).toBe(false);
    await write(own, "four");
    const follower = memoryDisk();
    await new JournalFollower({ disk: follower, store }).follow();
    expect(await textsOf(follower)).toEqual(["one", "two", "three", "four"]);
  });

  it("is told anew to a store that has forgotten it", async () => {
    const { store, leader, lead } = await setUp();
    const copied = await lead(leader);
    const own = await log(copied);
    await write(own, "one");
    const { epoch = 0 } = store.record ?? {};
    store.forget();
    // Before the lease is known again, nobody can be kept from writing.
    await write(own, "two");
    expect([copied.isBehind, (await store.files()).bytes.size]).toEqual([true, 0]);
    await store.renew({ ...candidate, epoch, seq: 1, valid: true, memory: "2" });
    await copied.catchUp();
    const follower = memoryDisk();
    await new JournalFollower({ disk: follower, store }).follow();
    expect(await textsOf(follower)).toEqual(["one", "two"]);
  });

  it("takes nothing more from one that was deposed: its commit fails", async () => {
    const { store, leader, lead } = await setUp();
    const own = await log(await lead(leader));
    await write(own, "one");
    const next = memoryDisk();
    await new JournalFollower({ disk: next, store }).follow();
    const after = await log(await lead(next));
    await expect(write(own, "late")).rejects.toThrow("another process leads");
    await write(after, "two");
    const follower = memoryDisk();
    await new JournalFollower({ disk: follower, store }).follow();
    expect(await textsOf(follower)).toEqual(["one", "two"]);
  });
});

describe("Files in pieces", () => {
  const large = Buffer.from(Array.from({ length: 1_000_000 }, (_, place) => (place * place) % 251));

  it("reach the store and a folder although every third piece is lost, without beginning anew or delaying commits", async () => {
    const { store, leader, lead } = await setUp();
    leader.files.set("00000001.journal", large);
    let calls = 0;
    let moved = 0;
    const lossy = <T>(bytes: number, call: () => Promise<T>): Promise<T> => {
      if (++calls % 3 === 0) return Promise.reject(new Error("Command timed out"));
      moved += bytes;
      return call();
    };
    const [append, stage, read] = [store.append.bind(store), store.stage.bind(store), store.read.bind(store)];
    let waitedFor = 0;
    const bulk: JournalCopyStore = {
      files: () => store.files(),
      read: (file, from, bytes) => lossy(bytes, () => read(file, from, bytes)),
      append: (epoch, file, at, bytes) => lossy(bytes.length, () => append(epoch, file, at, bytes)),
      replace: () => Promise.reject(new Error("too large")),
      stage: (epoch, file, at, bytes) => lossy(bytes.length, () => stage(epoch, file, at, bytes)),
      replaceStaged: (...args) => store.replaceStaged(...args),
      remove: (...args) => store.remove(...args),
    };
    store.append = (epoch, file, at, bytes) => {
      waitedFor += bytes.length;
      return append(epoch, file, at, bytes);
    };
    await lead(memoryDisk());
    const copied = new CopiedDisk({ disk: leader, store, bulk, epoch: () => store.record?.epoch ?? 0 });
    const file = await copied.open("00000001.journal");
    let attempts = 0;
    for (; copied.isBehind; attempts++) {
      await copied.catchUp();
      expect(attempts).toBeLessThan(20);
      // Resolves at once: nothing waits while the store lacks something.
      if (attempts < 4) {
        await file.append(Buffer.from("an exit\n"));
        await file.sync();
      }
    }
    expect(attempts).toBeGreaterThan(4);
    // Four exits of eight bytes; no byte travels twice, and commits wait for less than a piece.
    expect(moved + waitedFor).toBe(1_000_032);
    expect(waitedFor).toBeLessThan(65_536);
    const whole = Buffer.from(leader.files.get("00000001.journal") ?? "");
    expect(whole.equals(await store.read("00000001.journal", 0, 2_000_000))).toBe(true);
    const follower = memoryDisk();
    const following = new JournalFollower({ disk: follower, store: bulk });
    moved = 0;
    for (let more = true; more; )
      more = await following.follow().then(
        () => false,
        () => true,
      );
    expect([...follower.files.keys()]).toEqual(["00000001.journal"]);
    expect(whole.equals(follower.files.get("00000001.journal") ?? Buffer.alloc(0))).toBe(true);
    expect(moved).toBe(1_000_032);
    // What was read is not sent back by the one that takes over.
    store.stage = () => Promise.reject(new Error("sent again"));
    const epoch = (await store.take(candidate, store.record)) as number;
    const next = new CopiedDisk({ disk: follower, store, epoch: () => epoch, read: following.read });
    await next.catchUp();
    expect(next.isBehind).toBe(false);
  });

  it("that are to replace others leave the copy whole until they are", async () => {
    const { store, leader, lead } = await setUp();
    await lead(memoryDisk());
    const epoch = store.record?.epoch ?? 0;
    await store.replace(epoch, "00000001.journal", Buffer.from("of before\n"));
    leader.files.set("00000001.journal", large);
    const stage = store.stage.bind(store);
    let pieces = 0;
    store.stage = (...args) => (++pieces > 5 ? Promise.reject(new Error("away")) : stage(...args));
    const copied = new CopiedDisk({ disk: leader, store, epoch: () => epoch });
    await copied.catchUp();
    expect(copied.isBehind).toBe(true);
    expect(Buffer.from(await store.read("00000001.journal", 0, 100)).toString()).toBe("of before\n");
  });

  it("at the store that were never read are kept in the folder before they are removed", async () => {
    const { store, leader, lead } = await setUp();
    await lead(memoryDisk());
    await store.replace(store.record?.epoch ?? 0, "00000007.journal", Buffer.from("12 lots held\n"));
    await lead(leader);
    expect([...(await store.files()).bytes.keys()]).toEqual([]);
    expect(String(leader.files.get("00000007.journal.1.apart"))).toBe("12 lots held\n");
  });
});

describe("A folder that follows", () => {
  it("keeps what continues the copy: its process wrote it and nobody has led since", async () => {
    const { store, leader, lead } = await setUp();
    const own = await log(await lead(leader));
    await write(own, "one");
    store.append = async () => {
      throw new Error("away");
    };
    await write(own, "two");
    await new JournalFollower({ disk: leader, store }).follow();
    expect(await textsOf(leader)).toEqual(["one", "two"]);
  });

  it("sets aside what contradicts the copy, segments begun since included, and loses none of it", async () => {
    const { store, leader, lead } = await setUp();
    const own = await log(await lead(leader), 150);
    await write(own, "one");
    const next = memoryDisk();
    await new JournalFollower({ disk: next, store }).follow();
    const [append, replace] = [store.append.bind(store), store.replace.bind(store)];
    store.append = store.replace = async () => {
      throw new Error("away");
    };
    await write(own, "unseen");
    await write(own, "begins a segment");
    expect(leader.files.size).toBe(2);
    Object.assign(store, { append, replace });
    const after = await log(await lead(next));
    await write(after, "two");
    const before = [...leader.files.values()].map(String);
    await new JournalFollower({ disk: leader, store }).follow();
    expect(await textsOf(leader)).toEqual(["one", "two"]);
    expect([...leader.files].filter(([name]) => name.endsWith(".apart")).map(([, bytes]) => String(bytes))).toEqual(
      before,
    );
  });

  it("stays as it is where the store has nothing", async () => {
    const { store, leader, lead } = await setUp();
    const own = await log(await lead(leader));
    await write(own, "one");
    store.forget();
    await new JournalFollower({ disk: leader, store }).follow();
    expect(await textsOf(leader)).toEqual(["one"]);
  });
});
