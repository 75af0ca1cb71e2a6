/** The files of a lasting journal to the byte: the written form, what is refused, and when one file gives way to the next. */
import { describe, expect, it } from "vitest";
import type { Disk } from "../../../src/journal/disk.ts";
import { genesis, lineOf, markOf, readChain } from "../../../src/journal/record-chain.ts";
import { openWriteAheadLog, type WriteAheadLog } from "../../../src/journal/write-ahead-log.ts";
import { type MemoryDisk, memoryDisk } from "../../support/harness/memory-disk.ts";

type WriteAheadLogOptions = Parameters<typeof openWriteAheadLog>[0];

const owner = { service: "s", user: "main" };
const opened = async (disk: Disk, options: Partial<WriteAheadLogOptions> = {}): Promise<WriteAheadLog> =>
  openWriteAheadLog({ disk, owner, snapshot: () => [], ...options });
const first = "00000001.journal";
const bytesOf = (disk: MemoryDisk, name = first): Buffer => disk.files.get(name) as Buffer;
const written = async (...records: readonly object[]): Promise<MemoryDisk> => {
  const disk = memoryDisk();
  const store = await opened(disk);
  for (const record of records) store.append(record);
  await store.close();
  return disk;
};

describe("A write-ahead log line", () => {
  it("is written in the one form that every version reads", () => {
    const json = '{"type":"over","clOrdId":"ü"}';
    expect(markOf(genesis, json)).toBe("ff5581382a4369b4e5f798e1");
    expect(lineOf(genesis, json)).toEqual({
      mark: "ff5581382a4369b4e5f798e1",
      text: `ff5581382a4369b4e5f798e1 ${json}\n`,
    });
  });

  it.each(["", "[1]", "null", '"{"', "[{", ' {"a":1}', '{"a":\n1}', '{"a":1}\n'])("is not made of %j", (json) => {
    expect(() => lineOf(genesis, json)).toThrow("a journal record is an object on one line");
  });

  const chain = (...records: readonly object[]): Buffer => {
    let mark = genesis;
    let text = "";
    for (const record of records) {
      const line = lineOf(mark, JSON.stringify(record));
      ({ mark } = line);
      text += line.text;
    }
    return Buffer.from(text);
  };

  it("is not what was written when an unreadable byte stands for one that was written so", () => {
    const file = chain({ text: "\uFFFD" });
    const at = file.indexOf(0xef);
    const damaged = Buffer.concat([file.subarray(0, at), Buffer.from([0xff]), file.subarray(at + 3)]);
    expect(readChain(file)).toMatchObject({ records: [{ text: "\uFFFD" }], ending: "whole" });
    expect(readChain(damaged)).toMatchObject({ records: [], bytes: 0, ending: "damaged" });
  });

  it("is not what was written when a byte order mark stands before it", () => {
    const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), chain({ n: 1 })]);
    expect(readChain(marked)).toMatchObject({ records: [], bytes: 0, ending: "damaged" });
  });

  it("is not what was written when it is empty or something else parts its mark from it", () => {
    expect(readChain(Buffer.from("\n"))).toMatchObject({ records: [], bytes: 0, ending: "damaged" });
    const file = chain({ n: 1 });
    file[genesis.length] = 9;
    expect(readChain(file).ending).toBe("damaged");
  });
});

