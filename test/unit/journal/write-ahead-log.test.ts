/** The journal that outlives the process: what it promises, crash by crash and bit by bit. */
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SluiceError } from "../../../src/errors.ts";
import { fileDisk } from "../../../src/journal/file-disk.ts";
import { genesis, lineOf, readChain } from "../../../src/journal/record-chain.ts";
import { openWriteAheadLog, type WriteAheadLog } from "../../../src/journal/write-ahead-log.ts";
import { createRandom } from "../../../src/random.ts";
import { type MemoryDisk, memoryDisk } from "../../support/harness/memory-disk.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";

type WriteAheadLogOptions = Parameters<typeof openWriteAheadLog>[0];

const owner = { service: "http://127.0.0.1:8080", user: "main", instance: "main" };
const opened = async (disk: MemoryDisk, options: Partial<WriteAheadLogOptions> = {}): Promise<WriteAheadLog> =>
  openWriteAheadLog({ disk, owner, snapshot: () => [], ...options });
const numbered = (count: number, from = 1): object[] =>
  Array.from({ length: count }, (_, index) => ({ n: from + index, text: "ü".repeat(index % 5) }));

const written = async (records: readonly object[]): Promise<MemoryDisk> => {
  const disk = memoryDisk();
  const store = await opened(disk);
  for (const record of records) store.append(record);
  await store.close();
  return disk;
};
const fileOf = (disk: MemoryDisk): Buffer => disk.files.get("00000001.journal") as Buffer;
const chainOf = (records: readonly object[]): Buffer => {
  let mark = genesis;
  return Buffer.from(
    records
      .map((record) => {
        const line = lineOf(mark, JSON.stringify(record));
        ({ mark } = line);
        return line.text;
      })
      .join(""),
  );
};

describe("A record chain", () => {
  // Made inside the tests: what goes wrong while tests are collected is no failed test.
  const dozen = () => {
    const file = chainOf(numbered(12));
    return { file, starts: [...file.entries()].filter(([, byte]) => byte === 10).map(([index]) => index + 1) };
  };

  it("is read back as it was written", () => {
    const { file } = dozen();
    expect(readChain(file)).toMatchObject({ records: numbered(12), bytes: file.length, ending: "whole" });
  });

  it("cut off anywhere gives the whole lines before the cut, and says that the end is torn", () => {
    const { file, starts } = dozen();
    for (let length = 0; length < file.length; length++) {
      const whole = starts.filter((start) => start <= length).length;
      const reading = readChain(file.subarray(0, length));
      expect(reading.records).toEqual(numbered(whole));
      expect(reading.ending).toBe([0, ...starts].includes(length) ? "whole" : "torn");
    }
  });

  it("with any one bit flipped gives only lines from before it, and never passes for whole", () => {
    const { file, starts } = dozen();
    for (let bit = 0; bit < file.length * 8; bit++) {
      const flipped = Buffer.from(file);
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7));
      const before = starts.filter((start) => start <= bit >> 3).length;
      const { records, ending } = readChain(flipped);
      expect(records).toEqual(numbered(before));
      // The end of the last line alone: the line could as well have been cut off there.
      expect(ending).toBe(bit >> 3 === file.length - 1 ? "torn" : "damaged");
    }
  });

  it("notices lines left out, doubled, swapped or taken from another chain", () => {
    const lines = dozen()
      .file.toString()
      .split(/(?<=\n)/);
    const other = chainOf([{ other: 1 }, ...numbered(3)])
      .toString()
      .split(/(?<=\n)/);
    const variants = [
      lines.filter((_, index) => index !== 4),
      lines.flatMap((line, index) => (index === 4 ? [line, line] : [line])),
      lines.map((line, index) => (index === 4 ? lines[5] : index === 5 ? lines[4] : line)),
      lines.map((line, index) => (index === 4 ? other[2] : line)),
    ];
    for (const variant of variants) expect(readChain(Buffer.from(variant.join(""))).ending).toBe("damaged");
  });
});

