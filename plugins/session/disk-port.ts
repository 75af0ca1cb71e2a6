/**
 * The folder of an engine's journal as part of a session: what is asked of it leaves the engine, what it answers
 * enters.
 *
 * Invariants: recording and replay share the shape of the folder, so that promises settle alike in both; bytes that are
 * written are recorded by size and hash, bytes that are read are kept; a replay touches no folder.
 * Not here: what a journal holds (journal/write-ahead-log.ts).
 */
import { createHash } from "node:crypto";
import type { Disk, DiskFile } from "sluice/extension";
import type { InputSequencer } from "./input-sequencer.ts";
import type { ReplayScript } from "./replay-script.ts";
import { codeIn, type DiskQuestion, type Entry, errorOf } from "./session-records.ts";

type Ask = (question: DiskQuestion, bytes?: Uint8Array) => Promise<unknown>;

const written = (bytes: Uint8Array): Pick<DiskQuestion, "size" | "sha256"> => ({
  size: bytes.length,
  sha256: createHash("sha256").update(bytes).digest("hex"),
});

const diskOver = (name: string, ask: Ask): Disk => {
  const done = async (question: DiskQuestion, bytes?: Uint8Array): Promise<void> => {
    await ask(question, bytes);
  };
  const fileOf = (target: number): DiskFile => ({
    append: (bytes) => done({ op: "append", target, ...written(bytes) }, bytes),
    sync: () => done({ op: "sync", target }),
    close: () => done({ op: "close", target }),
  });
  return {
    name,
    list: async () => ((await ask({ op: "list" })) as readonly string[] | undefined) ?? [],
    read: async (target) => Buffer.from(((await ask({ op: "read", target })) as string | undefined) ?? "", "base64"),
    create: (target, bytes) => done({ op: "create", target, ...written(bytes) }, bytes),
    open: async (target) => fileOf(((await ask({ op: "open", target })) as number | undefined) ?? 0),
    truncate: (target, to) => done({ op: "truncate", target, to }),
    rename: (target, to) => done({ op: "rename", target, to }),
    remove: (target) => done({ op: "remove", target }),
    lock: async (target) => {
      await done({ op: "lock", target });
      return () => done({ op: "unlock", target });
    },
  };
};

type OpenDisk = (dir: string) => Promise<Disk>;

/** The same folder, each of its answers an entry. */
export const recordedDisk =
  (openDisk: OpenDisk, turnsOf: () => InputSequencer | undefined): OpenDisk =>
  async (dir) => {
    const inner = await openDisk(dir);
    const turns = turnsOf();
    if (turns === undefined) return inner;
    const files = new Map<number, DiskFile>();
    const locks: Locks = new Map();
    let count = 1;
    const answered = (disk: number, answer: Promise<unknown>): Promise<unknown> =>
      new Promise((resolve, reject) => {
        answer.then(
          (value) => {
            turns.enter(
              () => ({ in: "disk", disk, ...(value !== undefined && { value }) }),
              () => {
                resolve(value);
              },
            );
          },
          (thrown: unknown) => {
            const error = thrown instanceof Error ? thrown : new Error(String(thrown));
            turns.enter(
              () => ({ in: "disk", disk, error: error.message, ...codeIn(thrown) }),
              () => {
                reject(errorOf(error.message, codeIn(thrown).code));
              },
            );
          },
        );
      });
    const ask: Ask = (question, bytes) => {
      const disk = count++;
      turns.note({ out: "disk", disk, ...question });
      return answered(
        disk,
        turns.asking(() => perform(inner, { files, locks }, disk, question, bytes)),
      );
    };
    // Opening comes from the machine's side, after waiting for a lock: that is an entry, and no question before it.
    await answered(0, Promise.resolve(inner.name));
    return diskOver(inner.name, ask);
  };

type Locks = Map<string, () => Promise<void>>;

interface Held {
  readonly files: Map<number, DiskFile>;
  readonly locks: Locks;
}

const perform = async (
  disk: Disk,
  { files, locks }: Held,
  number: number,
  { op, target = "", to = 0 }: DiskQuestion,
  bytes: Uint8Array = new Uint8Array(),
): Promise<unknown> => {
  const name = String(target);
  const file = files.get(Number(target));
  switch (op) {
    case "list":
      return disk.list();
    case "read":
      return Buffer.from(await disk.read(name)).toString("base64");
    case "create":
      return disk.create(name, bytes);
    case "open":
      files.set(number, await disk.open(name));
      return number;
    case "truncate":
      return disk.truncate(name, Number(to));
    case "rename":
      return disk.rename(name, String(to));
    case "remove":
      return disk.remove(name);
    case "lock":
      locks.set(name, await disk.lock(name));
      return undefined;
    case "unlock":
      return locks.get(name)?.();
    case "append":
      return file?.append(bytes);
    case "sync":
      return file?.sync();
    case "close":
      return file?.close();
  }
};

export interface ReplayedDisk {
  readonly open: OpenDisk;
  /** True when the engine waits for this answer. */
  readonly waits: (disk: number) => boolean;
  readonly answer: (entry: Extract<Entry, { readonly in: "disk" }>) => void;
  /** The session is over: everything that waits may continue. */
  readonly release: () => void;
}

/** The folder as it answered then. */
export const replayedDisk = (script: ReplayScript): ReplayedDisk => {
  const waiting = new Map<
    number,
    { readonly resolve: (value: unknown) => void; readonly reject: (error: Error) => void }
  >();
  let count = 0;
  const answered = (): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const disk = count++;
      if (script.over) resolve(undefined);
      else waiting.set(disk, { resolve, reject });
    });
  const ask: Ask = (question) => {
    script.act({ out: "disk", disk: count, ...question });
    return answered();
  };
  return {
    open: async () => diskOver(String(await answered()), ask),
    waits: (disk) => waiting.has(disk),
    answer: ({ disk, value, error, code }) => {
      const one = waiting.get(disk);
      waiting.delete(disk);
      if (error === undefined) one?.resolve(value);
      else one?.reject(errorOf(error, code));
    },
    release: () => {
      for (const { resolve } of waiting.values()) resolve(undefined);
      waiting.clear();
    },
  };
};
