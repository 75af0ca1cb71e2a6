/**
 * A disk that forgets: what was not flushed may be lost, kept or torn when the power goes, as the seed says.
 *
 * Invariants: the durable bytes of a file never shrink; a file that is not made whole does not exist.
 */
import type { Disk, DiskFile } from "../../../src/journal/disk.ts";
import { holdLock } from "../../../src/journal/process-lock.ts";
import type { Random } from "../../../src/random.ts";

export interface MemoryDisk extends Disk {
  /** What is on the disk, unflushed bytes included. */
  readonly files: Map<string, Buffer>;
  /** The power goes: of unflushed bytes nothing, everything or a part remains. */
  crash(fate: "lost" | "kept" | "torn", random?: Random): void;
  /** The next so many flushes fail. */
  failSyncs(count: number): void;
  /** There is no room: of what is appended only a part is written, and no file is made. */
  isFull: boolean;
  /** Called before every step that changes something, so that a test can stop the world there. */
  onStep: (step: string) => void;
  readonly syncs: number;
}

export const memoryDisk = (): MemoryDisk => {
  const files = new Map<string, Buffer>();
  const durable = new Map<string, number>();
  let failing = 0;
  let syncs = 0;
  const bytesOf = (name: string): Buffer => {
    const bytes = files.get(name);
    if (bytes === undefined) throw new Error(`ENOENT: ${name}`);
    return bytes;
  };
  const put = (name: string, bytes: Uint8Array): void => {
    files.set(name, Buffer.from(bytes));
    durable.set(name, bytes.length);
  };
  const disk: MemoryDisk = {
    name: "memory",
    files,
    isFull: false,
    onStep: () => undefined,
    get syncs() {
      return syncs;
    },
    failSyncs: (count) => {
      failing = count;
    },
    crash: (fate, random) => {
      for (const [name, bytes] of files) {
        const safe = durable.get(name) ?? 0;
        const loose = bytes.length - safe;
        const left = fate === "kept" ? loose : fate === "lost" ? 0 : (random?.whole(0, loose) ?? Math.floor(loose / 2));
        put(name, bytes.subarray(0, safe + left));
      }
    },
    lock: holdLock,
    list: async () => [...files.keys()].sort(),
    read: async (name) => Buffer.from(bytesOf(name)),
    create: async (name, bytes) => {
      disk.onStep(`create ${name}`);
      if (disk.isFull) throw new Error("ENOSPC: no space left on device, write");
      if (failing > 0) {
        failing--;
        throw new Error("EIO: the disk does not answer");
      }
      put(name, bytes);
    },
    open: async (name): Promise<DiskFile> => {
      bytesOf(name);
      return {
        append: async (bytes) => {
          disk.onStep(`append ${name}`);
          const written = disk.isFull ? bytes.subarray(0, bytes.length >> 1) : bytes;
          files.set(name, Buffer.concat([bytesOf(name), written]));
          if (disk.isFull) throw new Error("ENOSPC: no space left on device, write");
        },
        sync: async () => {
          syncs++;
          disk.onStep(`sync ${name}`);
          if (failing > 0) {
            failing--;
            throw new Error("EIO: the disk does not answer");
          }
          durable.set(name, bytesOf(name).length);
        },
        close: async () => undefined,
      };
    },
    truncate: async (name, bytes) => {
      put(name, bytesOf(name).subarray(0, bytes));
    },
    rename: async (from, to) => {
      put(to, bytesOf(from));
      files.delete(from);
    },
    remove: async (name) => {
      files.delete(name);
    },
  };
  return disk;
};