describe("The write-ahead log:", () => {
  it("gives every later life what was committed, in order", async () => {
    const disk = await written(numbered(3));
    const second = await opened(disk);
    expect(second.past).toEqual(numbered(3));
    expect(second.repaired).toBeUndefined();
    second.append({ n: 4 });
    await second.close();
    expect((await opened(disk)).past).toEqual([...numbered(3), { n: 4 }]);
  });

  it("one flush serves all who wait, and nobody is answered before his record is safe", async () => {
    const disk = memoryDisk();
    const store = await opened(disk);
    const waits: Promise<void>[] = [];
    for (let n = 1; n <= 50; n++) {
      store.append({ n });
      waits.push(store.commit());
    }
    await Promise.all(waits);
    expect(disk.syncs).toBeLessThanOrEqual(2);
    disk.crash("lost");
    expect((await opened(disk)).past).toHaveLength(50);
  });

  it("makes the records of one instant durable with one flush, and a later record with the next", async () => {
    const disk = memoryDisk();
    const store = await opened(disk);
    const before = disk.syncs;
    const commit = (n: number): Promise<void> => {
      store.append({ n });
      return store.commit();
    };
    const instant = [commit(1), commit(2), commit(3)];
    const later = Promise.all(instant).then(() => disk.syncs - before);
    await Promise.all(instant);
    await commit(4);
    expect([await later, disk.syncs - before]).toEqual([1, 2]);
    expect((await opened(disk)).past).toEqual([1, 2, 3, 4].map((n) => ({ n })));
  });

  it("keeps what was committed whatever the crash does to the rest", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.boolean(), { maxLength: 40 }),
        fc.constantFrom("lost", "kept", "torn"),
        fc.nat(),
        async (commits, fate, seed) => {
          const disk = memoryDisk();
          const store = await opened(disk, { segmentBytes: 400, snapshot: () => past });
          const past: object[] = [];
          let safe = 0;
          for (const [n, commit] of commits.entries()) {
            const record = { n };
            past.push(record);
            store.append(record);
            if (!commit) continue;
            await store.commit();
            safe = past.length;
          }
          // A flush is under way when the power goes.
          const last = store.commit();
          disk.crash(fate as "lost", createRandom(seed));
          await last;
          disk.crash("lost");
          const found = (await opened(disk)).past as { n: number }[];
          const seen = new Set(found.map(({ n }) => n));
          for (let n = 0; n < safe; n++) expect(seen.has(n)).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });

  it.each(["lost", "kept", "torn"] as const)(
    "survives a crash at every step of a life that rotates: %s",
    async (fate) => {
      const live = async (disk: MemoryDisk, stopAt: number): Promise<{ safe: number; steps: number }> => {
        let steps = 0;
        let safe = 0;
        const past: object[] = [];
        disk.onStep = () => {
          if (++steps === stopAt) throw new Error("the power goes");
        };
        try {
          const store = await opened(disk, { segmentBytes: 300, snapshot: () => past });
          for (let n = 0; n < 12; n++) {
            past.push({ n });
            store.append({ n });
            await store.commit();
            safe = past.length;
          }
        } catch {
          // The life ends here.
        }
        disk.onStep = () => undefined;
        return { safe, steps };
      };
      const { steps } = await live(memoryDisk(), 0);
      expect(steps).toBeGreaterThan(25);
      for (let stopAt = 1; stopAt <= steps; stopAt++) {
        const disk = memoryDisk();
        const { safe } = await live(disk, stopAt);
        disk.crash(fate, createRandom(stopAt));
        const seen = new Set(((await opened(disk)).past as { n: number }[]).map(({ n }) => n));
        for (let n = 0; n < safe; n++) expect(seen.has(n), `record ${n} after a crash at step ${stopAt}`).toBe(true);
      }
    },
  );

  it("drops a cut-off end, says so, and goes on behind it", async () => {
    const disk = await written(numbered(3));
    disk.files.set("00000001.journal", fileOf(disk).subarray(0, -4));
    const store = await opened(disk);
    expect(store.past).toEqual(numbered(2));
    expect(store.repaired).toMatch(/memory\/00000001\.journal: the last line was cut off/);
    store.append({ n: 9 });
    await store.close();
    expect((await opened(disk)).past).toEqual([...numbered(2), { n: 9 }]);
  });

  const damage = (disk: MemoryDisk): void => {
    const bytes = fileOf(disk);
    bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] as number) ^ 1;
  };

  it("refuses damage by place and remedy, and leaves the file as it is", async () => {
    const disk = await written(numbered(6));
    damage(disk);
    const before = Buffer.from(fileOf(disk));
    await expect(opened(disk)).rejects.toMatchObject({
      code: "JOURNAL_INVALID",
      message: expect.stringMatching(
        /memory\/00000001\.journal: it is damaged after byte \d+.*journal\.rebuild/,
      ) as string,
    });
    expect(fileOf(disk)).toEqual(before);
  });

  it("sets damage aside when told to, and keeps what stood before it", async () => {
    const disk = await written(numbered(6));
    damage(disk);
    const store = await opened(disk, { damaged: "set_aside" });
    expect(store.past.length).toBeGreaterThan(0);
    expect(store.past).toEqual(numbered(store.past.length));
    expect(store.repaired).toMatch(/kept as 00000001\.journal\.damaged/);
    await store.close();
    expect([...disk.files.keys()].sort()).toEqual(["00000001.journal.damaged", "00000002.journal"]);
    expect((await opened(disk)).past).toEqual(store.past);
  });

  it("of somebody else is refused by name", async () => {
    const disk = await written(numbered(1));
    await expect(opened(disk, { owner: { ...owner, user: "other" } })).rejects.toThrow(
      /is the journal of .*user main.*, not of .*user other/,
    );
    disk.files.set("00000001.journal", chainOf([{ format: "sluice-journal/9", owner }]));
    await expect(opened(disk)).rejects.toThrow(/not a journal of format sluice-journal\/1/);
  });

  it("promises nothing any more once a flush has failed", async () => {
    const disk = memoryDisk();
    const store = await opened(disk);
    store.append({ n: 1 });
    disk.failSyncs(1);
    const first = store.commit();
    const second = store.commit();
    await expect(first).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    await expect(second).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    const { syncs } = disk;
    await expect(store.commit()).rejects.toThrow(/EIO.*No order leaves without it/);
    expect(disk.syncs).toBe(syncs);
  });

  it("begins anew with the state when the disk has room again, and loses nothing of what was committed or is known", async () => {
    const disk = memoryDisk();
    const state: object[] = [];
    const store = await opened(disk, { snapshot: () => state });
    const write = async (record: object): Promise<void> => {
      state.push(record);
      store.append(record);
      await store.commit();
    };
    await write({ n: 1 });
    disk.isFull = true;
    await expect(write({ n: 2, text: "long enough to be torn" })).rejects.toThrow(
      /ENOSPC.*only exits and cancels do, without a record/,
    );
    await expect(store.restart()).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    await expect(write({ n: 3 })).rejects.toMatchObject({ code: "JOURNAL_FAILED" });
    // Should the process end now, what was committed is there.
    expect((await opened({ ...disk, files: new Map(disk.files), isFull: false })).past).toEqual([{ n: 1 }]);
    disk.isFull = false;
    const restarting = store.restart();
    // Known after the snapshot, and before the new segment is written to.
    state.push({ n: 4 });
    store.append({ n: 4 });
    await restarting;
    await write({ n: 5 });
    await store.close();
    disk.crash("lost");
    const past = (await opened(disk)).past as { n: number }[];
    expect([...new Set(past.map(({ n }) => n))]).toEqual([1, 2, 3, 4, 5]);
    expect(store.isLost).toBe(false);
  });

  it("does not begin anew where another process goes on with it", async () => {
    const disk = memoryDisk();
    const deposed = new SluiceError("JOURNAL_FAILED", "another process leads");
    const taken: MemoryDisk = { ...disk };
    taken.open = async (name) => ({
      ...(await disk.open(name)),
      sync: () => Promise.reject(deposed),
    });
    const store = await opened(taken);
    store.append({ n: 1 });
    await expect(store.commit()).rejects.toThrow(/another process leads.*No order leaves without it; cancels do/);
    expect(store.isLost).toBe(true);
    await expect(store.restart()).rejects.toThrow("another process leads");
    expect([...disk.files.keys()]).toEqual(["00000001.journal"]);
  });

  it("begins new segments with the state, and keeps two", async () => {
    const disk = memoryDisk();
    let last: object = { n: 0 };
    const store = await opened(disk, { segmentBytes: 500, snapshot: () => [{ state: last }] });
    for (let n = 1; n <= 200; n++) {
      last = { n };
      store.append(last);
      await store.commit();
    }
    await store.close();
    const names = [...disk.files.keys()];
    expect(names).toHaveLength(2);
    for (const bytes of disk.files.values()) expect(bytes.length).toBeLessThan(800);
    const { past } = await opened(disk);
    expect(past[0]).toHaveProperty("state");
    expect(past.at(-1)).toEqual({ n: 200 });
  });

  it("takes nothing after it was closed", async () => {
    const store = await opened(memoryDisk());
    await store.close();
    await store.close();
    expect(() => store.append({})).toThrow(/was closed/);
  });
});

