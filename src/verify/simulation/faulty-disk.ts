/**
 * A disk that fails, is slow and forgets: what was not flushed may be lost, kept or torn when the process dies.
 *
 * Invariants: durable bytes never shrink by a crash; a file appears whole or not at all; which orders' records are durable is
 * known at every instant; a dead process's handle does nothing any more, and what it waited for fails.
 */
import type { Clock } from "../../clock/clock.ts";
import type { Disk, DiskFile } from "../../journal/disk.ts";
import type { Random } from "../../random.ts";
import type { DiskFate } from "./fault.ts";

export interface SimulatedDisk {
  /** The disk as one process sees it. */
  open(process: DiskUser): Disk;
  /** The process has died. */
  crash(fate: DiskFate, random: Random): void;
  /** Somebody took the folder away. */
  wipe(): void;
  /** The next write, or flush, fails. */
  fail(what: "write" | "flush"): void;
  /** Milliseconds a flush takes from now on. */
  slow(ms: number): void;
  /** Nothing fails and nothing is slow any more. */
  calm(): void;
  /** Client ids of placements whose records would survive a crash. */
  readonly durable: ReadonlySet<string>;
  /** The journal durably says that trading was halted. */
  readonly halted: boolean;
}

export type DiskStep = "append" | "sync" | "synced";

export interface DiskUser {
  readonly clock: Clock;
  /** Called before every step; throws when the process dies there. */
  readonly step: (step: DiskStep) => void;
  readonly onDeath: (fail: () => void) => void;
  readonly onFailure: () => void;
}

interface File {
  bytes: Buffer;
  length: number;
  durable: number;
}

const modeRecord = /"type":"mode","strategy":"","mode":"(\w+)"/g;
const sentRecord = /"type":"sent"[^\n]*?"clOrdId":"([^"]+)"/g;

const fileOf = (bytes: Uint8Array): File => ({ bytes: Buffer.from(bytes), length: bytes.length, durable: bytes.length });

const extend = (file: File, bytes: Uint8Array): void => {
  const length = file.length + bytes.length;
  if (length > file.bytes.length) {
    const larger = Buffer.alloc(Math.max(length, 2 * file.bytes.length, 65_536));
    file.bytes.copy(larger, 0, 0, file.length);
    file.bytes = larger;
  }
  file.bytes.set(bytes, file.length);
  file.length = length;
};

export const createSimulatedDisk = (): SimulatedDisk => {
  const files = new Map<string, File>();
  const durable = new Set<string>();
  const held = new Set<string>();
  const failing = { write: 0, flush: 0 };
  let slowMs = 0;
  let halted = false;

  const find = (name: string): File => {
    const file = files.get(name);
    if (file === undefined) throw new Error(`ENOENT: ${name}`);
    return file;
  };
  const note = (file: File, from: number): void => {
    const text = file.bytes.toString("utf8", from, file.durable);
    for (const [, clOrdId = ""] of text.matchAll(sentRecord)) durable.add(clOrdId);
    for (const [, mode] of text.matchAll(modeRecord)) halted = mode === "halted";
  };
  const put = (name: string, bytes: Uint8Array): void => {
    const file = fileOf(bytes);
    files.set(name, file);
    halted = false;
    note(file, 0);
  };
  const failure = (what: "write" | "flush", { onFailure }: DiskUser): void => {
    if (failing[what] === 0) return;
    failing[what]--;
    onFailure();
    throw new Error(`EIO: the ${what} failed`);
  };
  const wait = async ({ clock, onDeath }: DiskUser): Promise<void> => {
    if (slowMs === 0) return;
    await new Promise<void>((resolve, reject) => {
      clock.setTimer(clock.now() + slowMs, resolve);
      onDeath(() => {
        reject(new Error("the process has died"));
      });
    });
  };
  const handle = (name: string, user: DiskUser): DiskFile => ({
    append: async (bytes) => {
      user.step("append");
      failure("write", user);
      extend(find(name), bytes);
    },
    sync: async () => {
      user.step("sync");
      await wait(user);
      failure("flush", user);
      const file = find(name);
      const from = file.durable;
      file.durable = file.length;
      note(file, from);
      user.step("synced");
    },
    close: async () => undefined,
  });
  return {
    durable,
    get halted() {
      return halted;
    },
    open: (user) => ({
      name: "journal",
      list: async () => [...files.keys()].sort(),
      read: async (name) => {
        const { bytes, length } = find(name);
        return Buffer.from(bytes.subarray(0, length));
      },
      create: async (name, bytes) => {
        user.step("append");
        put(name, bytes);
      },
      open: async (name) => {
        find(name);
        return handle(name, user);
      },
      truncate: async (name, bytes) => {
        put(name, find(name).bytes.subarray(0, bytes));
      },
      rename: async (from, to) => {
        files.set(to, find(from));
        files.delete(from);
      },
      remove: async (name) => {
        files.delete(name);
      },
      lock: async (name) => {
        if (held.has(name)) throw new Error(`another process holds ${name}`);
        held.add(name);
        return async () => {
          held.delete(name);
        };
      },
    }),
    crash: (fate, random) => {
      held.clear();
      for (const file of files.values()) {
        const loose = file.length - file.durable;
        file.length = file.durable + (fate === "everything" ? loose : fate === "a part" ? random.whole(0, loose) : 0);
        const from = file.durable;
        file.durable = file.length;
        note(file, from);
      }
    },
    wipe: () => {
      files.clear();
      halted = false;
    },
    fail: (what) => {
      failing[what] = 1;
    },
    slow: (ms) => {
      slowMs = ms;
    },
    calm: () => {
      failing.write = 0;
      failing.flush = 0;
      slowMs = 0;
    },
  };
};
