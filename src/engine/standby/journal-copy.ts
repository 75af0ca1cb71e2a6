/**
 * Copy of a leader's journal: written to the store beside the folder, and kept in the folder of each process that stands by.
 *
 * Invariants: what is written to the folder is at the store as well before `sync` resolves, as long as the store answers; while it does
 * not, the folder alone counts, and the store gets all of it with its next answer. After another process has taken the lease no write
 * succeeds. A folder keeps what continues the copy; what contradicts it is set aside under another name, never dropped.
 * Not here: records (journal/), who may write (lease.ts).
 */
import { SluiceError } from "../../errors.ts";
import type { Disk, DiskFile } from "../../journal/disk.ts";
import { isSegment } from "../../journal/write-ahead-log.ts";
import type { Copied, JournalCopyStore } from "./lease-store.ts";

interface CopyParts {
  readonly disk: Disk;
  readonly store: JournalCopyStore;
}

const isPrefix = (short: Uint8Array, long: Uint8Array): boolean =>
  short.length <= long.length && Buffer.compare(short, long.subarray(0, short.length)) === 0;

const appendTo = async (disk: Disk, name: string, bytes: Uint8Array): Promise<void> => {
  const file = await disk.open(name);
  try {
    await file.append(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** The folder of a process that stands by: follows the store's copy. */
export class JournalFollower {
  readonly #parts: CopyParts;
  /** Files that were compared whole in this version, by how much of them is here. */
  readonly #verified = new Map<string, number>();
  #version = Number.NaN;

  constructor(parts: CopyParts) {
    this.#parts = parts;
  }

  /** Brings the folder up to what the store has. A store that has nothing, as after a loss of memory, leaves it as it is. */
  async follow(): Promise<void> {
    const { disk, store } = this.#parts;
    const { version, bytes } = await store.files();
    if (version !== this.#version) this.#verified.clear();
    const own = new Set((await disk.list()).filter(isSegment));
    const copied = [...bytes.keys()].filter(isSegment).sort();
    if (copied.length === 0) return;
    let isAhead = false;
    for (const name of copied) {
      const here = this.#verified.get(name);
      isAhead = here === bytes.get(name) || (await this.#take(name, own.has(name), here));
    }
    const [first = "", last = ""] = [copied[0], copied.at(-1)];
    for (const name of own) {
      // Segments before the first one of the copy are not needed any more.
      if (name < first) await disk.remove(name);
      // Begun by this process when it led, and by nobody else since, or given up by who led after it.
      else if (name > last && !isAhead) await this.#setAside(name);
    }
    this.#version = version;
  }

  /** True where the folder has all of it, and perhaps more. */
  async #take(name: string, isHere: boolean, verified: number | undefined): Promise<boolean> {
    const { disk, store } = this.#parts;
    const fresh = await store.read(name, verified ?? 0);
    if (verified !== undefined) {
      await appendTo(disk, name, fresh);
      this.#verified.set(name, verified + fresh.length);
      return false;
    }
    const own = isHere ? await disk.read(name) : undefined;
    if (own !== undefined && isPrefix(fresh, own)) {
      // It may know more than the store, which then must not be appended to it.
      if (own.length === fresh.length) this.#verified.set(name, own.length);
      return true;
    }
    if (own !== undefined && isPrefix(own, fresh)) await appendTo(disk, name, fresh.subarray(own.length));
    else {
      if (own !== undefined) await this.#setAside(name);
      await disk.create(name, fresh);
    }
    this.#verified.set(name, fresh.length);
    return false;
  }

  async #setAside(name: string): Promise<void> {
    const { disk } = this.#parts;
    const names = await disk.list();
    let count = 1;
    while (names.includes(`${name}.${count}.apart`)) count++;
    await disk.rename(name, `${name}.${count}.apart`);
  }
}

/** The folder of a leader: every change goes to the store as well. */
export class CopiedDisk implements Disk {
  readonly name: string;
  readonly #disk: Disk;
  readonly #store: JournalCopyStore;
  readonly #epoch: number;
  /** How much of each file the store has confirmed. */
  readonly #confirmed = new Map<string, number>();
  /** Changes of the store's copy, one after another. */
  #queue: Promise<void> = Promise.resolve();
  /** The store lacks something, and gets whole files next. At first nobody knows what it has. */
  #behind = true;

  constructor({ disk, store, epoch }: CopyParts & { readonly epoch: number }) {
    this.name = disk.name;
    this.#disk = disk;
    this.#store = store;
    this.#epoch = epoch;
  }

  /** Whether the store lacks something that the folder has. */
  get isBehind(): boolean {
    return this.#behind;
  }

  /** Makes up for what the store lacks. Rejects when another process leads. */
  catchUp(): Promise<void> {
    return this.#inTurn(() => this.#catchUp());
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

  /** The folder is this process's already; who leads is settled by the lease. */
  async lock(): Promise<() => Promise<void>> {
    return async () => undefined;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    const mine = this.#queue.then(work);
    this.#queue = mine.catch(() => undefined);
    return mine;
  }

  async #append(name: string, at: number, bytes: Uint8Array): Promise<void> {
    // While the store does not answer nothing waits for it.
    if (this.#behind) return;
    const known = this.#confirmed.get(name) ?? 0;
    if (at + bytes.length <= known) return;
    const copied = await this.#answered(() => this.#store.append(this.#epoch, name, at, bytes));
    if (copied === "copied") this.#confirmed.set(name, at + bytes.length);
    else if (copied === "gap") await this.#catchUp(true);
  }

  async #replace(name: string, bytes: Uint8Array): Promise<void> {
    if (!this.#behind) await this.#put(name, bytes);
  }

  async #remove(name: string): Promise<void> {
    if (this.#behind) return;
    this.#confirmed.delete(name);
    await this.#answered(() => this.#store.remove(this.#epoch, name));
  }

  /** All files, and no others. */
  async #catchUp(isLost = false): Promise<void> {
    if (!this.#behind && !isLost) return;
    this.#behind = false;
    const own = (await this.#disk.list()).filter(isSegment);
    const there = await this.#answered(async () => [...(await this.#store.files()).bytes.keys()]);
    for (const name of there ?? []) if (!own.includes(name) && !this.#behind) await this.#remove(name);
    for (const name of own) if (!this.#behind) await this.#put(name, await this.#disk.read(name));
  }

  async #put(name: string, bytes: Uint8Array): Promise<void> {
    const copied = await this.#answered(() => this.#store.replace(this.#epoch, name, bytes));
    if (copied === "copied") this.#confirmed.set(name, bytes.length);
    else this.#behind = true;
  }

  /** What the store answers; undefined where it does not, and then it is behind. */
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
