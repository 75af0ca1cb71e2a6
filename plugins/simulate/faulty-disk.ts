/**
 * Disk that fails, is slow and forgets: data that was not flushed may be lost, kept or torn when the process dies.
 *
 * Invariants: durable bytes never shrink by a crash; a file appears whole or not at all; which orders' records are
 * durable is known at every instant; a crashed process's handle has no effect any more, and its pending operations
 * fail.
 */

import type { Random } from "sluice";
import type { Clock, Disk, DiskFile } from "sluice/extension";
import type { DiskFate } from "./fault.ts";

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

const fileOf = (bytes: Uint8Array): File => ({
  bytes: Buffer.from(bytes),
  length: bytes.length,
  durable: bytes.length,
});

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

export class SimulatedDisk {
  readonly #files = new Map<string, File>();
  readonly #durable = new Set<string>();
  readonly #locks = new Set<string>();
  readonly #failing = { write: 0, flush: 0 };
  #slowMs = 0;

  /** Client ids of placements whose records would survive a crash. */
  get durable(): ReadonlySet<string> {
    return this.#durable;
  }

  /**
   * True if the last mode in the journal is "halted". Written data that was not flushed is there for the next process,
   * unless a crash removes it.
   */
  get halted(): boolean {
    const { bytes, length } = [...this.#files.values()].at(-1) ?? fileOf(new Uint8Array());
    return [...bytes.toString("utf8", 0, length).matchAll(modeRecord)].at(-1)?.[1] === "halted";
  }

  /** The disk as one process sees it. */
  open(user: DiskUser): Disk {
    return {
      name: "journal",
      list: async () => [...this.#files.keys()].sort(),
      read: async (name) => {
        const { bytes, length } = this.#find(name);
        return Buffer.from(bytes.subarray(0, length));
      },
      create: async (name, bytes) => {
        user.step("append");
        this.#put(name, bytes);
      },
      open: async (name) => {
        this.#find(name);
        return this.#handle(name, user);
      },
      truncate: async (name, bytes) => {
        this.#put(name, this.#find(name).bytes.subarray(0, bytes));
      },
      rename: async (from, to) => {
        this.#files.set(to, this.#find(from));
        this.#files.delete(from);
      },
      remove: async (name) => {
        this.#files.delete(name);
      },
      lock: async (name) => {
        if (this.#locks.has(name)) throw new Error(`another process holds ${name}`);
        this.#locks.add(name);
        return async () => {
          this.#locks.delete(name);
        };
      },
    };
  }

  /** The process has died. */
  crash(fate: DiskFate, random: Random): void {
    this.#locks.clear();
    for (const file of this.#files.values()) {
      const loose = file.length - file.durable;
      file.length = file.durable + (fate === "everything" ? loose : fate === "a part" ? random.whole(0, loose) : 0);
      this.#flushed(file);
    }
  }

  /** The folder is gone. */
  wipe(): void {
    this.#files.clear();
  }

  /** The next write, or flush, fails. */
  fail(what: "write" | "flush"): void {
    this.#failing[what] = 1;
  }

  /** Milliseconds a flush takes from now on. */
  slow(ms: number): void {
    this.#slowMs = ms;
  }

  /** Nothing fails and nothing is slow any more. */
  calm(): void {
    this.#failing.write = 0;
    this.#failing.flush = 0;
    this.#slowMs = 0;
  }

  #find(name: string): File {
    const file = this.#files.get(name);
    if (file === undefined) throw new Error(`ENOENT: ${name}`);
    return file;
  }

  #note(file: File, from: number): void {
    const text = file.bytes.toString("utf8", from, file.durable);
    for (const [, clOrdId = ""] of text.matchAll(sentRecord)) this.#durable.add(clOrdId);
  }

  #flushed(file: File): void {
    const from = file.durable;
    file.durable = file.length;
    this.#note(file, from);
  }

  #put(name: string, bytes: Uint8Array): void {
    const file = fileOf(bytes);
    this.#files.set(name, file);
    this.#note(file, 0);
  }

  #checkFailure(what: "write" | "flush", { onFailure }: DiskUser): void {
    if (this.#failing[what] === 0) return;
    this.#failing[what]--;
    onFailure();
    throw new Error(`EIO: the ${what} failed`);
  }

  async #wait({ clock, onDeath }: DiskUser): Promise<void> {
    if (this.#slowMs === 0) return;
    await new Promise<void>((resolve, reject) => {
      clock.setTimer(clock.now() + this.#slowMs, resolve);
      onDeath(() => reject(new Error("the process has died")));
    });
  }

  #handle(name: string, user: DiskUser): DiskFile {
    return {
      append: async (bytes) => {
        user.step("append");
        this.#checkFailure("write", user);
        extend(this.#find(name), bytes);
      },
      sync: async () => {
        user.step("sync");
        await this.#wait(user);
        this.#checkFailure("flush", user);
        this.#flushed(this.#find(name));
        user.step("synced");
      },
      close: async () => undefined,
    };
  }
}
