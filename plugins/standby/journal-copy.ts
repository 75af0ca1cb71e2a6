/**
 * Copy of a leader's journal at the store, written in addition to the folder.
 *
 * Invariants: `sync` resolves after bytes written to the folder are at the store too, as long as the store answers.
 * While it does not, only the folder counts and nothing waits; the store gets the missing bytes in pieces with its next
 * answers, and continues after a failure where it was. After another process has taken the lease no write succeeds.
 * Bytes at the store that were never read are not removed before the folder has them.
 * Not here: records (journal/), the right to write (lease.ts), the folder of a standby (journal-follower.ts).
 */
import { SluiceError } from "sluice";
import type { Disk, DiskFile } from "sluice/extension";
import { type CopyParts, firstFreeName, isSegment, pieceBytes } from "./journal-follower.ts";
import type { Copied, JournalCopyStore } from "./lease-store.ts";

interface CopiedDiskParts extends CopyParts {
  /** Epoch, read with each change, as a leader may take its lease again. */
  readonly epoch: () => number;
  /** The store over a connection of its own, for what the copy lacks; the same one when left out. */
  readonly bulk?: JournalCopyStore;
  /** Common bytes of the folder and the store, as the follower has read them. */
  readonly read?: ReadonlyMap<string, number>;
}

/** The folder of a leader: every change goes to the store as well. */
export class CopiedDisk implements Disk {
  readonly name: string;
  readonly #disk: Disk;
  readonly #store: JournalCopyStore;
  readonly #bulk: JournalCopyStore;
  readonly #epoch: () => number;
  /** Bytes of each file that the store has confirmed. */
  readonly #confirmed: Map<string, number>;
  /** Files whose bytes at the store were read, or come from here. */
  readonly #known: Set<string>;
  /** Bytes at the store of each file that is to replace another. */
  readonly #staged = new Map<string, number>();
  /** The store's version of the copy when it lacked nothing. */
  #version = 0;
  /** Changes of the store's copy, one after another. */
  #queue: Promise<void> = Promise.resolve();
  #catching: Promise<void> | undefined;
  /**
   * The store lacks bytes, which it gets in pieces, and nothing waits for them. True at first, because its contents are
   * not known.
   */
  #behind = true;

  constructor({ disk, store, epoch, bulk = store, read = new Map() }: CopiedDiskParts) {
    this.name = disk.name;
    this.#disk = disk;
    this.#store = store;
    this.#bulk = bulk;
    this.#epoch = epoch;
    this.#confirmed = new Map(read);
    this.#known = new Set(read.keys());
  }

  /** True if the store lacks something that the folder has. */
  get isBehind(): boolean {
    return this.#behind;
  }