describe("The write-ahead log opens", () => {
  it("from its newest segment, whatever else lies in the folder", async () => {
    const disk = await written({ n: 1 });
    for (const name of ["00000009.journal.damaged", "a00000009.journal", "notes.txt", "lock"])
      disk.files.set(name, Buffer.from("?"));
    expect((await opened(disk)).past).toEqual([{ n: 1 }]);
    expect(disk.files.has("00000002.journal")).toBe(false);
  });

  it("whole, without a word of repair, where nothing was ever written to it", async () => {
    const disk = await written();
    const store = await opened(disk);
    expect([store.past, store.repaired]).toEqual([[], undefined]);
  });

  it.each([
    ["is empty", 0],
    ["ends within its first line", 20],
  ])("never from a segment that %s, because a segment appears whole", async (_, length) => {
    const disk = await written({ n: 1 });
    disk.files.set(first, bytesOf(disk).subarray(0, length));
    await expect(opened(disk)).rejects.toMatchObject({
      code: "JOURNAL_INVALID",
      message: expect.stringContaining("damaged after byte 0") as string,
    });
    const store = await opened(disk, { damaged: "set_aside" });
    expect(store.past).toEqual([]);
    expect(store.repaired).toBe(
      `memory/${first} is damaged after byte 0; it is kept as ${first}.damaged, and 0 records before the damage are used.`,
    );
  });

  it("with the count of the records that could be kept when damage is set aside", async () => {
    const disk = await written({ n: 1 }, { n: 2 }, { n: 3 }, { n: 4 });
    const bytes = bytesOf(disk);
    const digit = bytes.indexOf('{"n":3}') + 5;
    bytes[digit] = (bytes[digit] as number) ^ 1;
    const store = await opened(disk, { damaged: "set_aside" });
    expect(store.past).toEqual([{ n: 1 }, { n: 2 }]);
    expect(store.repaired).toMatch(/and 2 records before the damage are used\.$/);
  });

  it.each<[string, Readonly<Record<string, string>>]>([
    ["another user's", { ...owner, user: "other" }],
    ["one who has another name besides", { ...owner, instance: "two" }],
    ["one who has a name less", { service: "s" }],
  ])("not for %s", async (_, other) => {
    const disk = await written({ n: 1 });
    const words = Object.entries(other)
      .map(([name, value]) => `${name} ${value}`)
      .join(", ");
    await expect(opened(disk, { owner: other })).rejects.toThrow(
      `memory/${first}: it is the journal of service s, user main, not of ${words}. Give each its own folder.`,
    );
  });
});

describe("A write-ahead log segment", () => {
  it("is followed by the next only when it is longer than asked", async () => {
    const disk = await written();
    const store = await opened(disk, { segmentBytes: bytesOf(disk).length });
    for (const n of [1, 2]) {
      store.append({ n });
      await store.commit();
    }
    expect([...disk.files.keys()]).toEqual([first, "00000002.journal"]);
    expect(bytesOf(disk).toString()).toContain('{"n":1}');
    expect(bytesOf(disk, "00000002.journal").toString()).not.toContain('{"n":1}');
    expect(bytesOf(disk, "00000002.journal").toString()).toContain('{"n":2}');
  });

  it("takes away only segments older than the one before it, and nothing else in the folder", async () => {
    const disk = await written();
    for (const name of ["00000000.journal.damaged", "notes.txt", "zz"]) disk.files.set(name, Buffer.from("?"));
    const store = await opened(disk, { segmentBytes: 1 });
    for (let n = 0; n < 5; n++) {
      store.append({ n });
      await store.commit();
    }
    expect([...disk.files.keys()].sort()).toEqual([
      "00000000.journal.damaged",
      "00000005.journal",
      "00000006.journal",
      "notes.txt",
      "zz",
    ]);
  });
});

describe("A closed write-ahead log", () => {
  it("wrote what was waiting, let go of its file once, and takes nothing more", async () => {
    const disk = memoryDisk();
    let closes = 0;
    const counting: Disk = {
      ...disk,
      open: async (name) => ({
        ...(await disk.open(name)),
        close: async () => {
          closes++;
        },
      }),
    };
    const store = await opened(counting);
    store.append({ n: 1 });
    await store.close();
    await store.close();
    expect(closes).toBe(1);
    const { syncs } = disk;
    expect(syncs).toBe(1);
    try {
      store.append({ n: 2 });
      expect.unreachable();
    } catch (error) {
      expect(error).toMatchObject({
        code: "JOURNAL_FAILED",
        message: "memory: the journal was closed; nothing can be written to it.",
      });
    }
    expect((await opened(disk)).past).toEqual([{ n: 1 }]);
  });

  it("asks nothing of the disk when nothing waits", async () => {
    const disk = memoryDisk();
    const store = await opened(disk);
    await store.commit();
    await store.close();
    expect(disk.syncs).toBe(0);
  });

  it("lets go of its file also when the last flush fails", async () => {
    const disk = memoryDisk();
    const store = await opened(disk);
    store.append({ n: 1 });
    disk.failSyncs(1);
    await expect(store.close()).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    await expect(store.close()).resolves.toBeUndefined();
  });
});