describe("The write-ahead log on a real disk:", () => {
  const root = temporaryFolder("journal");

  it("a file in the folder's place is told with a remedy", async () => {
    const place = join(root, "taken");
    writeFileSync(place, "");
    const text = "a file is in its place or on the way. Move that away, or name another folder.";
    await expect(fileDisk(place)).rejects.toThrow(`The folder ${place} cannot be made: ${text}`);
    await expect(fileDisk(join(place, "deeper"))).rejects.toThrow(text);
  });

  it("the same, in files that are the owner's alone, and half-made files are passed over", async () => {
    const folder = join(root, "deep", "er");
    const disk = await fileDisk(folder);
    const options: WriteAheadLogOptions = { disk, owner, snapshot: () => [{ all: true }], segmentBytes: 600 };
    const store = await openWriteAheadLog(options);
    for (const record of numbered(20)) {
      store.append(record);
      await store.commit();
    }
    await store.close();
    writeFileSync(join(folder, "99999999.journal.new"), "half");
    const again = await openWriteAheadLog({ ...options, disk: await fileDisk(folder) });
    expect(again.past.at(-1)).toEqual(numbered(20).at(-1));
    expect(again.repaired).toBeUndefined();
    await again.close();
    const [name = ""] = await disk.list();
    expect(statSync(join(folder, name)).mode & 0o777).toBe(0o600);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  });
});