  /**
   * Sends what the store lacks, as far as the store answers; the next call continues from there. Rejects when another
   * process leads.
   */
  catchUp(): Promise<void> {
    this.#catching ??= this.#catchUp().finally(() => {
      this.#catching = undefined;
    });
    return this.#catching;
  }

  list(): Promise<readonly string[]> {
    return this.#disk.list();
  }

  read(name: string): Promise<Uint8Array> {
    return this.#disk.read(name);
  }

  async create(name: string, bytes: Uint8Array): Promise<void> {
    await this.#disk.create(name, bytes);
    await this.#inTurn(() => this.#replace(name, bytes));
  }

  async open(name: string): Promise<DiskFile> {
    const file = await this.#disk.open(name);
    let at = (await this.#disk.read(name)).length;
    let from = at;
    let unsent: Uint8Array[] = [];
    return {
      append: async (bytes) => {
        await file.append(bytes);
        unsent.push(bytes);
        at += bytes.length;
      },
      sync: async () => {
        const bytes = unsent.length === 1 ? (unsent[0] as Uint8Array) : Buffer.concat(unsent);
        unsent = [];
        const start = from;
        from = at;
        await Promise.all([file.sync(), this.#inTurn(() => this.#append(name, start, bytes))]);
      },
      close: () => file.close(),
    };
  }

  async truncate(name: string, bytes: number): Promise<void> {
    await this.#disk.truncate(name, bytes);
    this.#confirmed.delete(name);
    this.#staged.delete(name);
    await this.#inTurn(async () => this.#replace(name, await this.#disk.read(name)));
  }

  async rename(from: string, to: string): Promise<void> {
    await this.#disk.rename(from, to);
    await this.#inTurn(() => this.#remove(from));
    if (isSegment(to)) await this.#inTurn(async () => this.#replace(to, await this.#disk.read(to)));
  }

  async remove(name: string): Promise<void> {
    await this.#disk.remove(name);
    await this.#inTurn(() => this.#remove(name));
  }

  /** The folder is this process's already; the lease decides about the leader. */
  async lock(): Promise<() => Promise<void>> {
    return async () => undefined;
  }

  /** While the store lacks bytes nothing waits for it. */
  #inTurn(work: () => Promise<void>): Promise<void> {
    if (this.#behind) return Promise.resolve();
    const mine = this.#queue.then(work);
    this.#queue = mine.catch(() => undefined);
    return mine;
  }

  async #append(name: string, at: number, bytes: Uint8Array): Promise<void> {
    if (this.#behind) return;
    const known = this.#confirmed.get(name) ?? 0;
    if (at + bytes.length <= known) return;
    if (bytes.length > pieceBytes) return this.#fallBehind();
    const copied = await this.#answered(() => this.#store.append(this.#epoch(), name, at, bytes));
    if (copied === "copied") this.#confirmed.set(name, at + bytes.length);
    else this.#behind = true;
  }

  async #replace(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#behind) return;
    if (bytes.length > pieceBytes) return this.#fallBehind();
    const copied = await this.#answered(() => this.#store.replace(this.#epoch(), name, bytes));
    if (copied === "copied") this.#confirm(name, bytes.length);
    else this.#behind = true;
  }

  async #remove(name: string): Promise<void> {
    if (this.#behind) return;
    this.#confirmed.delete(name);
    await this.#answered(() => this.#store.remove(this.#epoch(), name));
  }

  /** Sends in pieces what is too much for one answer. */
  #fallBehind(): void {
    this.#behind = true;
    // Who leads is settled by the lease, and the next attempt is not far.
    this.catchUp().catch(() => undefined);
  }

  #confirm(name: string, bytes: number): void {
    this.#confirmed.set(name, bytes);
    this.#known.add(name);
  }

  /** In pieces while the folder grows, then the last piece while what is written waits for it. */
  async #catchUp(): Promise<void> {
    if (!this.#behind) return;
    for (let rest = Number.POSITIVE_INFINITY; rest > pieceBytes; ) {
      const sent = await this.#level(this.#bulk);
      if (sent === undefined) return;
      rest = sent;
    }
    this.#behind = false;
    await this.#inTurn(async () => {
      let isLevel = false;
      try {
        isLevel = (await this.#level(this.#store)) !== undefined;
        const now = isLevel ? await this.#answered(() => this.#store.files()) : undefined;
        if (now === undefined) isLevel = false;
        else this.#version = now.version;
      } finally {
        if (!isLevel) this.#behind = true;
      }
    });
  }

  /**
   * Gives the store all segments, and no others. Resolves with the number of bytes that it lacked, with undefined where
   * it does not answer.
   */
  async #level(store: JournalCopyStore): Promise<number | undefined> {
    const there = await this.#answered(() => store.files());
    if (there === undefined) return undefined;
    // It has lost what was confirmed, or some of it.
    if (there.version < this.#version) this.#confirmed.clear();
    const own = (await this.#disk.list()).filter(isSegment);
    for (const [name, bytes] of there.bytes) {
      if (isSegment(name) && !this.#known.has(name) && !(await this.#fetchApart(store, name, bytes))) return undefined;
      if (own.includes(name)) continue;
      this.#confirmed.delete(name);
      if ((await this.#answered(() => store.remove(this.#epoch(), name))) !== "copied") return undefined;
    }
    let sent = 0;
    for (const name of own) {
      const bytes = await this.#disk.read(name);
      const confirmed = this.#confirmed.get(name);
      const isContinued = confirmed !== undefined && confirmed <= (there.bytes.get(name) ?? -1);
      if (isContinued && confirmed === bytes.length) continue;
      sent += bytes.length - (isContinued ? confirmed : 0);
      if (!(await (isContinued ? this.#continue(store, name, bytes, confirmed) : this.#stage(store, name, bytes))))
        return undefined;
    }
    return sent;
  }

  async #continue(store: JournalCopyStore, name: string, bytes: Uint8Array, from: number): Promise<boolean> {
    for (let at = from; at < bytes.length; at += pieceBytes) {
      const piece = bytes.subarray(at, at + pieceBytes);
      if ((await this.#answered(() => store.append(this.#epoch(), name, at, piece))) !== "copied") return false;
      this.#confirmed.set(name, at + piece.length);
    }
    return true;
  }

  /** The copy keeps what it has until the whole file is there. */
  async #stage(store: JournalCopyStore, name: string, bytes: Uint8Array): Promise<boolean> {
    let at = this.#staged.get(name) ?? 0;
    do {
      const piece = bytes.subarray(at, at + pieceBytes);
      const copied = await this.#answered(() => store.stage(this.#epoch(), name, at, piece));
      if (copied === "gap") this.#staged.delete(name);
      if (copied !== "copied") return false;
      at += piece.length;
      this.#staged.set(name, at);
    } while (at < bytes.length);
    const copied = await this.#answered(() => store.replaceStaged(this.#epoch(), name, at));
    if (copied === "gap") this.#staged.delete(name);
    if (copied !== "copied") return false;
    this.#staged.delete(name);
    this.#confirm(name, at);
    return true;
  }

  /**
   * A segment at the store that was never read, as of a store that has its memory back, is kept in the folder before it
   * is replaced or removed.
   */
  async #fetchApart(store: JournalCopyStore, name: string, total: number): Promise<boolean> {
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < total; ) {
      const piece = await this.#answered(() => store.read(name, at, Math.min(pieceBytes, total - at)));
      if (piece === undefined || piece.length === 0) return false;
      pieces.push(piece);
      at += piece.length;
    }
    await this.#disk.create(await firstFreeName(this.#disk, name), Buffer.concat(pieces));
    this.#known.add(name);
    return true;
  }

  /** Answer of the store; undefined where there is none, and then the copy is behind. */
  async #answered<T>(ask: () => Promise<T>): Promise<T | undefined> {
    let answer: T | Copied;
    try {
      answer = await ask();
    } catch {
      this.#behind = true;
      return undefined;
    }
    if (answer === "deposed") throw new SluiceError("JOURNAL_FAILED", "another process leads, and its journal counts");
    return answer as T;
  }
}
